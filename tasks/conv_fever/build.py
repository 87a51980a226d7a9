"""
Builds Conv-FEVER from Wizard of Wikipedia, whose files ParlAI downloads.

Each fold that is asked for becomes a JSON lines file in ``<datapath>/conv_fever``, with
a record beside it: version, seed, spaCy pipeline and counts. Without a network, place
Wizard of Wikipedia's files by hand in ``<datapath>/wizard_of_wikipedia``. Or place a
fold that was built elsewhere, with its record, in ``<datapath>/conv_fever``.
"""

import json
from pathlib import Path
from typing import Any, Mapping

import parlai.utils.logging as logging
from parlai.core.opt import Opt
from parlai.tasks.wizard_of_wikipedia.build import build as build_wow

from parlai_q2.errors import InputError, RecordError, TaskDataError
from parlai_q2.io.files import locked
from parlai_q2.io.write import meta_of
from parlai_q2.tasks.conv_fever.fold import build_fold
from parlai_q2.tasks.conv_fever.reader import (
    ENTITY_SWAP,
    NEGATION,
    NONE,
    RANDOM_PAIRING,
)
from parlai_q2.tasks.conv_fever.wow import TRAIN

VERSION = '1.2'
SEED = 2021
# Another process may be downloading and building: minutes, or more on a busy machine.
PATIENCE_SECONDS = 3600.0
# The paper's counts (Santhanam et al. 2021, the table of Conv-FEVER's sizes), compared
# with those of the published training file, which has this many conversations.
PAPER = {NONE: 68_957, RANDOM_PAIRING: 137_914, NEGATION: 107_845, ENTITY_SWAP: 73_178}
PUBLISHED_CONVERSATIONS = 18_430
# A count that differs from the paper's by more than this share is worth a warning.
TOLERANCE = 0.05


def build(opt: Opt, fold: str, seed: int = SEED) -> Path:
    """
    Make sure that a fold is built.

    :param opt: ParlAI options; ``datapath`` is read.
    :param fold: one of :data:`~parlai_q2.tasks.conv_fever.wow.FOLDS`.
    :param seed: decides what is drawn. A fold with another seed is built anew.
    :return: the fold's file.
    :raises TaskDataError: when Wizard of Wikipedia cannot be fetched or is broken, or
        the folder cannot be written.
    """
    folder = Path(opt['datapath']) / 'conv_fever'
    outfile, wow = folder / f'{fold}.jsonl', wow_file(opt, fold)
    if is_built(outfile, seed, wow):
        return outfile
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Other processes may want the same fold, for instance in one evaluation.
        with locked(folder, PATIENCE_SECONDS, needed=False):
            if not is_built(outfile, seed, wow):
                _build(opt, outfile, seed, wow)
    except OSError as e:
        raise TaskDataError(f'Cannot write {outfile}: {e.strerror}.') from e
    return outfile


def _build(opt: Opt, outfile: Path, seed: int, wow: Path) -> None:
    source = wow if wow.is_file() else fetch_wow(opt, wow)
    recipe = {
        'version': VERSION,
        'fold': outfile.stem,
        'seed': seed,
        'source': source.name,
        'source_bytes': source.stat().st_size,
    }
    logging.info(f'Building {outfile} from {source}. This is done once.')
    try:
        record = build_fold(source, outfile, recipe)
    except RecordError as e:
        raise TaskDataError(
            f'{e}. Delete {source.parent} to have Wizard of Wikipedia downloaded again.'
        ) from e
    except InputError as e:
        raise TaskDataError(f'Cannot write {outfile}: {e.__cause__ or e}.') from e
    report(record)


def is_built(outfile: Path, seed: int, wow: Path) -> bool:
    """Whether a fold is whole, and of this version, seed and source, if that exists."""
    try:
        record = json.loads(meta_of(outfile).read_text(encoding='utf-8'))
        wanted: dict[str, Any] = {'version': VERSION, 'seed': seed}
        wanted['bytes'] = outfile.stat().st_size
    except (OSError, ValueError):
        return False
    if wow.is_file():
        wanted['source_bytes'] = wow.stat().st_size
    return all(record.get(name) == value for name, value in wanted.items())


def wow_file(opt: Opt, fold: str) -> Path:
    """The path of a fold's file in Wizard of Wikipedia."""
    return Path(opt['datapath']) / 'wizard_of_wikipedia' / f'{fold}.json'


def fetch_wow(opt: Opt, path: Path) -> Path:
    """
    Have ParlAI download Wizard of Wikipedia.

    :param path: the file that must exist afterwards.
    :raises TaskDataError: when it does not; the message says where to place it.
    """
    try:
        build_wow(opt)
    except Exception as e:
        # ParlAI passes on whatever its network library raises.
        raise TaskDataError(
            f'Could not download Wizard of Wikipedia ({e}). Without a network, fetch '
            f'it elsewhere and place {path.name} in {path.parent}. Then run the '
            'command again.'
        ) from e
    if not path.is_file():
        raise TaskDataError(
            f'Wizard of Wikipedia is marked as downloaded, but {path} is not there. '
            f'Delete {path.parent / ".built"} to have it downloaded again, or place '
            'the file there.'
        )
    return path


def report(record: Mapping[str, Any]) -> None:
    """Log a fold's counts, and how far the training fold's are from the paper's."""
    counts = record['counts']
    listed = ', '.join(f'{n:,} {name}' for name, n in counts.items())
    logging.info(
        f'Conv-FEVER {record["fold"]}: {listed} ({record["conversations"]:,} '
        f'conversations, seed {record["seed"]}, {record["entities"]}).'
    )
    if (record['fold'], record['conversations']) != (TRAIN, PUBLISHED_CONVERSATIONS):
        return
    far = {name: (counts[name] - paper) / paper for name, paper in PAPER.items()}
    beside = '; '.join(
        f'{name}: {counts[name]:,}, in the paper {paper:,} ({far[name]:+.1%})'
        for name, paper in PAPER.items()
    )
    if any(abs(share) > TOLERANCE for share in far.values()):
        logging.warning(f'Counts are not near the paper. {beside}.')
    else:
        logging.info(f'Counts are near the paper. {beside}.')
