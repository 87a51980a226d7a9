"""The options for knowledge that messages do not bring in their fields."""

from collections.abc import Mapping
from typing import Any, Optional

from parlai_q2.io.turn_knowledge import KnowledgeSource
from parlai_q2.retrieve.answers import AnswerReader
from parlai_q2.retrieve.grounding import Grounder
from parlai_q2.retrieve.index import Index
from parlai_q2.retrieve.presets import SEARCHES


def add_knowledge_options(group: Any) -> None:
    """Add ``--knowledge-delimiter`` and ``--knowledge-file``."""
    group.add_argument(
        '--knowledge-delimiter',
        type=str,
        default=None,
        help='separator between a knowledge passage and the message in a text, e.g. '
        '"\\n"; the passage applies until its episode brings another or ends',
    )
    group.add_argument(
        '--knowledge-file',
        type=str,
        default=None,
        help='a text file: the knowledge for turns that bring none',
    )


def add_index_options(group: Any) -> None:
    """Add ``--knowledge-index`` and what goes with it."""
    group.add_argument(
        '--knowledge-index',
        type=str,
        default=None,
        help='an index of documents (parlai_q2 index): what it finds for a turn takes '
        'the place of the knowledge that messages bring',
    )
    group.add_argument(
        '--knowledge-passages',
        type=int,
        default=None,
        help='how many passages are looked for; by default as the index was made for',
    )
    group.add_argument(
        '--knowledge-search',
        type=str,
        choices=SEARCHES,
        default=None,
        help='by words, by the vectors of an encoder (dense), or by both (fused); by '
        'default as the index was made for',
    )
    group.add_argument(
        '--knowledge-answers',
        type='bool',
        default=True,
        help='of what is found for a question, keep the passages that answer it, and '
        'say --abstain-text where none does',
    )


def index_from_opt(opt: Mapping[str, Any]) -> Optional[Grounder]:
    """
    The index that options name, ready to be searched; None if they name none.

    :raises InputError: when it cannot be opened.
    """
    folder = opt.get('knowledge_index')
    if not folder:
        return None
    reader = AnswerReader() if opt.get('knowledge_answers', True) else None
    index = Index(
        folder, by=opt.get('knowledge_search'), passages=opt.get('knowledge_passages')
    )
    return Grounder(index, reader, index.how.passages, index.how.query)


def source_from_opt(
    opt: Mapping[str, Any], index: Optional[Grounder] = None
) -> KnowledgeSource:
    """
    Where the options say that knowledge comes from.

    :param index: documents that are searched, of those who reply.
    :raises ConfigError: when the file cannot be read or is empty.
    """
    delimiter, file = opt.get('knowledge_delimiter'), opt.get('knowledge_file')
    return KnowledgeSource(delimiter, file, index)
