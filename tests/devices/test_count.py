"""The command that counts what a scorer asks of a GPU."""

import re

import pytest

from parlai_q2.scorers.backends import forget_backends
from tests.devices import count


@pytest.mark.slow
def test_it_prints_calls_and_waits(monkeypatch, capsys):
    arguments = '--scorer consistency --responses 3'
    monkeypatch.setattr('sys.argv', ['count', *arguments.split()])
    count.main()
    forget_backends()
    said = r'consistency: (\d+) calls and (\d\.\d) waits a response\n'
    calls, waits = re.fullmatch(said, capsys.readouterr().out).groups()
    # Twelve layers, in one batch or a few of near lengths.
    assert 12 <= int(calls) <= 600 and float(waits) <= 1
