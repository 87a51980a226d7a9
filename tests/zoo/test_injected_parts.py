"""
The parts of the experiment with injected hallucinations: what counts as made up, what
is injected, how filters and generators are compared.
"""

import random

import numpy as np
import pytest

from parlai_q2.bootstrap import Interval
from parlai_q2.errors import ConfigError, InputError, UnknownNameError
from parlai_q2.zoo.experiments.injected.claims import made_up, names, new_words
from parlai_q2.zoo.experiments.injected.corpus import Turn, choose
from parlai_q2.zoo.experiments.injected.filter_quality import dropped, quality
from parlai_q2.zoo.experiments.injected.inject import inject
from parlai_q2.zoo.experiments.injected.measure import MADE_UP, measure
from parlai_q2.zoo.experiments.injected.report import shown
from parlai_q2.zoo.experiments.injected.results import closed, gains
from parlai_q2.zoo.experiments.injected.settings import read_settings
from parlai_q2.zoo.train.hard_negatives import Grounded
from tests.filtering.toys import WordScorer
from tests.zoo.injected_toys import rows

GIVEN = 'Jim Carrey met Steve in 2003. The film cost 1,000 dollars.\nIs it by Ann?'


@pytest.mark.parametrize(
    'reply, found',
    [
        ('Jim met Steve in 2003', []),
        ('he met steve', []),
        # The turn before is given too.
        ('It is by Ann', []),
        ('Jim met Bob Ray in 2003', ['bob', 'ray']),
        ('Jim met Steve in 2004', ['2004']),
        ('It cost 1000 or two dollars', ['2']),
        # What begins a sentence may be any word.
        ('Really? Wonderful. Films cost 1,000 dollars', []),
        ("Oh I see, I'm sure", []),
        ("Steve's film", []),
        ('', []),
    ],
)
def test_names_and_numbers_that_were_not_given_are_made_up(reply, found):
    assert made_up(reply, GIVEN) == sorted(found)


def test_a_name_is_capitalised_and_begins_no_sentence():
    assert names('Bob met Ann Lee. Then he left with I.') == {'ann', 'lee'}


def test_new_words_are_a_share_of_the_content_words():
    # "the", "is" and "it" carry no content.
    assert new_words('the film is it', GIVEN) == 0.0
    assert new_words('film wonderful Jim actor', GIVEN) == 0.5
    assert new_words('it is the', GIVEN) == 0.0


def turn(n, knowledge=None, reply=None):
    knowledge = knowledge or f'In 19{n:02} Ann Qua{n} left for the town of Zed{n}.'
    reply = reply or f'She left for the town of Zed{n} in 19{n:02}'
    return Turn(n, 'hi', Grounded(knowledge, reply, (('GPE', f'Zed{n}'),)))


TURNS = [turn(n) for n in range(10, 40)]


def test_the_wanted_share_is_made_up_and_the_others_are_as_they_were():
    made = inject(TURNS, 0.6, ('entity', 'number', 'sentence'), seed=3)
    assert [one.turn for one in made] == TURNS
    wrong = [one for one in made if one.kind]
    assert len(wrong) == 18
    assert sorted(one.kind for one in wrong) == sorted(
        6 * ['entity', 'number', 'sentence']
    )
    for one in made:
        assert bool(made_up(one.reply, one.turn.given)) == bool(one.kind)
        assert one.kind or one.reply == one.turn.reply


def test_the_same_seed_injects_the_same():
    kinds = ('entity', 'sentence')
    assert inject(TURNS, 0.5, kinds, seed=3) == inject(TURNS, 0.5, kinds, seed=3)
    assert inject(TURNS, 0.5, kinds, seed=3) != inject(TURNS, 0.5, kinds, seed=4)


def test_a_sentence_comes_behind_the_reply_and_a_full_stop():
    for one in inject(TURNS, 0.9, ('sentence',), seed=1):
        if one.kind:
            assert one.reply.startswith(one.turn.reply + '. She left for')


def test_turns_of_which_nothing_can_be_made_are_left_alone():
    plain = [turn(n, f'k{n} is what Ann says', 'Ann says it') for n in range(4)]
    assert [one.kind for one in inject(plain, 0.5, ('number',), seed=1)] == [''] * 4


def settings(**changed):
    found = read_settings().to_dict() | changed
    return type(read_settings())(
        **{k: tuple(v) if isinstance(v, list) else v for k, v in found.items()}
    )


def test_chosen_turns_share_no_knowledge_and_make_nothing_up():
    training, held_out = choose(rows(40), settings(turns=12, held_out=5, contexts=5))
    assert (len(training), len(held_out)) == (12, 5)
    everything = training + held_out
    assert len({one.knowledge for one in everything}) == 17
    assert not any(made_up(one.reply, one.given) for one in everything)


def test_a_corpus_that_is_too_small_is_refused_with_its_size():
    with pytest.raises(InputError, match='has 6 turns .* 900 are asked'):
        # The other half of the rows says a name that was not given.
        choose(rows(12), settings(turns=800, held_out=100, contexts=9))


def test_settings_that_nobody_knows_are_refused(tmp_path):
    file = tmp_path / 'mine.yaml'
    for text, error in (
        ('stepz: 3', UnknownNameError),
        ('kinds: [poem]', UnknownNameError),
        ('conditions: [clean]', ConfigError),
        ('rate: 1.5', ConfigError),
        ('contexts: 999', ConfigError),
        ('steps: many', ConfigError),
        ('[1', ConfigError),
    ):
        file.write_text(text)
        with pytest.raises(error):
            read_settings(file)
    file.write_text('steps: 3\nseeds: [7]')
    found = read_settings(file)
    assert (found.steps, found.seeds) == (3, (7,))
    assert found.rank == read_settings().rank


KINDS = ['', '', '', 'number', 'number', 'sentence', 'sentence', 'sentence']


def test_a_filter_is_held_against_what_was_injected():
    # One of three clean turns goes, one of two numbers, all sentences.
    goes = [True, False, False, True, False, True, True, True]
    found = quality([{'injected': kind} for kind in KINDS], goes, rounds=50)
    assert found.kept.mean == 3 / 8
    assert found.precision.mean == 4 / 5
    assert found.recall.mean == 4 / 5
    assert found.left.mean == pytest.approx(1 / 3)
    assert found.by_kind['number'].mean == 0.5
    assert found.by_kind['sentence'] == Interval(1.0, 1.0, 1.0)


def test_a_filter_that_drops_nothing_has_no_precision():
    found = quality([{'injected': k} for k in KINDS], [False] * 8, rounds=20)
    assert found.precision is None and found.recall.mean == 0


def test_generic_and_unverifiable_replies_are_not_dropped():
    replies = ['a b', 'x y', 'hello', 'what x?']
    turns = [{'knowledge': 'a b', 'reply': reply} for reply in replies]
    assert dropped(turns, WordScorer()) == [False, True, False, False]


def test_replies_are_measured_against_all_that_was_given():
    turn_ = {'knowledge': 'Bees have five eyes', 'text': 'Hi Ann', 'reply': 'five eyes'}
    right, wrong = measure(
        [turn_] * 2, ['hello', 'Bees have six eyes said Bob'], {'judge': WordScorer()}
    )
    assert right['made_up'] == 0 and wrong['made_up'] == 1
    assert right['words'] == 1 and right['f1'] == 0
    # Generic is not wrong; a third of the six words is not in the knowledge.
    assert right['judge'] == 1 and wrong['judge'] == 0.0 + (3 / 6 > 0.5)
    assert wrong['copied'] == 3 / 6


def made(unfiltered, filtered, clean):
    values = {}
    for way in ('sampled', 'greedy'):
        for name, found in zip(
            ('unfiltered', 'filtered', 'clean'), (unfiltered, filtered, clean)
        ):
            values[name, way, MADE_UP.name] = np.array(found, dtype=float)
    return values


def test_conditions_are_compared_context_by_context():
    # Everyone errs at the first context; the difference is the same at each other.
    values = made([1, 0.5, 0.5], [1, 0, 0], [1, 0, 0])
    found = gains(values, rounds=200)
    assert ('unfiltered', 'greedy', 'made_up') not in found
    mean, low, high = found['filtered', 'greedy', 'made_up']
    assert mean == pytest.approx(-1 / 3) and low == -0.5 and high == 0


def test_the_way_to_a_perfect_filter_is_a_share_of_the_whole_way():
    names_ = ('unfiltered', 'filtered', 'clean')
    rng = random.Random(1)
    worst = [rng.random() for _ in range(20)]
    half = made(worst, [w / 2 for w in worst], [0] * 20)
    assert closed(half, names_, rounds=50)['filtered', 'sampled'] == pytest.approx(
        (0.5, 0.5, 0.5)
    )
    none = made([0, 0], [0, 0], [0, 0])
    assert closed(none, names_, rounds=50)['filtered', 'sampled'] is None


def test_an_interval_is_shown_with_digits_for_its_size():
    assert shown(Interval(0.25, 0.125, 1.0)) == '0.250 [0.125, 1.000]'
    assert shown(Interval(0.25, -0.125, 1.0), True) == '+0.250 [-0.125, +1.000]'
    assert shown(Interval(12.34, 11.0, 13.06)) == '12.3 [11.0, 13.1]'
    assert shown(None) == ''
