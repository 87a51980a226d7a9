"""How threads are told to wait, and whose word stands."""

import subprocess
import sys

import pytest

from parlai_q2.threads import BRIEF, SAID, spin_briefly


@pytest.mark.parametrize('name', SAID)
def test_what_the_user_has_set_stands(name):
    environment = {name: 'mine'}
    assert not spin_briefly(environment, {})
    assert environment == {name: 'mine'}


def test_the_command_sets_it_before_torch_is_imported():
    code = (
        'import os, sys; from parlai_q2 import __main__ as m;'
        'm.run = lambda _: print(os.environ["GOMP_SPINCOUNT"], "torch" in sys.modules);'
        'm.main()'
    )
    environment = {'PATH': '/usr/bin'}
    done = subprocess.run(
        [sys.executable, '-c', code], env=environment, capture_output=True, text=True
    )
    assert done.stdout.split() == [BRIEF, 'False'], done.stderr
