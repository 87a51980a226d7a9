"""How threads are told to wait, and whose word stands."""

import subprocess
import sys

import pytest

from parlai_q2.threads import BRIEF, SPIN_COUNT


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
