"""Choosing among several responses to one turn, and twins."""

from dataclasses import replace
from itertools import combinations
from statistics import fmean

import pytest

from parlai_q2.evaluate.pools import choices, expected_wrong, group_pools, is_wrong
from parlai_q2.evaluate.sets import AnnotatedResponse
from parlai_q2.evaluate.tables.annotations import choices_table, twins_table
from tests.evaluate.helpers import BAD, GENERIC, GOOD, annotated, evaluation, measure


def pool(name, *labels, **extra):
    return [
        AnnotatedResponse(f'Knowledge {name}.', f'{name} {n}', label, **extra)
        for n, label in enumerate(labels)
    ]


def rated(hallucination, number=0, text='A turn.'):
    extra = {'hallucination': hallucination, 'history': [text]}
    return AnnotatedResponse('Known.', f'r{number}', GENERIC, text=text, extra=extra)


@pytest.mark.parametrize('n', [1, 2, 3, 4, 5])
def test_the_expected_choice_is_that_of_all_subsets(n):
    scores, wrong = [0.7, 0.2, 0.7, 0.9, 0.2], [True, False, False, False, True]

    def chosen(places):
        best = max(scores[p] for p in places)
        return fmean(wrong[p] for p in places if scores[p] == best)

    by_hand = fmean(chosen(places) for places in combinations(range(5), n))
    assert expected_wrong(scores, wrong, n) == pytest.approx(by_hand)


def test_a_pool_has_the_responses_to_one_knowledge_of_one_corpus():
    responses = [
        *pool('a', GOOD, BAD, corpus='wow'),
        *pool('A', GENERIC, corpus='wow'),
        *pool('a', GOOD, corpus='tc'),
        *pool('b', '', '', corpus='tc'),
    ]
    (found,) = group_pools(responses)
    assert found.responses == tuple(responses[:3])
    assert found.wrong == (False, True, False)
    assert found.mixed


def test_a_pool_of_whole_conversations_has_one_conversation():
    responses = [rated(True), rated(False, 1), rated(False, 2, text='Another.')]
    (pool,) = group_pools(responses)
    assert pool.responses == tuple(responses[:2])


def test_what_makes_something_up_is_wrong_whatever_its_class():
    wrong = [is_wrong(rated(made_up)) for made_up in (True, False, None)]
    assert wrong == [True, False, None]


def test_shares_are_between_random_and_the_best_possible():
    responses = [*pool('a', GOOD, BAD), *pool('b', BAD, BAD, GOOD, GOOD)]
    scored = measure(responses, [0.9, 0.1, 0.8, 0.2, 0.3, 0.4])
    result = choices(scored, group_pools(responses), rounds=50)
    assert (result.pop('pools'), result.pop('mixed')) == (2, 2)
    means = {name: interval.mean for name, interval in result.items()}
    expected = {'random': 0.5, 'oracle': 0, 'chosen': 0.5, 'change': 0, 'avoided': 0}
    assert means == pytest.approx(expected)
    assert choices(scored, group_pools(responses), 3, rounds=50)['pools'] == 1
    assert choices(scored, group_pools(responses), 5) is None


def test_a_scorer_that_lacks_scores_has_pools_of_its_own():
    responses = [*pool('a', GOOD, BAD), *pool('b', BAD, GOOD)]
    run = evaluation(responses, [0.9, 0.1, 0.8, 0.2])
    column = measure(responses[:2], [0.9, 0.1], name='column')
    table = choices_table(replace(run, measures=(*run.measures, column)))
    pools = [row.get('pools') for row in table.rows if row['of'] == 'all']
    assert pools == [2, None, None, 1]


def test_nothing_is_avoided_where_nothing_can_be():
    responses = [*pool('a', BAD, BAD, BAD), *pool('b', GOOD, GOOD)]
    result = choices(measure(responses, [0.1] * 5), group_pools(responses))
    assert (result['mixed'], result['avoided']) == (0, None)


def twins_row(kind, values):
    responses = [
        annotated(n, label, corpus=corpus, extra={'twin': n // 2})
        for n, (label, corpus) in enumerate(
            [(GOOD, 'units'), (BAD, 'units'), (GOOD, 'time'), (BAD, 'time')]
        )
    ]
    table = twins_table(evaluation(responses, values))
    return next(r for r in table.rows if r['kind'] == kind)


def test_a_kind_has_the_shares_seen_in_order_and_kept():
    cells = twins_row('units', [0.9, 0.8, 0.4, 0.1])
    assert (cells['wrong'].mean, cells['order'].mean, cells['kept'].mean) == (0, 1, 1)
    cells = twins_row('time', [0.9, 0.8, 0.4, 0.4])
    assert (cells['wrong'].mean, cells['order'].mean, cells['kept'].mean) == (1, 0.5, 0)
    assert twins_row('all', [0.9, 0.8, 0.4, 0.1])['twins'] == 2
