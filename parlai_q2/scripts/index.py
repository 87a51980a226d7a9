"""
``parlai_q2 index``: makes an index of documents to ground replies in, or brings one up
to date.
"""

from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from parlai_q2.cli import log
from parlai_q2.cli.log import Progress
from parlai_q2.cli.parser import given_file
from parlai_q2.errors import ConfigError
from parlai_q2.options import OptionParser, Options
from parlai_q2.retrieve.build import build, find_documents
from parlai_q2.retrieve.index import LEFT_OUT, Index, IndexSettings, Manifest
from parlai_q2.retrieve.readers import ENDINGS
from parlai_q2.retrieve.search import SEARCHES, load_search
from parlai_q2.retrieve.split import DEFAULT_OVERLAP, DEFAULT_WORDS
from parlai_q2.retrieve.words import DEFAULT_LANGUAGE, LANGUAGES

MAX_ENDINGS = 5


def add_options(parser: OptionParser) -> None:
    parser.add_argument(
        'paths',
        nargs='*',
        help='documents, folders, or patterns in quotes. These endings are read: '
        + ', '.join(sorted(ENDINGS)),
    )
    parser.add_argument('--outdir', help='the folder of the index')
    parser.add_argument(
        '--verify',
        type='bool',
        default=False,
        help='check the checksums of an index, and write nothing',
    )
    group = parser.add_argument_group('Search')
    group.add_argument(
        '--search',
        choices=tuple(SEARCHES),
        default='bm25',
        help='bm25: search by words; fused: by words and the vectors of an '
        'encoder; knn: the one sentence nearest to the mean of the turns; '
        "dpr: the one passage that DPR's encoders find for the last turn",
    )
    group.add_argument(
        '--encoder',
        help='a sentence encoder to search by vectors too: mini (ships), a '
        'folder, or a hub name',
    )
    group.add_argument(
        '--query-encoder', help='the encoder of queries, if it is another, as in DPR'
    )
    group = parser.add_argument_group('Passages')
    group.add_argument(
        '--passage-words',
        type=int,
        default=DEFAULT_WORDS,
        help='the most words in a passage',
    )
    group.add_argument(
        '--passage-overlap',
        type=int,
        default=DEFAULT_OVERLAP,
        help='the most words that a passage repeats from the one before it',
    )
    group.add_argument(
        '--language',
        choices=LANGUAGES,
        default=DEFAULT_LANGUAGE,
        help='the language of the stemmer',
    )


def run(opt: Options) -> Manifest:
    """Make the index that options ask for, and show what changed."""
    if opt['verify']:
        return _verify(given_file(opt, 'outdir', 'INDEX'))
    if not opt['paths']:
        raise ConfigError(
            'No documents are named. Give files or folders: parlai_q2 index docs/ '
            '--outdir INDEX'
        )
    index = given_file(opt, 'outdir', 'INDEX')
    search, sentences = load_search(
        opt['search'], encoder=opt['encoder'], query_encoder=opt['query_encoder']
    )
    settings = IndexSettings(
        words=opt['passage_words'],
        overlap=opt['passage_overlap'],
        language=opt['language'],
        sentences=sentences,
        search=search,
    )
    documents = find_documents(opt['paths'])
    for link in documents.links:
        log.warning(f'{link} leads out of its folder. Left out.')
    if left_out := documents.of_other_kinds:
        endings = Counter(path.suffix.lower() or 'no ending' for path in left_out)
        counts = [f'{n} {ending}' for ending, n in endings.most_common(MAX_ENDINGS)]
        log.info(
            f'{len(left_out)} files of other kinds were left out: {", ".join(counts)}.'
        )
    with ExitStack() as bars:
        read = bars.enter_context(Progress('index', len(documents.files), 'documents'))
        encode: Progress | None = None

        def report_vectors(count: int, total: int) -> None:
            nonlocal encode
            if encode is None:
                encode = bars.enter_context(Progress('encode', total, 'passages'))
            encode.update(count - encode.n)

        manifest, changes = build(
            opt['paths'],
            index,
            settings,
            documents=documents,
            report_document=lambda name: read.update(1),
            report_vectors=report_vectors,
        )
    refused = log.Problems('Left out')
    for problem in changes.refused:
        refused.add(problem)
    log.info(
        f'{index}: passages: {manifest.passages:,}, documents: {manifest.documents:,} '
        f'({len(changes.added)} added, {len(changes.changed)} changed, '
        f'{len(changes.removed)} removed, {changes.unchanged} unchanged, '
        f'{len(changes.refused)} left out).'
    )
    if (index / LEFT_OUT).exists():
        log.info(f'All files that were left out, with the reasons: {index / LEFT_OUT}')
    return manifest


def _verify(folder: Path) -> Manifest:
    manifest = Index(folder, verify=True).manifest
    log.info(
        f'{folder}: passages: {manifest.passages:,}, documents: '
        f'{manifest.documents:,}, as they were written. Searched by '
        f'{manifest.settings.search.by}.'
    )
    return manifest
