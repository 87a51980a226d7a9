"""Where a file is cut into chunks."""

import pytest

from parlai_q2.io.read import FileRecord
from parlai_q2.runs.job import MAX_DEPTH, cut_chunks


def records(*lengths):
    return [
        FileRecord(n, {'response': 'x' * length}) for n, length in enumerate(lengths)
    ]


def lengths_of(chunks):
    return [[len(r.fields['response']) for r in chunk.items] for chunk in chunks]


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
    assert lengths_of(cut_chunks(iter(records(*lengths)), 5, 100)) == chunks


def test_the_knowledge_of_a_pool_counts_once_for_each_candidate():
    pool = FileRecord(1, {'knowledge': 'x' * 30, 'candidates': ['y'] * 4})
    assert [len(chunk.items) for chunk in cut_chunks(iter([pool] * 3), 9, 200)] == [
        2,
        1,
    ]


def test_records_are_read_only_when_they_are_needed():
    taken = []

    def source():
        for record in records(*[1] * 100):
            taken.append(record)
            yield record

    next(cut_chunks(source(), 3))
    assert len(taken) == 3


@pytest.mark.parametrize('depth', [1, MAX_DEPTH, MAX_DEPTH + 1])
def test_what_is_nested_too_deep_is_an_error(depth):
    value = []
    for _ in range(depth - 1):
        value = [value]
    (chunk,) = cut_chunks(iter([FileRecord(1, {'tree': value})]))
    assert (chunk.items[0].error is not None) == (depth > MAX_DEPTH)
