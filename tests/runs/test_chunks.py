"""Where a file is cut into chunks."""

import pytest

from parlai_q2.io.read import Record
from parlai_q2.runs.file_run import MAX_DEPTH, cut_chunks


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
