"""Progress: a bar on a terminal, elsewhere a line of the log now and then."""

import io
import sys

import pytest

from parlai_q2.cli import log as module
from parlai_q2.cli.log import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def log_lines(monkeypatch):
    """What the log says; six seconds pass each time that something looks at a clock."""
    lines = []
    clock = iter(range(0, 10_000, 6))
    monkeypatch.setattr('parlai_q2.cli.log.info', lines.append)
    monkeypatch.setattr(module.time, 'monotonic', lambda: next(clock))
    return lines


def test_a_pipe_gets_whole_lines_and_none_twice(log_lines, capsys):
    with Progress('grounded', 1200, 'pools', start=1000) as bar:
        for _ in range(4):
            bar.update(50)
    assert log_lines[-1].startswith('grounded: 1,200 of 1,200 pools, ')
    assert len(log_lines) == len(set(log_lines))
    assert len(log_lines) > 1
    assert capsys.readouterr() == ('', '')


def test_what_is_done_is_never_more_than_all(log_lines):
    with Progress('replies', 2, 'turns') as bar:
        bar.update(4)
    assert log_lines[-1].startswith('replies: 4 of 4 turns')


def test_speed_and_time_left_are_of_the_input_since_the_first_result(monkeypatch):
    # An earlier run did 900 records, 800 of 1,000 bytes; loading takes a minute.
    lines, now = [], 0.0
    monkeypatch.setattr('parlai_q2.cli.log.info', lines.append)
    monkeypatch.setattr(module.time, 'monotonic', lambda: now)
    with Progress('toy', 1000, 'records', start=900, place=800) as progress:
        now = 60.0
        progress.update(10, 900)
        now = 65.0
        progress.update(10, 950)
    assert lines[-1] == (
        'toy: 95.0%, 920 records, 2.0 a second, 0:01:05 elapsed, 0:00:05 left'
    )


def test_a_run_that_fails_does_not_say_it_is_done(log_lines):
    with pytest.raises(ValueError, match='broken'), Progress('toy', 2, 'pools'):
        raise ValueError('broken')
    assert log_lines == []


def test_a_terminal_gets_a_bar(log_lines, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, 'stderr', terminal)
    monkeypatch.setattr(module.logger, 'isEnabledFor', lambda level: True)
    with Progress('toy', 1000, 'records', place=0) as bar:
        bar.update(20, 500)
    assert ' 50%|' in terminal.getvalue()
    assert '20 records' in terminal.getvalue()
    assert log_lines == []
