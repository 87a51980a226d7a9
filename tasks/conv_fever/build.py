"""
Builds Conv-FEVER from Wizard of Wikipedia, whose files ParlAI downloads.

Each fold that is asked for becomes a JSON lines file in ``<datapath>/conv_fever``, with
a record beside it: version, seed, spaCy pipeline and counts. Without a network, place
Wizard of Wikipedia's files by hand in ``<datapath>/wizard_of_wikipedia``. Or place a
fold that was built elsewhere, with its record, in ``<datapath>/conv_fever``.
"""

import json
from pathlib import Path
from typing import Any, Mapping, Optional

import parlai.utils.logging as logging
from parlai.core.opt import Opt
from parlai.tasks.wizard_of_wikipedia.build import build as build_wow

from parlai_q2.errors import InputError, RecordError, TaskDataError
from parlai_q2.io.files import locked
from parlai_q2.io.write import meta_of
from parlai_q2.tasks.conv_fever.counts import (
    PUBLISHED_CONVERSATIONS,
    beside_the_paper,
    far_from_the_paper,
)
from parlai_q2.tasks.conv_fever.fold import build_fold
from parlai_q2.tasks.conv_fever.wow import TRAIN

VERSION = '1.2'
SEED = 2021
# Another process may be downloading and building: minutes, or more on a busy machine.
PATIENCE_SECONDS = 3600.0


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
            if not is_built(outfile, seed, wow, tell=True):
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


def is_built(
    outfile: Path, seed: int, wow: Optional[Path] = None, tell: bool = False
) -> bool:
    """
    Whether a fold is complete, and of this version, seed and source.

    :param wow: Wizard of Wikipedia's file, compared if it exists.
    :param tell: whether to warn when the fold is damaged.
    """
    try:
        path = meta_of(outfile)
        record = json.loads(path.read_text(encoding='utf-8'))
    except (OSError, ValueError):
        return False
    wanted: dict[str, Any] = {'version': VERSION, 'seed': seed}
    if wow is not None and wow.is_file():
        wanted['source_bytes'] = wow.stat().st_size
    same = all(record.get(name) == value for name, value in wanted.items())
    return same and outfile.is_file() and is_whole(outfile, record, tell)


def is_whole(outfile: Path, record: Mapping[str, Any], tell: bool) -> bool:
    """
    Whether a fold has the size that its record gives.

    :param tell: whether to warn when it does not.
    """
    wanted, found = record.get('bytes', 0), outfile.stat().st_size
    if tell and found != wanted:
        logging.warning(
            f'{outfile} is damaged: it has {found:,} bytes, but its record says '
            f'{wanted:,}. Building it again.'
        )
    return found == wanted


def wow_file(opt: Opt, fold: str) -> Path:
    """
    The path of a fold's file in Wizard of Wikipedia, whether or not it exists yet.
    """
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
    lines = '; '.join(beside_the_paper(counts))
    far = far_from_the_paper(counts)
    if far:
        logging.warning(f'Counts of {", ".join(far)} are not near the paper. {lines}.')
    else:
        logging.info(f'Counts are near the paper. {lines}.')
