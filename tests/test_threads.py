"""How threads are told to wait, and whose word stands."""

import subprocess
import sys

import pytest

from parlai_q2 import threads
from parlai_q2.threads import BRIEF, SPIN_COUNT, cores, usable_cores


@pytest.mark.parametrize('given, kept', [({}, BRIEF), ({SPIN_COUNT: 'mine'}, 'mine')])
def test_the_command_sets_it_before_torch_is_imported(given, kept):
    code = (
        'import os, sys; from parlai_q2 import __main__ as m;'
        'm.run = lambda _: print(os.environ["GOMP_SPINCOUNT"], "torch" in sys.modules);'
        'm.main()'
    )
    environment = {'PATH': '/usr/bin', **given}
    done = subprocess.run(
        [sys.executable, '-c', code], env=environment, capture_output=True, text=True
    )
    assert done.stdout.split() == [kept, 'False'], done.stderr


def test_a_containers_quota_bounds_the_cores(monkeypatch, tmp_path):
    quota = tmp_path / 'cpu.max'
    monkeypatch.setattr(threads, 'CPU_QUOTA', quota)
    free = usable_cores()  # there is no such file
    quota.write_text('max 100000\n')
    assert usable_cores() == free
    quota.write_text('100000 100000\n')
    assert usable_cores() == 1
    quota.write_text('50000 100000\n')  # half a core is one thread
    assert usable_cores() == 1


@pytest.mark.parametrize(
    'said, expected', [('3', 3), ('3,1', 3), ('0', None), ('x', None)]
)
def test_openmps_variable_says_how_many_cores_are_computed_on(
    monkeypatch, said, expected
):
    monkeypatch.setenv('OMP_NUM_THREADS', said)
    assert cores() == (usable_cores() if expected is None else expected)
