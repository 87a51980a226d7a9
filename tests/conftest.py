"""
What every test starts from: no network, a home and a data folder of its own, and data
beside the checkout only where a test asks for it.
"""

import gc
import importlib.util
import os
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.skipped import (  # noqa: F401
    pytest_addoption,
    pytest_make_collect_report,
    pytest_runtest_makereport,
    pytest_sessionfinish,
    pytest_terminal_summary,
)
from tests.wordnet_files import write_wordnet

# Read by huggingface_hub and tokenizers when they are imported.
os.environ['HF_HUB_OFFLINE'] = '1'
os.environ['TOKENIZERS_PARALLELISM'] = 'false'
if 'PYTEST_XDIST_WORKER' in os.environ:
    # Read by torch when it is imported: workers share the cores, and more threads than
    # cores wait for one another.
    os.environ.setdefault('OMP_NUM_THREADS', '1')
else:
    # Dozens of processes are started: what is compiled once is read by the others.
    os.environ.pop('PYTHONDONTWRITEBYTECODE', None)
    sys.dont_write_bytecode = False
    # A home of the run's own, which its workers and commands inherit: no settings or
    # caches of the user's take part, and a user may have no home that can be written.
    HOME = tempfile.TemporaryDirectory(prefix='home.', ignore_cleanup_errors=True)
    os.environ['HOME'] = HOME.name
    # Where NLTK looks: a machine may have no WordNet.
    write_wordnet(Path(HOME.name) / 'nltk_data')
    for name in ('XDG_CACHE_HOME', 'XDG_CONFIG_HOME', 'HF_HOME', 'MPLCONFIGDIR'):
        os.environ.pop(name, None)
    # torch asks for the user's name, and the user of a container may have none.
    os.environ.setdefault('USER', 'tester')
    # What tests and killed commands leave is deleted with it. pytest's own folders stay
    # where they are looked for after a failure.
    os.environ.setdefault('PYTEST_DEBUG_TEMPROOT', tempfile.gettempdir())
    os.environ['TMPDIR'] = tempfile.tempdir = os.path.join(HOME.name, 'tmp')
    os.mkdir(tempfile.tempdir)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # As a shell starts what runs in the background, and so would the commands that are
    # stopped by Ctrl-C here.
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / 'shared'


def pytest_collection_modifyitems(config, items):
    if hasattr(config, 'workerinput'):
        # The longest files first: at the end no worker waits long for another.
        slow = Counter(i.path for i in items if i.get_closest_marker('slow'))
        items.sort(key=lambda item: -slow[item.path])
    for item in items:
        marker = item.get_closest_marker('real_data')
        needed = SHARED.joinpath(*marker.args) if marker else ROOT
        if not needed.exists():
            item.add_marker(pytest.mark.skip(reason=f'there is no {needed}'))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """
    Run all tests of a file in one worker, also with -n alone: the code of a page of the
    docs builds on what stands above it.
    """
    if config.getvalue('dist') != 'load':
        return None
    from xdist.scheduler import LoadFileScheduling

    return LoadFileScheduling(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    # What it imports stays, and looking for garbage there takes seconds.
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.fixture(scope='session')
def shared() -> Path:
    """The folder of data beside the checkout, for tests marked ``real_data``."""
    return SHARED


@pytest.fixture(scope='session')
def parlai_data(tmp_path_factory) -> Path:
    """The data folder of this run's ParlAI tasks."""
    return tmp_path_factory.mktemp('parlai_data')


@pytest.fixture(autouse=True)
def own_parlai_data(monkeypatch, parlai_data):
    """Nothing is written beside the installed ParlAI."""
    # ParlAI keeps a --datapath that was given once in the environment of the process.
    monkeypatch.setenv('PARLAI_DATAPATH', str(parlai_data))


@pytest.fixture(scope='session')
def caches(tmp_path_factory) -> Iterator[Path]:
    """Folders for caches, which are made when there is something to keep."""
    folder = tmp_path_factory.mktemp('caches')
    return (folder / str(number) for number in count())


@pytest.fixture(autouse=True)
def own_score_cache(monkeypatch, caches):
    """No score comes from the user's cache, and none goes there."""
    monkeypatch.setenv('PARLAI_Q2_CACHE', str(next(caches) / 'scores.sqlite'))


@pytest.fixture
def without_package(monkeypatch) -> Callable[[str], None]:
    """Makes an installed package, by the name it is imported by, one that is not."""

    def without(missing: str) -> None:
        find = importlib.util.find_spec
        monkeypatch.setattr(
            importlib.util,
            'find_spec',
            lambda name, *rest: None if name == missing else find(name, *rest),
        )

    return without
