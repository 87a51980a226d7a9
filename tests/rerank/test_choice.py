"""The choice among scored candidates, by hand-worked tables."""

import math
from dataclasses import replace

import pytest

from parlai_q2.claims import Label, Score
from parlai_q2.errors import ConfigError, UnknownNameError
from parlai_q2.rerank import Candidate, Reason, Rule
from parlai_q2.rerank.choice import By, choose
from parlai_q2.rerank.guards import (
    guarded_value,
    guards_of,
    is_copy,
    is_repeat,
    says_nothing,
)
from parlai_q2.turns import Example, Passage

KNOWN = (Passage('knowledge'),)


def candidate(place, value, verifiable=True, **fields):
    label = Label.CONSISTENT if verifiable else Label.NOT_VERIFIABLE
    score = Score(value, label)
    return Candidate(f'{place}', place=place, score=score, value=value, **fields)


def candidates(*values, logprobs=None, verifiable=True):
    logprobs = logprobs or [0.0] * len(values)
    return [
        candidate(n, v, verifiable, mean_logprob=p)
        for n, (v, p) in enumerate(zip(values, logprobs, strict=True))
    ]


def chosen(given, rule):
    """The order and the reason of a choice."""
    ranking = choose(given, rule, KNOWN)
    return tuple(ranking.order), ranking.reason


@pytest.mark.parametrize(
    'values, order, why',
    [
        ((0.2, 0.9, 0.5), (1, 2, 0), 'the highest score comes first'),
        ((0.5, 0.5, 0.5), (0, 1, 2), 'a tie leaves the order of the generator'),
        ((0.5, 0.9, 0.9), (1, 2, 0), 'the generator decides among the best'),
        ((0.7, 0.7 + 1e-9), (0, 1), 'noise in the last digits is a tie'),
        ((0.7, 0.9, 0.93), (2, 1, 0), 'three are none'),
        ((0.4,), (0,), 'one candidate is chosen'),
    ],
)
def test_by_score(values, order, why):
    assert chosen(candidates(*values), Rule(by=By.SCORE)) == (order, Reason.BEST), why


@pytest.mark.parametrize('by', [By.SCORE, By.THRESHOLD])
@pytest.mark.parametrize(
    'texts', [('a longer reply', 'short'), ('short', 'a longer reply')]
)
def test_a_tie_leaves_the_order_whatever_the_length(texts, by):
    pairs = zip(candidates(0.9, 0.9), texts, strict=True)
    given = [replace(one, text=text) for one, text in pairs]
    assert chosen(given, Rule(by=by))[0] == (0, 1)


def test_a_tie_is_not_called_the_best_score():
    nearly = (1, 2, 0), Reason.NEARLY_BEST
    assert chosen(candidates(0.7, 0.9, 0.91), Rule(by=By.SCORE)) == nearly
    at_the_edge = candidates(0.88, 0.9), candidates(0.87, 0.9)
    orders = [chosen(given, Rule(by=By.SCORE))[0] for given in at_the_edge]
    assert orders == [(0, 1), (1, 0)], 'a tie is up to 0.02, and that too'
    together = Rule(by=By.SCORE_PLUS_GENERATOR, generator_weight=0.0)
    assert chosen(candidates(0.9, 0.91), together)[1] == Reason.NEARLY_BEST


@pytest.mark.parametrize(
    'weight, order, why',
    [
        (0.1, (0, 1), '0.8 - 0.1 * 2 = 0.6 against 0.65 - 0.1 * 1 = 0.55'),
        (0.2, (1, 0), '0.8 - 0.2 * 2 = 0.4 against 0.65 - 0.2 * 1 = 0.45'),
    ],
)
def test_by_score_plus_generator(weight, order, why):
    rule = Rule(by=By.SCORE_PLUS_GENERATOR, generator_weight=weight)
    found = chosen(candidates(0.8, 0.65, logprobs=[-2.0, -1.0]), rule)
    assert found == (order, Reason.BEST_TOGETHER), why


def test_by_default_the_generator_decides_between_scores_that_are_near():
    near = candidates(0.9, 0.86, logprobs=[-0.8, -0.2])
    assert chosen(near, Rule()) == ((1, 0), Reason.BEST_TOGETHER)
    far = candidates(0.9, 0.6, logprobs=[-0.8, -0.2])
    assert chosen(far, Rule()) == ((0, 1), Reason.BEST_TOGETHER)


@pytest.mark.parametrize(
    'logprobs, strategies, weight',
    [
        ([-2.0, 0.0], [('beam',), ('beam',)], 9.0),  # one is not known
        ([-2.0, -0.1], [('beam',), ('nucleus',)], 9.0),
        ([-2.0, -0.1], [('beam', 'nucleus'), ('nucleus',)], 9.0),
        ([-2.0, -0.1], [('beam',), ('beam',)], 0.0),
    ],
)
def test_where_the_generator_says_nothing_to_compare_the_score_decides(
    logprobs, strategies, weight
):
    given = [
        replace(one, strategies=found)
        for one, found in zip(
            candidates(0.9, 0.8, logprobs=logprobs), strategies, strict=True
        )
    ]
    assert chosen(given, Rule(generator_weight=weight)) == ((0, 1), Reason.BEST)


@pytest.mark.parametrize(
    'values, order, reason, why',
    [
        ((0.4, 0.6, 0.9), (1, 2, 0), Reason.FIRST_ABOVE, 'the first that passes'),
        ((0.4, 0.1, 0.5), (0, 1, 2), Reason.NONE_ABOVE, 'equal does not pass'),
    ],
)
def test_by_threshold(values, order, reason, why):
    rule = Rule(by=By.THRESHOLD, threshold=0.5)
    assert chosen(candidates(*values), rule) == (order, reason), why


def test_nothing_to_verify_leaves_the_first_choice_of_the_generator():
    pool = candidates(0.5, 0.9, verifiable=False)
    for by in By:
        ranking = choose(pool, Rule(by=by, abstain_below=1.0), KNOWN)
        assert ranking.order == [0, 1]
        assert ranking.reason == Reason.UNVERIFIABLE
        assert not ranking.abstain


@pytest.mark.parametrize(
    'below, abstains', [(None, False), (0.3, False), (0.4, False), (0.41, True)]
)
def test_it_abstains_when_even_the_best_is_below(below, abstains):
    ranking = choose(candidates(0.1, 0.4), Rule(abstain_below=below), KNOWN)
    assert ranking.abstain is abstains
    assert ranking.order == [1, 0]


def test_it_abstains_by_the_score_and_not_by_what_the_guards_left_of_it():
    copy = replace(candidate(0, 0.9), value=0.5)
    assert not choose([copy], Rule(abstain_below=0.8), KNOWN).abstain
    assert choose([copy], Rule(abstain_below=0.95), KNOWN).abstain


def test_it_does_not_abstain_from_what_cannot_be_verified():
    pool = [candidate(0, 0.5, verifiable=False), candidate(1, 0.2)]
    assert not choose(pool, Rule(abstain_below=0.9), KNOWN).abstain


KNOWLEDGE = (
    'Coffee is a brewed drink prepared from roasted coffee beans, the seeds of berries '
    'from certain plants. It has been drunk since the 15th century.'
)


@pytest.mark.parametrize(
    'response, copy, why',
    [
        (KNOWLEDGE, True, 'the whole knowledge'),
        (
            'coffee is a brewed drink, prepared from roasted coffee beans!',
            True,
            'a stretch of it, whatever its case and punctuation',
        ),
        (
            'Well, coffee is a brewed drink prepared from roasted coffee beans, the '
            'seeds of berries.',
            True,
            'one word of its own in fourteen',
        ),
        ('Since the 15th century.', False, 'a short answer'),
        (
            'I love it! People brew it from roasted coffee beans, you know, which are '
            'the seeds of berries.',
            False,
            'the same in its own words',
        ),
        ('', False, 'nothing'),
    ],
)
def test_what_a_copy_is(response, copy, why):
    assert is_copy(response, KNOWLEDGE) is copy, why


@pytest.mark.parametrize(
    'response, generic',
    [
        ("I don't know.", True),
        ("That's so cool!", True),
        ('I am not sure about that, sorry.', True),
        ('', True),
        ('What do you think?', True),
        ('I love coffee!', False),
        ('It was in 1776.', False),
        ('Paris.', False),
    ],
)
def test_what_a_generic_reply_is(response, generic):
    assert says_nothing(response) is generic


def test_a_scorer_that_knows_generic_replies_is_believed():
    def found(response, label, **parts):
        return guards_of(Example(KNOWLEDGE, response), Score(0.5, label, parts=parts))

    assert found('I adore jazz!', Label.GENERIC, generic=0.4) == ('generic',)
    assert found("I don't know.", Label.CONSISTENT, generic=0.1) == ()
    assert found("I don't know.", Label.CONSISTENT) == ('generic',)
    copy = 'coffee is a brewed drink prepared from roasted coffee beans'
    assert found(copy, Label.GENERIC, generic=0.8) == ('copy', 'generic')


@pytest.mark.parametrize(
    'response, repeat',
    [
        ('It is the deepest lake.', True),
        ('it is the deepest lake !', True),
        ('It is the deepest lake of all.', False),
        ('Deepest lake.', False),
        ('The deepest lake.', False),
        ('', False),
    ],
)
def test_what_a_repetition_is(response, repeat):
    history = [
        'Hi! It is the deepest lake.',
        'It is the deepest lake.',
        'Deepest lake.',
    ]
    assert is_repeat(response, history) is repeat
    score = Score(0.9, Label.CONSISTENT, parts={'generic': 0.0})
    found = guards_of(Example('k', response, history), score)
    assert found == (('repeat',) if repeat else ())


@pytest.mark.parametrize(
    'value, guard, label, expected, why',
    [
        (1.0, 'generic', None, 0.5, 'a perfect phrase stands at the threshold'),
        (1.0, 'copy', None, 0.99, 'a small penalty is taken whole'),
        (0.6, 'repeat', None, 0.5, 'and no further than the threshold'),
        (0.3, 'copy', None, 0.3, 'what is inconsistent already stays where it is'),
        (0.1, 'generic', Label.GENERIC, 0.2, 'better than what is surely wrong'),
        (0.4, 'generic', Label.GENERIC, 0.4, 'and no further than its own value'),
        (0.9, 'generic', Label.GENERIC, 0.5, 'which is at most the threshold'),
    ],
)
def test_the_value_of_a_guarded_reply(value, guard, label, expected, why):
    score = Score(value, label or Label.CONSISTENT)
    found = guarded_value(score, (guard,), threshold=0.5)
    assert found == pytest.approx(expected), why


def test_a_rule_that_there_is_not_is_refused_with_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'threshold'"):
        Rule('treshold')


@pytest.mark.parametrize(
    'given',
    [
        {'abstain_below': '0.5'},
        {'abstain_below': 50},
        {'threshold': float('nan')},
        {'tolerance': -0.1},
        {'generator_weight': None},
    ],
)
def test_a_number_out_of_range_is_refused_by_its_name(given):
    with pytest.raises(ConfigError, match=f'Rule.{next(iter(given))} .*a number'):
        Rule(**given)


@pytest.mark.parametrize('impossible', [-math.inf, math.nan])
@pytest.mark.parametrize('weight, order', [(0.1, (1, 0, 2)), (0.0, (2, 1, 0))])
def test_what_the_generator_thinks_impossible_is_last_if_it_counts(
    weight, order, impossible
):
    given = candidates(0.2, 0.9, 0.95, logprobs=[impossible, -1.0, impossible])
    rule = Rule(By.SCORE_PLUS_GENERATOR, generator_weight=weight, tolerance=0.0)
    reason = Reason.BEST_TOGETHER if weight else Reason.BEST
    assert chosen(given, rule) == (order, reason)
