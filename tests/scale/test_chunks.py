"""Where a file is cut."""

from parlai_q2.io.chunks import cut_chunks
from parlai_q2.io.read import Record
from parlai_q2.lines import passed_through


def records(*positions):
    return iter([Record(n, {}, None, None, read) for n, read in enumerate(positions)])


def shape(chunks):
    return [(c.number, len(c.items), c.end) for c in chunks]


def test_a_chunk_is_closed_by_the_bytes_it_spans():
    # 100 bytes a chunk: 60 + 40 reach them, then 300 alone, then what is left.
    found = cut_chunks(records(60, 100, 400, 410, 420), 10, 100)
    assert shape(found) == [(0, 2, 100), (1, 1, 400), (2, 2, 420)]


def test_records_are_read_only_when_they_are_asked_for():
    taken = []

    def source():
        for record in records(*range(100)):
            taken.append(record)
            yield record

    next(cut_chunks(source(), 3))
    assert len(taken) == 3


def test_fields_of_another_keep_the_order_that_they_have():
    names = ('label', 'knowledge', 'parts', 'score', 'response', 'statements')
    fields = dict.fromkeys(names, 'x')
    found = passed_through(fields)
    assert list(found) == [
        'knowledge',
        'response',
        'given_label',
        'given_parts',
        'given_score',
        'given_statements',
    ]
    scored = {**fields, **dict.fromkeys(('fallback', 'verdicts', 'signature'), 'y')}
    assert list(passed_through(scored)) == ['knowledge', 'response']
