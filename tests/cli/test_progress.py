"""Progress: a bar on a terminal, elsewhere a line of the log now and then."""

import io
import sys

import pytest

from parlai_q2.cli import log as module
from parlai_q2.cli.log import InputProgress, Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def log_lines(monkeypatch):
    """What the log says, at each step."""
    lines = []
    monkeypatch.setattr(module, 'info', lines.append)
    monkeypatch.setattr(module, 'EVERY', 1e-6)
    return lines


def test_a_pipe_gets_whole_lines(log_lines, capsys):
    with Progress('grounded', 1200, 'pools', start=1000) as bar:
        for _ in range(4):
            bar.update(50)
    assert log_lines[0].startswith('grounded: 1050/1200 pools [')
    assert log_lines[-1].startswith('grounded: 1200/1200 pools [')
    assert len(log_lines) == 4
    assert capsys.readouterr() == ('', '')


def test_a_short_run_says_nothing(log_lines, monkeypatch):
    monkeypatch.setattr(module, 'EVERY', 10)
    with Progress('replies', 2, 'turns') as bar:
        bar.update(4)
    assert log_lines == []


def test_an_input_is_measured_in_bytes_and_its_records_are_counted(log_lines):
    with InputProgress('toy', 1000, 'records') as progress:
        progress.read(910, 900)
        progress.read(10, 950)
    assert log_lines[-1].startswith('toy: 950/1.00kB [')
    assert log_lines[-1].endswith(', 920 records]')


def test_a_terminal_gets_a_bar(log_lines, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, 'stderr', terminal)
    monkeypatch.setattr(module.logger, 'isEnabledFor', lambda level: True)
    with InputProgress('toy', 1000, 'records') as bar:
        bar.read(20, 500)
    assert ' 50%|' in terminal.getvalue()
    assert '20 records' in terminal.getvalue()
    assert log_lines == []
