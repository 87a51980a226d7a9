"""Where a file is cut into chunks, which are worked on side by side."""

import threading

import pytest

from parlai_q2.io.read import Record
from parlai_q2.runs.file_run import (
    LEAST_AHEAD,
    MAX_DEPTH,
    Loaded,
    LocalEngine,
    cut_chunks,
)


def records(*lengths):
    return [Record(n, {'response': 'x' * length}) for n, length in enumerate(lengths)]


@pytest.mark.parametrize(
    'lengths, chunks',
    [
        # Five records make a chunk, or texts of a hundred characters.
        ([1] * 7, [[1] * 5, [1, 1]]),
        ([60, 40, 300, 10, 10], [[60, 40], [300], [10, 10]]),
        ([], []),
    ],
)
def test_a_chunk_ends_by_its_records_or_by_their_length(lengths, chunks):
    found = cut_chunks(iter(records(*lengths)), 5, 100)
    assert [[len(r.fields['response']) for r in chunk] for chunk in found] == chunks


@pytest.mark.parametrize('depth', [1, MAX_DEPTH, MAX_DEPTH + 1])
def test_rejects_records_nested_too_deep(depth):
    value = []
    for _ in range(depth - 1):
        value = [value]
    ((record,),) = cut_chunks(iter([Record(1, {'tree': value})]))
    assert (record.error is not None) == (depth > MAX_DEPTH)


class Work:
    """A job whose function is given."""

    def __init__(self, process, is_thread_safe=True):
        self.process, self.is_thread_safe = process, is_thread_safe

    def load(self, device=None):
        return Loaded('toy', self.process, self.is_thread_safe)


def chunks(count, size=LEAST_AHEAD):
    return ((n, [n] * size) for n in range(count))


def test_two_chunks_are_under_way_and_come_back_in_order():
    first_waits = threading.Event()

    def process(items):
        if items[0] == 0:
            assert first_waits.wait(30)
        elif items[0] == 1:
            first_waits.set()
        return items

    results = LocalEngine(Work(process)).run(chunks(5))
    assert list(results) == list(chunks(5))


@pytest.mark.parametrize('size, is_safe', [(LEAST_AHEAD - 1, True), (99, False)])
def test_does_not_read_ahead_for_small_chunks_or_without_threads(size, is_safe):
    read = []

    def reading():
        for n, items in chunks(3, size):
            read.append(n)
            yield n, items

    engine = LocalEngine(Work(lambda items: items, is_safe))
    for n, results in engine.run(reading()):
        assert results == [n] * size
        assert read[-1] == n


def test_results_before_an_error_are_returned():
    def process(items):
        return [1 // (2 - items[0])]

    results = LocalEngine(Work(process)).run(chunks(5))
    assert [next(results), next(results)] == [(0, [0]), (1, [1])]
    with pytest.raises(ZeroDivisionError):
        next(results)
