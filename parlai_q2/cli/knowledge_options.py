"""The options for knowledge that is not in the fields of messages."""

import re
from importlib import import_module
from pathlib import Path

from parlai_q2.errors import ConfigError
from parlai_q2.io.knowledge import KnowledgeSource
from parlai_q2.options import OptionGroup, Options
from parlai_q2.retrieve.answers import AnswerReader
from parlai_q2.retrieve.grounding import Grounder
from parlai_q2.retrieve.index import Index, in_memory, read_passages
from parlai_q2.retrieve.retriever import Retriever
from parlai_q2.retrieve.search import DEFAULT_PASSAGES, SearchBy

# A file with more passages must be indexed: each start would compute its vectors again,
# in about 3 ms each.
MOST_OF_FILE = 5000
_CLASS = re.compile(r'[A-Za-z_][\w.]*:[A-Za-z_]\w*')


def add_knowledge_options(group: OptionGroup) -> None:
    group.add_argument(
        '--knowledge-delimiter',
        help='what separates the passage from the message in a text, such as '
        '"\\n". The passage stays until the episode ends or another one comes',
    )
    group.add_argument(
        '--knowledge-file',
        help='a text file with the knowledge for turns that have none. If it '
        'has several passages, such as a FAQ, those that fit the turn are '
        'used',
    )


def add_index_options(group: OptionGroup) -> None:
    group.add_argument(
        '--knowledge-index',
        help='an index of documents (parlai_q2 index) or your own retriever '
        '(module:Class), instead of the knowledge in messages',
    )
    group.add_argument(
        '--knowledge-passages',
        type=int,
        help='how many passages to use; default: the setting of the index, or '
        f'{DEFAULT_PASSAGES} of a file',
    )
    group.add_argument(
        '--knowledge-search',
        choices=tuple(SearchBy),
        help='search by words, by the vectors of an encoder (dense), or by '
        'both (fused); default: the setting of the index',
    )
    group.add_argument(
        '--knowledge-answers',
        type='bool',
        default=True,
        help='keep only passages that answer the question, and reply '
        '--abstain-text if none does',
    )


def grounder_from_opt(opt: Options) -> Grounder | None:
    """What finds passages where options name them; None if they name nothing."""
    folder = opt.get('knowledge_index')
    if not folder:
        return None
    if _CLASS.fullmatch(folder) and not Path(folder).exists():
        return Grounder(_own_retriever(folder), _reader(opt), _most_passages(opt))
    passages = opt.get('knowledge_passages')
    index = Index(folder, by=opt.get('knowledge_search'), passages=passages)
    return Grounder(index, _reader(opt), index.how.passages, index.how.query)


def _reader(opt: Options) -> AnswerReader | None:
    return AnswerReader() if opt.get('knowledge_answers', True) else None


def _most_passages(opt: Options) -> int:
    """The value of ``--knowledge-passages``; an index has a default of its own."""
    count = opt.get('knowledge_passages')
    if count is not None and count < 1:
        raise ConfigError(f'--knowledge-passages must be at least 1, not {count}.')
    return DEFAULT_PASSAGES if count is None else count


def _file_grounder(opt: Options) -> Grounder | None:
    """What finds passages in ``--knowledge-file``; None if it is one passage."""
    passages = read_passages(Path(opt['knowledge_file']).expanduser())
    if len(passages) < 2:
        return None
    if len(passages) > MOST_OF_FILE:
        raise ConfigError(
            f'--knowledge-file {opt["knowledge_file"]} has {len(passages):,} passages, '
            f'more than {MOST_OF_FILE:,}. Make an index of it: parlai_q2 index '
            f'{opt["knowledge_file"]} --outdir INDEX'
        )
    k = _most_passages(opt)
    words, fused = in_memory(passages)
    return Grounder(words, _reader(opt), k, question_retriever=fused)


def _own_retriever(name: str) -> Retriever:
    module, _, attribute = name.partition(':')
    try:
        retriever = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as e:
        raise ConfigError(
            f'--knowledge-index {name}: {e}. Name a class as module:Class; its folder '
            'must be in PYTHONPATH.'
        ) from e
    if not hasattr(retriever, 'search'):
        raise ConfigError(f'--knowledge-index {name}: it has no method search().')
    instance: Retriever = retriever()
    return instance


def source_from_opt(opt: Options) -> KnowledgeSource:
    """The knowledge source that options describe, for measuring."""
    return KnowledgeSource(opt.get('knowledge_delimiter'), opt.get('knowledge_file'))


def searching_source(opt: Options) -> KnowledgeSource:
    """
    The knowledge source that options describe, for replying: an index or a file of
    several passages is searched.
    """
    source = source_from_opt(opt)
    source.grounder = grounder_from_opt(opt)
    if opt.get('knowledge_file') and source.grounder is None:
        source.file_grounder = _file_grounder(opt)
    return source
