"""Time left, from the bytes of the input and a clock that is set by hand."""

import io

from parlai_q2.scale.progress import Progress


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


class Terminal(io.StringIO):
    def isatty(self):
        return True


def progress(every=10.0, **options):
    clock, lines = Clock(), []
    made = Progress('toy', 1000, lines.append, every, clock=clock, **options)
    return made, clock, lines


def test_a_line_now_and_then_where_there_is_no_terminal():
    made, clock, lines = progress(stream=io.StringIO())
    for read in (100, 200, 300):
        clock.now += 6
        made.update(20, read)
    # Lines come 10 seconds apart: at 12 s, not at 6 and 18. Speed is that since the
    # first result: 20 records and 100 bytes in 6 s, so 800 bytes take 48 s.
    assert lines == [
        'toy: 20.0%, 40 records, 3.3 a second, 0:00:12 elapsed, 0:00:48 left'
    ]


def test_what_an_earlier_run_did_does_not_count_for_the_speed():
    made, clock, lines = progress(every=1, stream=io.StringIO())
    made.resume(900, 800)
    for read in (900, 950):
        clock.now += 5
        made.update(10, read)
    assert lines[-1] == (
        'toy: 95.0%, 920 records, 2.0 a second, 0:00:10 elapsed, 0:00:05 left'
    )


def test_a_bar_on_a_terminal():
    terminal = Terminal()
    made, clock, lines = progress(stream=terminal)
    for read in (400, 500):
        clock.now += 30
        made.update(10, read)
    made.close()
    shown = terminal.getvalue()
    assert ' 50%|' in shown and '20 records' in shown and '0:02:30 left' in shown
    assert lines == []
