"""Twins by rule: what changes the meaning and what keeps it."""

import random

import pytest

from parlai_q2.text.pipeline import pipeline
from parlai_q2.zoo.train.twins.by_rule import find_human_twins, make_row
from parlai_q2.zoo.train.twins.phrases import load_phrases, phrase_twin
from parlai_q2.zoo.train.twins.quantities import (
    change_unit,
    exchange_numbers,
    quantity_twins,
)
from parlai_q2.zoo.train.twins.turned import change_voice, swap_phrases, turned_twins
from parlai_q2.zoo.train.twins.twin import Twin

MANY = 60


def parse(text):
    return pipeline(lemmas=True)(text)


def find_swaps(text):
    swaps = [swap_phrases(parse(text), random.Random(n)) for n in range(MANY)]
    return {swap[1] for swap in swaps if swap and swap[0] == 'swap'}


def test_an_argument_is_exchanged_with_the_other():
    swaps = find_swaps('The old cat chased the mouse.')
    assert 'the mouse chased The old cat.' in swaps


@pytest.mark.parametrize(
    'text',
    [
        'Bread and butter are sold here.',
        'Peter married Johanna.',
        'The capital is Paris.',
        'Norway borders Sweden.',
    ],
)
def test_what_would_keep_its_meaning_is_not_turned(text):
    assert not any(
        twin.kind in ('swap', 'heads')
        for n in range(MANY)
        for twin in turned_twins(parse(text), random.Random(n))
    )


@pytest.mark.parametrize(
    'text, right, wrong',
    [
        (
            'The dog followed Anna.',
            'Anna was followed by The dog.',
            'The dog was followed by Anna.',
        ),
        (
            'The tower was designed by Eiffel.',
            'Eiffel designed The tower.',
            'The tower designed Eiffel.',
        ),
    ],
)
def test_the_other_voice_keeps_the_roles_and_its_twin_exchanges_them(
    text, right, wrong
):
    assert list(change_voice(parse(text))) == [(right, wrong)]


def test_every_phrase_has_forms_that_fit_its_pattern():
    for phrase in load_phrases():
        for form in (*phrase.right, *phrase.wrong):
            assert phrase.pattern.groups >= form.count('\\1')
            assert set(phrase.right).isdisjoint(phrase.wrong)


def test_a_phrase_is_told_otherwise_and_its_twin_says_something_else():
    twins = [phrase_twin('It rises in Spain.', random.Random(n)) for n in range(MANY)]
    assert {t.right for t in twins} >= {'It starts in Spain.', 'It begins in Spain.'}
    assert {t.wrong for t in twins} == {'It ends in Spain.', 'It flows into Spain.'}
    assert 'It rises in Spain.' in {t.right for t in twins}  # a copy stays right


def test_the_same_value_in_another_unit_is_right_and_the_same_digits_are_not():
    text = 'It is 100 metres tall.'
    twins = [change_unit(text, random.Random(n)) for n in range(MANY)]
    assert 'It is about 328 feet tall.' in {t.right for t in twins}
    assert 'It is 100 feet tall.' in {t.wrong for t in twins}
    assert not any('about 328 feet' in t.wrong for t in twins)


def test_numbers_of_different_things_are_exchanged_and_lists_are_not():
    text = 'It has 40 old rooms on 3 floors.'
    exchanged = exchange_numbers(text, random.Random(0))
    assert exchanged.wrong == 'It has 3 old rooms on 40 floors.'
    assert exchange_numbers('It won in 1990 and 1994.', random.Random(0)) is None


@pytest.mark.parametrize(
    'text', ['', 'No numbers.', 'On 3 May it rained.', '5-4', '🙂']
)
def test_a_text_without_quantities_has_no_twins_by_them(text):
    assert quantity_twins(text, random.Random(0)) == []


def test_both_sides_of_a_row_are_dressed_alike():
    for n in range(MANY):
        row = make_row('K.', Twin('k', 'It is old.', 'It is new.'), random.Random(n))
        assert row['h'].replace('old', 'new') == row['wrong']


def test_people_wrote_the_right_one_and_overlap_does_not_tell():
    def rows(right, wrong, source='snli'):
        return [
            {'p': 'a dog runs home', 'h': right, 'y': 0, 'src': source},
            {'p': 'a dog runs home', 'h': wrong, 'y': 2, 'src': source},
        ]

    def right_ones(*texts):
        twins = find_human_twins(rows(*texts), random.Random(0))
        return [twin.right for _, twin in twins]

    fair = 'an animal is moving'
    assert right_ones(fair, 'a dog sleeps at home') == [fair]
    assert right_ones('a dog runs home', 'many cats sleep') == []
    assert right_ones('x y z', 'a dog runs', 'anli') == []
