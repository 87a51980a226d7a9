"""Guards: what each detects, and what it takes from a score."""

import pytest

from parlai_q2 import Reranker
from parlai_q2.claims import Label, Score
from parlai_q2.rerank.guards import (
    GUARDS,
    TRAINING_PENALTIES,
    Guard,
    ScoredReply,
    apply_penalties,
    detect_guards,
    find_guard,
)
from parlai_q2.rerank.guards.words import is_copy, is_repetition, states_nothing
from parlai_q2.turns import Example
from tests.rerank.toys import ToyScorer

PENALTIES = {guard.name: guard.penalty for guard in GUARDS}


def detect(example, score):
    return detect_guards([ScoredReply(example, score)])[0]


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
def test_detects_copies(response, copy, why):
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
def test_detects_generic_replies(response, generic):
    assert states_nothing(response) is generic


def test_a_scorer_that_knows_generic_replies_is_believed():
    def names(response, label, **parts):
        return detect(Example(KNOWLEDGE, response), Score(0.5, label, parts=parts))

    assert names('I adore jazz!', Label.GENERIC, generic=0.4) == ('generic',)
    assert names("I don't know.", Label.CONSISTENT, generic=0.1) == ()
    assert names("I don't know.", Label.CONSISTENT) == ('generic',)
    copy = 'coffee is a brewed drink prepared from roasted coffee beans'
    assert names(copy, Label.GENERIC, generic=0.8) == ('copy', 'generic')


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
def test_detects_repetitions(response, repeat):
    lake = 'It is the deepest lake.'
    history = [f'Hi! {lake}', lake, 'Deepest lake.']
    assert is_repetition(response, history) is repeat
    score = Score(0.9, Label.INCONSISTENT, parts={'generic': 0.0})
    names = detect(Example('k', response, history), score)
    assert names == (('repeat',) if repeat else ())


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
    counted = apply_penalties(score, (guard,), PENALTIES)
    assert counted == pytest.approx(expected), why


class ShoutGuard(Guard):
    name = 'shout'
    penalty = 0.2
    message = 'a reply in capitals'

    def detect(self, reply):
        return reply.example.response.isupper()


def test_a_guard_of_your_own_is_one_class():
    replies = ['IT OPENED IN 1969.', 'It opened in 1969, I think.']
    guards = [*GUARDS, ShoutGuard()]
    ranking = Reranker(ToyScorer(), guards=guards).rank('It opened in 1969.', replies)
    assert ranking.chosen.guards == ('shout',), '1.0 - 0.2 is still the better one'
    assert ranking.chosen.guarded_score == pytest.approx(0.8)
    strict = Reranker(ToyScorer(), guards=guards, penalties={'shout': 0.5})
    assert strict.rank('It opened in 1969.', replies).chosen.text == replies[1]


def test_guards_have_unique_names_penalties_and_messages():
    assert len({guard.name for guard in GUARDS}) == len(GUARDS)
    for guard in GUARDS:
        assert 0 < guard.penalty <= 1
        assert guard.message
        assert find_guard(guard.name) is guard
    assert find_guard('none of them') is None
    assert TRAINING_PENALTIES['copy'] == 0.1 > PENALTIES['copy']
