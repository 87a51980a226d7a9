import pytest

from parlai_q2.report.entries import read_entry
from parlai_q2.report.overview import Overview
from tests.report.samples import SIGNATURE, reranked, scored, simple


def overview_of(*records):
    return Overview([read_entry(record) for record in records])


def test_means_and_counts_are_over_all_responses():
    overview = overview_of(
        scored(q2_label='inconsistent'),
        simple(1, 1.0, q2_label='consistent'),
        simple(2, 0.6, q2_label='consistent', fallback=True),
        simple(3, 0.5, label='not_verifiable', q2_label='generic'),
    )
    assert overview.whole.score == pytest.approx(
        (1 / 3 + 1.0 + 0.6 + 0.5) / 4, abs=1e-4
    )
    assert overview.labels == {'inconsistent': 1, 'consistent': 2, 'not_verifiable': 1}
    assert overview.classes['consistent'] == [1.0, 0.6]
    assert overview.questions == 3
    assert overview.with_questions == 1
    assert overview.unanswered == 1
    assert overview.fallbacks == 1
    assert overview.signatures == [SIGNATURE]


def test_reranked_turns_compare_first_and_chosen():
    unchanged = simple(
        1,
        rerank=[
            {'text': 'a', 'score': 0.8, 'label': 'x', 'first': True, 'chosen': True}
        ],
    )
    unscored = simple(2, rerank=[{'text': 'a', 'first': True, 'chosen': True}])
    overview = overview_of(reranked(), unchanged, unscored)
    assert (overview.reranked, overview.changed) == (3, 1)
    first, chosen = overview.first_and_chosen
    assert first == pytest.approx((1 / 3 + 0.8) / 2, abs=1e-4)
    assert chosen == pytest.approx(0.9)
