"""
``parlai_q2 index``: makes an index of documents to ground replies in, or brings one up
to date.
"""

from collections.abc import Mapping
from typing import Any

from parlai_q2.cli import log
from parlai_q2.cli.files import given_file
from parlai_q2.cli.progress import Progress
from parlai_q2.errors import ConfigError
from parlai_q2.retrieve.build import build
from parlai_q2.retrieve.files import find_documents
from parlai_q2.retrieve.manifest import Manifest, Settings
from parlai_q2.retrieve.readers import ENDINGS
from parlai_q2.retrieve.readers.process import SECONDS
from parlai_q2.retrieve.split import DEFAULT_OVERLAP, DEFAULT_WORDS
from parlai_q2.retrieve.words import DEFAULT_LANGUAGE, LANGUAGES

MOST_ENDINGS = 5


def add_options(parser: Any) -> None:
    """Add the command's options."""
    parser.add_argument(
        'paths',
        nargs='*',
        help='documents, folders, or patterns in quotes; read are '
        + ', '.join(sorted(ENDINGS)),
    )
    parser.add_argument('--outdir', help='the folder of the index')
    group = parser.add_argument_group('Passages')
    group.add_argument(
        '--passage-words',
        type=int,
        default=DEFAULT_WORDS,
        help='the most words of a passage',
    )
    group.add_argument(
        '--passage-overlap',
        type=int,
        default=DEFAULT_OVERLAP,
        help='the most words that a passage repeats of the one before',
    )
    group.add_argument(
        '--language',
        choices=LANGUAGES,
        default=DEFAULT_LANGUAGE,
        help='the language whose words are stemmed',
    )
    group.add_argument(
        '--document-seconds',
        type=float,
        default=SECONDS,
        help='a document that takes longer to read is left out',
    )


def run(opt: Mapping[str, Any]) -> Manifest:
    """Make the index that options ask for, and tell what changed."""
    if not opt['paths']:
        raise ConfigError(
            'Which documents? Give files or folders: parlai_q2 index docs/ '
            '--outdir INDEX'
        )
    index = given_file(opt, 'outdir', 'INDEX')
    settings = Settings(opt['passage_words'], opt['passage_overlap'], opt['language'])
    found = find_documents(opt['paths'])
    for link in found.links:
        log.warning(f'{link} leads out of its folder. Left out.')
    if found.others:
        endings = found.others.most_common(MOST_ENDINGS)
        named = ', '.join(f'{count} {ending}' for ending, count in endings)
        log.info(f'{found.others.total()} files of other kinds were left out: {named}.')
    with Progress('index', len(found.files), 'documents') as bar:
        manifest, changes = build(
            opt['paths'],
            index,
            settings,
            lambda name: bar.update(1),
            found,
            opt['document_seconds'],
        )
    refused = log.Named('Left out')
    for problem in changes.refused:
        refused.add(problem)
    log.info(
        f'{index}: {manifest.passages:,} passages of {manifest.documents:,} documents '
        f'({len(changes.added)} added, {len(changes.changed)} changed, '
        f'{len(changes.removed)} removed, {changes.unchanged} unchanged, '
        f'{len(changes.refused)} left out).'
    )
    return manifest
