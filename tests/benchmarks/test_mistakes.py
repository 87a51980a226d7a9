"""The benchmark of kinds of mistakes."""

from benchmarks.mistakes import measure, mistake_kind
from parlai_q2.claims import Claim, Label, Mistake, MistakeKind, Score, Status
from parlai_q2.turns import Span


def test_precision_and_recall_count_twins_of_the_six_kinds():
    number, time, other = MistakeKind.NUMBER, MistakeKind.TIME, MistakeKind.OTHER
    pairs = [
        ('numbers', number),
        ('units', time),
        ('time', time),
        ('time', other),
        ('cause', time),
        ('number', None),
    ]
    rows = {row['kind']: row for row in measure(pairs)}
    assert rows['number'] == {
        'kind': 'number', 'twins': 3, 'recall': 1 / 3, 'named': 1, 'precision': 1.0
    }  # fmt: skip
    assert rows['time']['precision'] == rows['time']['recall'] == 0.5
    assert rows['name']['precision'] is rows['name']['recall'] is None


def test_the_least_supported_mistake_counts():
    span = Span('x', 0, 1)
    claims = tuple(
        Claim(span, support, Status.UNSUPPORTED, mistake=Mistake(kind, span))
        for support, kind in ((0.3, MistakeKind.TIME), (0.1, MistakeKind.NAME))
    )
    assert mistake_kind(Score(0.1, Label.INCONSISTENT, claims)) == MistakeKind.NAME
    assert mistake_kind(Score(0.9, Label.CONSISTENT)) is None
