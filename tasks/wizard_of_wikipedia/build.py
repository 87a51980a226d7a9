"""
Has ParlAI download Wizard of Wikipedia.

ParlAI considers the files downloaded if its mark is beside them. Without a network,
place them by hand in ``<datapath>/wizard_of_wikipedia``. If all are there and complete,
the mark is set.
"""

from collections.abc import Sequence
from pathlib import Path

import parlai.utils.logging as logging
from parlai.core.build_data import built, mark_done
from parlai.core.opt import Opt
from parlai.tasks.wizard_of_wikipedia.build import build as build_wow

from parlai_q2.errors import TaskDataError
from parlai_q2.tasks.wizard_of_wikipedia.reader import FOLDS

# The version in ParlAI's mark.
VERSION = '1.0'
# The files that ParlAI's teachers read; the last one is for the F1 of rare words.
FILES = (*(f'{fold}.json' for fold in FOLDS), 'data.json')


def build(opt: Opt, needed: Sequence[str] = FILES) -> Path:
    """The folder with the needed files; a TaskDataError says what to place where."""
    folder = Path(opt['datapath']) / 'wizard_of_wikipedia'
    cut = [name for name in FILES if not is_list(folder / name)]
    try:
        if not cut and not built(str(folder), VERSION):
            logging.info(f'Using the files that were placed by hand in {folder}.')
            mark_done(str(folder), VERSION)
        build_wow(opt)
        missing = [name for name in needed if not (folder / name).is_file()]
        if missing:
            raise FileNotFoundError(
                f'it is marked as downloaded, but {missing[0]} is not there; without '
                f'{folder / ".built"}, it is downloaded again'
            )
    except Exception as e:
        # ParlAI lets all errors of its network library through.
        names = ', '.join(name for name in cut if name in needed)
        raise TaskDataError(
            f'Could not download Wizard of Wikipedia ({e}). Without a network, fetch '
            f'its files elsewhere and place them in {folder}: {names}. '
            'Then run the command again.'
        ) from e
    return folder


def is_list(path: Path) -> bool:
    """Whether a file exists and ends as a JSON list, so that it was not cut short."""
    if not path.is_file():
        return False
    with open(path, 'rb') as stream:
        stream.seek(max(0, path.stat().st_size - 64))
        return stream.read().rstrip().endswith(b']')
