"""Two runs over the same responses, for the tests of their comparison."""

from typing import Any

from parlai_q2.claims import Comparison, Score
from parlai_q2.report.entries import Entry, read_entry
from tests.evidence import asked
from tests.report.samples import SIGNATURE, answer, scored, simple

AFTER = SIGNATURE.replace('mini', 'paper')


def entries(*records: dict[str, Any]) -> list[Entry]:
    """Records as the page reads them."""
    return [read_entry(record, n) for n, record in enumerate(records, start=1)]


def rescored(**fields: Any) -> dict[str, Any]:
    """
    The record of :func:`scored`, by another run: the first question is as it was, the
    second got no answer, the third is gone, and another one is new.
    """
    before = Score.from_dict(scored())
    same, when, _ = before.claims
    born = answer(scored()['response'], '1985')
    unanswered = asked(when.question, born, None, Comparison.NO_ANSWER)
    singer = asked(
        'Who is a singer?',
        answer(scored()['response'], 'Madonna'),
        answer(scored()['knowledge'], 'Madonna'),
        Comparison.EXACT,
        1.0,
        1.0,
    )
    score = Score(2 / 3, 'consistent', (same, unanswered, singer), signature=AFTER)
    return {**scored(), **score.to_dict(), **fields}


def two_runs(count: int) -> tuple[list[dict], list[dict]]:
    """Records of two runs: of every ten, a label and two scores differ."""
    before, after = [], []
    for n in range(count):
        if n % 10 == 0:
            before.append(scored(id=f'r{n}', q2_label='inconsistent'))
            after.append(rescored(id=f'r{n}', q2_label='inconsistent'))
            continue
        before.append(simple(n, 0.9, signature=SIGNATURE, q2_label='consistent'))
        later = {1: 0.8, 2: 1.0}.get(n % 10, 0.9)
        after.append(simple(n, later, signature=AFTER, q2_label='consistent'))
    return before, after
