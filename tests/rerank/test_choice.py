"""The choice among scored candidates, by hand-worked tables."""

import math
from dataclasses import replace

import pytest

from parlai_q2.claims import Label, Score
from parlai_q2.errors import ConfigError, UnknownNameError
from parlai_q2.rerank import Candidate, Reason, RerankBy, Rule
from parlai_q2.rerank.choice import choose
from parlai_q2.rerank.worth import claims_nothing
from parlai_q2.turns import Passage

KNOWLEDGE = (Passage('knowledge'),)


def candidate(place, value, verifiable=True, **fields):
    label = Label.CONSISTENT if verifiable else Label.NOT_VERIFIABLE
    score = Score(value, label)
    return Candidate(
        f'{place}', place=place, score=score, guarded_score=value, **fields
    )


def candidates(*values, logprobs=None, verifiable=True, relevances=None):
    nones = [None] * len(values)
    return [
        candidate(n, v, verifiable, mean_logprob=p, relevance=r, right_answer=r)
        for n, (v, p, r) in enumerate(
            zip(values, logprobs or nones, relevances or nones, strict=True)
        )
    ]


def order_and_reason(pool, rule):
    ranking = choose(pool, rule, KNOWLEDGE, 'When did it open?')
    return tuple(ranking.order), ranking.reason


@pytest.mark.parametrize(
    'values, order, why',
    [
        ((0.2, 0.9, 0.5), (1, 2, 0), 'the highest score comes first'),
        ((0.5, 0.5, 0.5), (0, 1, 2), 'a tie keeps the order of the generator'),
        ((0.5, 0.9, 0.9), (1, 2, 0), 'the generator decides among the best'),
        ((0.7, 0.7 + 1e-9), (0, 1), 'noise in the last digits is a tie'),
        ((0.9, 0.91), (1, 0), 'nearly equal is no tie'),
        ((0.4,), (0,), 'one candidate is chosen'),
    ],
)
def test_rule_score(values, order, why):
    rule = Rule(by=RerankBy.SCORE)
    assert order_and_reason(candidates(*values), rule) == (order, Reason.BEST), why


@pytest.mark.parametrize('by', [RerankBy.SCORE, RerankBy.THRESHOLD])
@pytest.mark.parametrize(
    'texts', [('a longer reply', 'short'), ('short', 'a longer reply')]
)
def test_a_tie_keeps_the_order_whatever_the_length(texts, by):
    pairs = zip(candidates(0.9, 0.9), texts, strict=True)
    pool = [replace(candidate, text=text) for candidate, text in pairs]
    assert order_and_reason(pool, Rule(by=by))[0] == (0, 1)


@pytest.mark.parametrize(
    'weight, order, reason, why',
    [
        (0.1, (0, 1), Reason.BEST, '0.8 - 0.1 * 2 = 0.6 against 0.65 - 0.1 = 0.55'),
        (0.2, (1, 0), Reason.BEST_LIKELIHOOD, '0.4 against 0.65 - 0.2 * 1 = 0.45'),
    ],
)
def test_rule_score_plus_generator(weight, order, reason, why):
    rule = Rule(by=RerankBy.SCORE_PLUS_GENERATOR, generator_weight=weight)
    pool = candidates(0.8, 0.65, logprobs=[-2.0, -1.0])
    assert order_and_reason(pool, rule) == (order, reason), why


def test_the_generator_decides_between_similar_scores():
    near = candidates(0.9, 0.86, logprobs=[-0.8, -0.2])
    assert order_and_reason(near, Rule()) == ((1, 0), Reason.BEST_LIKELIHOOD)
    far = candidates(0.9, 0.6, logprobs=[-0.8, -0.2])
    assert order_and_reason(far, Rule()) == ((0, 1), Reason.BEST)


@pytest.mark.parametrize(
    'logprobs, strategies, weight, why',
    [
        ([-2.0, None], [('beam',), ('beam',)], 9.0, 'one is unknown'),
        ([-2.0, -0.1], [('beam',), ('nucleus',)], 9.0, 'of two searches'),
        ([-2.0, -0.1], [('beam', 'nucleus'), ('nucleus',)], 9.0, 'of two searches'),
        ([-2.0, -0.1], [('beam',), ('beam',)], 0.0, 'it weighs nothing'),
    ],
)
def test_likelihoods_that_cannot_be_compared_do_not_count(
    logprobs, strategies, weight, why
):
    pool = [
        replace(candidate, strategies=names)
        for candidate, names in zip(
            candidates(0.9, 0.8, logprobs=logprobs), strategies, strict=True
        )
    ]
    rule = Rule(generator_weight=weight)
    assert order_and_reason(pool, rule) == ((0, 1), Reason.BEST), why


def test_a_candidate_that_is_certain_has_a_likelihood():
    # A mean log probability of 0 is a probability of 1, and not an unknown one.
    pool = candidates(0.9, 0.8, logprobs=[-2.0, 0.0])
    assert order_and_reason(pool, Rule()) == ((1, 0), Reason.BEST_LIKELIHOOD)


def test_relevance_decides_between_replies_that_are_grounded():
    pool = candidates(0.9, 0.8, relevances=[0.1, 0.9])
    assert order_and_reason(pool, Rule()) == ((1, 0), Reason.BEST_WORTH)
    by_score = order_and_reason(pool, Rule(by=RerankBy.SCORE))
    assert by_score == ((0, 1), Reason.BEST), 'only the combination reads it'


def test_the_reason_says_that_no_candidate_may_answer():
    pool = candidates(0.9, 0.4, relevances=[0.4, 0.1])
    assert order_and_reason(pool, Rule()) == ((0, 1), Reason.BEST_DOUBTFUL)
    chat = choose(pool, Rule(), KNOWLEDGE, 'I like tea.')
    assert chat.reason == Reason.BEST, 'nothing was asked'


@pytest.mark.parametrize(
    'values, relevances, reason',
    [
        ((0.906, 0.905), (0.9, 0.1), Reason.BEST_WORTH),
        ((0.94, 0.905), (0.9, 0.1), Reason.BEST),
        ((0.9061, 0.906), (0.9, 0.9), Reason.BEST),
    ],
)
def test_the_reason_is_a_lead_that_people_see(values, relevances, reason):
    pool = candidates(*values, relevances=relevances)
    assert order_and_reason(pool, Rule()) == ((0, 1), reason)


def test_a_candidate_that_was_not_read_for_relevance_comes_last():
    read = candidates(0.2, 0.4, relevances=[0.1, 0.2], logprobs=[-9.0, -9.0])
    unread = candidate(2, 0.99, mean_logprob=-0.1)
    assert choose([*read, unread], Rule(), KNOWLEDGE, 'When?').order[-1] == 2


def test_the_reason_names_the_guards_when_they_decide():
    guarded = replace(candidate(0, 0.9), guarded_score=0.5)
    pool = [guarded, candidate(1, 0.8)]
    assert order_and_reason(pool, Rule()) == ((1, 0), Reason.BEST_AFTER_GUARDS)


@pytest.mark.parametrize(
    'values, order, reason, why',
    [
        ((0.4, 0.6, 0.9), (1, 2, 0), Reason.FIRST_ABOVE, 'the first that passes'),
        ((0.4, 0.1, 0.5), (0, 1, 2), Reason.NONE_ABOVE, 'equal does not pass'),
    ],
)
def test_rule_threshold(values, order, reason, why):
    rule = Rule(by=RerankBy.THRESHOLD, threshold=0.5)
    assert order_and_reason(candidates(*values), rule) == (order, reason), why


def test_keeps_the_generators_first_choice_if_nothing_can_be_verified():
    pool = candidates(0.5, 0.9, verifiable=False)
    for by in RerankBy:
        assert order_and_reason(pool, Rule(by=by)) == ((0, 1), Reason.UNVERIFIABLE)


def reply(text, value, label=Label.CONSISTENT, relevance=None):
    score = Score(value, label)
    return Candidate(text, score=score, guarded_score=value, relevance=relevance)


QUESTION = 'When did it open?'
UNREAD = Label.NOT_VERIFIABLE


@pytest.mark.parametrize(
    'best, knowledge, reason, why',
    [
        (reply('In 1969.', 0.9), KNOWLEDGE, None, 'it is grounded'),
        (reply('In 1969.', 0.5), KNOWLEDGE, None, 'equal is enough'),
        (reply('In 1969.', 0.4), KNOWLEDGE, Reason.ABSTAINED, 'it scores too low'),
        (reply('Nice!', 0.43, Label.GENERIC), KNOWLEDGE, Reason.ABSTAINED, 'a filler'),
        (
            reply('Yes.', 0.5, Label.GENERIC),
            KNOWLEDGE,
            Reason.ABSTAINED_UNVERIFIABLE,
            'what it says yes to was not read',
        ),
        (
            reply('Es war 1969.', 0.5, UNREAD),
            KNOWLEDGE,
            Reason.ABSTAINED_UNVERIFIABLE,
            'another language was not read',
        ),
        (Candidate('In 1969.'), (), Reason.ABSTAINED_NO_KNOWLEDGE, 'no knowledge'),
        (
            reply('It has a shop.', 0.9, relevance=0.2),
            KNOWLEDGE,
            Reason.ABSTAINED_RELEVANCE,
            'it is grounded, and no answer',
        ),
        (reply('In 1969.', 0.9, relevance=0.8), KNOWLEDGE, None, 'it answers'),
        (reply("Sorry, I don't know.", 0.3, Label.GENERIC), KNOWLEDGE, None, 'decline'),
        (reply("I'm not sure. Please ask our staff.", 0.1), KNOWLEDGE, None, 'advice'),
        (Candidate("Sorry, I don't know."), (), None, 'declines without knowledge'),
        (
            reply("I'm not sure, in 1950.", 0.1, Label.INCONSISTENT),
            KNOWLEDGE,
            Reason.ABSTAINED,
            'a hedge does not excuse a wrong claim',
        ),
    ],
)
def test_abstention_fails_closed(best, knowledge, reason, why):
    ranking = choose([best], Rule(abstain_below=0.5), knowledge, QUESTION)
    assert ranking.abstain is (reason is not None), why
    if reason is not None:
        assert ranking.reason == reason, why
    never = choose([best], Rule(), knowledge, QUESTION)
    assert not never.abstain, 'without the option it never abstains'


@pytest.mark.parametrize(
    'best, knowledge',
    [(reply('Es war 1969.', 0.5, UNREAD), KNOWLEDGE), (Candidate('In 1969.'), ())],
)
def test_abstain_unverified_false_keeps_unverifiable_replies(best, knowledge):
    rule = Rule(abstain_below=0.5, abstain_unverified=False)
    assert not choose([best], rule, knowledge, QUESTION).abstain


@pytest.mark.parametrize(
    'turn, knowledge, reason',
    [
        ('Hi there!', KNOWLEDGE, None),
        ('Hi there!', (), None),
        (QUESTION, KNOWLEDGE, Reason.ABSTAINED),
        (QUESTION, (), Reason.ABSTAINED_NO_KNOWLEDGE),
    ],
)
def test_a_greeting_passes_where_nothing_is_asked(turn, knowledge, reason):
    greeting = reply('Hello!', 0.4, Label.GENERIC)
    ranking = choose([greeting], Rule(abstain_below=0.5), knowledge, turn)
    assert (ranking.reason if ranking.abstain else None) == reason


def test_a_statement_asks_for_no_answer():
    grounded = reply('It has a shop.', 0.9, relevance=0.2)
    ranking = choose([grounded], Rule(abstain_below=0.5), KNOWLEDGE, 'I like museums.')
    assert not ranking.abstain


def test_keeps_the_first_reply_in_an_unsupported_language():
    foreign = [
        replace(c, score=replace(c.score, parts={'language': 1.0}))
        for c in candidates(0.5, 0.5, verifiable=False, relevances=[0.1, 0.9])
    ]
    assert order_and_reason(foreign, Rule()) == ((0, 1), Reason.UNVERIFIABLE)
    read = candidates(0.5, 0.5, verifiable=False, relevances=[0.1, 0.9])
    assert order_and_reason(read, Rule())[0] == (1, 0), 'such as two greetings'


def test_abstains_by_the_score_before_penalties():
    copy = replace(candidate(0, 0.9), guarded_score=0.5)
    assert not choose([copy], Rule(abstain_below=0.8), KNOWLEDGE).abstain
    assert choose([copy], Rule(abstain_below=0.95), KNOWLEDGE).abstain


def test_a_rule_that_there_is_not_is_refused_with_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'threshold'"):
        Rule('treshold')


@pytest.mark.parametrize(
    'value',
    [
        {'abstain_below': '0.5'},
        {'abstain_below': 50},
        {'threshold': float('nan')},
        {'generator_weight': None},
    ],
)
def test_a_number_out_of_range_is_refused_by_its_name(value):
    with pytest.raises(ConfigError, match=f'Rule.{next(iter(value))} .*a number'):
        Rule(**value)


@pytest.mark.parametrize('impossible', [-math.inf, math.nan])
@pytest.mark.parametrize('weight, order', [(0.1, (1, 0, 2)), (0.0, (2, 1, 0))])
def test_candidates_with_likelihood_zero_come_last(weight, order, impossible):
    pool = candidates(0.2, 0.9, 0.95, logprobs=[impossible, -1.0, impossible])
    rule = Rule(RerankBy.SCORE_PLUS_GENERATOR, generator_weight=weight)
    reason = Reason.BEST_LIKELIHOOD if weight else Reason.BEST
    assert order_and_reason(pool, rule) == (order, reason)


def test_a_decline_that_begins_with_no_is_no_claim():
    assert claims_nothing('No idea.', 'Is it free on Sundays?')
    assert not claims_nothing('No.', 'Is it free on Sundays?')
