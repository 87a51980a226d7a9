"""How threads are told to wait, and whose word stands."""

import platform
import sys

import pytest

from parlai_q2 import threads
from parlai_q2.cli.scorer_options import limit_from_opt
from parlai_q2.errors import ConfigError
from parlai_q2.threads import BRIEF_SPIN, SPIN_COUNT, cores, usable_cores
from tests.files import run_python


@pytest.mark.parametrize(
    'given, expected', [({}, BRIEF_SPIN), ({SPIN_COUNT: 'mine'}, 'mine')]
)
def test_the_command_sets_it_before_torch_is_imported(given, expected):
    code = (
        'import os, sys; from parlai_q2 import __main__ as m;'
        'm.run = lambda _: print(os.environ["GOMP_SPINCOUNT"], "torch" in sys.modules);'
        'm.main()'
    )
    completed = run_python(code, env={'PATH': '/usr/bin', **given})
    assert completed.stdout.split() == [expected, 'False'], completed.stderr


@pytest.fixture
def groups(monkeypatch, tmp_path):
    """A folder of control groups, and the file that names this process's own."""
    own_group = tmp_path / 'own'
    monkeypatch.setattr(threads, 'GROUPS', tmp_path / 'groups')
    monkeypatch.setattr(threads, 'OWN_GROUP', own_group)

    def write(name, text):
        path = tmp_path / 'groups' / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + '\n')

    return write, own_group


@pytest.mark.parametrize(
    'quota, expected', [('100000 100000', 1), ('50000 100000', 1), ('0 0', None)]
)
def test_a_containers_quota_bounds_the_cores(groups, quota, expected):
    write, _ = groups
    free = usable_cores()  # there is no such file
    write('cpu.max', 'max 100000')
    assert usable_cores() == free
    write('cpu.max', quota)
    assert usable_cores() == (expected or free)


def test_a_quota_of_the_own_group_or_one_above_it_counts(groups):
    write, own_group = groups
    own_group.write_text('0::/app/worker\n')
    write('app/worker/cpu.max', 'max 100000')
    free = usable_cores()
    write('app/cpu.max', '100000 100000')
    assert usable_cores() == 1 <= free


def test_limited_cores_are_those_that_are_computed_on(monkeypatch):
    for name in (threads.LIMIT, threads.TOKENIZERS_LIMIT):
        monkeypatch.setenv(name, '7')
    monkeypatch.delitem(sys.modules, 'torch', raising=False)
    threads.limit_cores(1)
    limit_from_opt({'threads': None})
    assert cores() == 1
    limit_from_opt({'threads': 3})
    assert cores() == 3
    with pytest.raises(ConfigError, match='at least 1'):
        limit_from_opt({'threads': 0})


@pytest.mark.parametrize(
    'given, expected', [({}, 'True'), ({'GLIBC_TUNABLES': ''}, 'False')]
)
@pytest.mark.skipif(platform.libc_ver()[0] != 'glibc', reason='for glibc')
def test_freed_memory_is_kept_unless_the_user_has_said_what_to_do(given, expected):
    code = 'from parlai_q2.threads import keep_freed_memory as k; print(k())'
    completed = run_python(code, env={'PATH': '/usr/bin', **given})
    assert completed.stdout.strip() == expected, completed.stderr


@pytest.mark.parametrize(
    'setting, expected', [('3', 3), ('3,1', 3), ('0', None), ('x', None)]
)
def test_openmps_variable_says_how_many_cores_are_computed_on(
    monkeypatch, setting, expected
):
    monkeypatch.setenv('OMP_NUM_THREADS', setting)
    assert cores() == (usable_cores() if expected is None else expected)
