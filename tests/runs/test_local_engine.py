"""Chunks are worked on side by side, and come back in order."""

import threading

import pytest

from parlai_q2.io.read import Record
from parlai_q2.runs.file_run import LEAST_AHEAD, Chunk, Loaded, LocalEngine


class Work:
    """A job whose function is given."""

    def __init__(self, process, is_thread_safe=True):
        self.process, self.is_thread_safe = process, is_thread_safe

    def load(self, device=None):
        return Loaded('toy', self.process, self.is_thread_safe)


def chunks(count, size=LEAST_AHEAD):
    return (
        Chunk([Record(line, {'n': n}) for line in range(size)], n) for n in range(count)
    )


def numbers(results):
    return [(chunk.end, lines) for chunk, lines in results]


def test_two_chunks_are_under_way_and_come_back_in_order():
    first_waits = threading.Event()

    def process(items):
        n = items[0].fields['n']
        if n == 0:
            assert first_waits.wait(30)
        elif n == 1:
            first_waits.set()
        return [n]

    results = LocalEngine(Work(process)).run(chunks(5))
    assert numbers(results) == [(n, [n]) for n in range(5)]


@pytest.mark.parametrize('size, is_safe', [(LEAST_AHEAD - 1, True), (99, False)])
def test_does_not_read_ahead_for_small_chunks_or_without_threads(size, is_safe):
    read = []

    def reading():
        for chunk in chunks(3, size):
            read.append(chunk.end)
            yield chunk

    engine = LocalEngine(Work(lambda items: [items[0].fields['n']], is_safe))
    for chunk, lines in engine.run(reading()):
        assert lines == [chunk.end]
        assert read[-1] == chunk.end


def test_results_before_an_error_are_returned():
    def process(items):
        return [1 // (2 - items[0].fields['n'])]

    results = LocalEngine(Work(process)).run(chunks(5))
    assert [next(results)[1], next(results)[1]] == [[0], [1]]
    with pytest.raises(ZeroDivisionError):
        next(results)
