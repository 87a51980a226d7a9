"""Twins for the detector: what changes the meaning, what keeps it, what is learnt."""

import math
import random

import pytest
import torch

from parlai_q2.text.pipeline import pipeline
from parlai_q2.zoo.train.train_classifier import ClassJob
from parlai_q2.zoo.train.train_twins import TwinJob, log_odds, twin_metrics
from parlai_q2.zoo.train.twins.phrases import phrase_twin, phrases
from parlai_q2.zoo.train.twins.quantities import exchanged, of_unit, quantity_twins
from parlai_q2.zoo.train.twins.rows import candidates_of, dressed, taught
from parlai_q2.zoo.train.twins.service import service
from parlai_q2.zoo.train.twins.sources import of_people
from parlai_q2.zoo.train.twins.turned import other_voice, swapped, turned_twins
from parlai_q2.zoo.train.twins.twin import Twin
from tests.toys import ToyNliModel

MANY = 60


def parsed(text):
    return pipeline(lemmas=True)(text)


def swaps(text):
    made = [swapped(parsed(text), random.Random(n)) for n in range(MANY)]
    return {found[1] for found in made if found and found[0] == 'swap'}


def test_an_argument_is_exchanged_with_the_other():
    assert 'the mouse chased The old cat.' in swaps('The old cat chased the mouse.')


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
        for twin in turned_twins(parsed(text), random.Random(n))
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
    assert list(other_voice(parsed(text))) == [(right, wrong)]


def test_every_phrase_has_forms_that_fit_its_pattern():
    for phrase in phrases():
        for form in (*phrase.right, *phrase.wrong):
            assert phrase.pattern.groups >= form.count('\\1')
            assert set(phrase.right).isdisjoint(phrase.wrong)


def test_a_phrase_is_told_otherwise_and_its_twin_says_something_else():
    twins = [phrase_twin('It rises in Spain.', random.Random(n)) for n in range(MANY)]
    assert {t.right for t in twins} >= {'It starts in Spain.', 'It begins in Spain.'}
    assert {t.wrong for t in twins} == {'It ends in Spain.', 'It flows into Spain.'}
    assert 'It rises in Spain.' in {t.right for t in twins}  # a copy stays right


def test_the_same_value_in_another_unit_is_right_and_the_same_digits_are_not():
    twins = [of_unit('It is 100 metres tall.', random.Random(n)) for n in range(MANY)]
    assert 'It is about 328 feet tall.' in {t.right for t in twins}
    assert 'It is 100 feet tall.' in {t.wrong for t in twins}
    assert not any('about 328 feet' in t.wrong for t in twins)


def test_numbers_of_different_things_are_exchanged_and_lists_are_not():
    text = 'It has 40 old rooms on 3 floors.'
    assert exchanged(text, random.Random(0)).wrong == 'It has 3 old rooms on 40 floors.'
    assert exchanged('It won in 1990 and 1994.', random.Random(0)) is None


@pytest.mark.parametrize(
    'text', ['', 'No numbers.', 'On 3 May it rained.', '5-4', '🙂']
)
def test_a_text_without_quantities_has_no_twins_by_them(text):
    assert quantity_twins(text, random.Random(0)) == []


def test_both_sides_of_a_row_are_dressed_alike():
    for n in range(MANY):
        row = dressed('K.', Twin('k', 'It is old.', 'It is new.'), random.Random(n))
        assert row['h'].replace('old', 'new') == row['wrong']


def test_an_answer_under_a_rule_is_filled_in():
    for n in range(MANY):
        assert not {'{', '}'} & set(''.join(service(random.Random(n))))


def test_people_wrote_the_right_one_and_overlap_does_not_tell():
    def rows(right, wrong, source='snli'):
        return [
            {'p': 'a dog runs home', 'h': right, 'y': 0, 'src': source},
            {'p': 'a dog runs home', 'h': wrong, 'y': 2, 'src': source},
        ]

    fair = rows('an animal is moving', 'a dog sleeps at home')
    assert [t.right for _, t in of_people(fair, random.Random(0))] == [fair[0]['h']]
    betrayed = rows('a dog runs home', 'many cats sleep')
    assert not list(of_people(betrayed, random.Random(0)))
    assert not list(of_people(rows('x y z', 'a dog runs', 'anli'), random.Random(0)))


class Words:
    """A tokenizer of letters."""

    pad_token_id, model_input_names = 0, ['input_ids', 'attention_mask']

    def __call__(self, knowledge, responses, **_):
        ids = [
            [ord(c) for c in k + r] for k, r in zip(knowledge, responses, strict=True)
        ]
        return {'input_ids': ids, 'token_type_ids': [[0] * len(i) for i in ids]}


class Fixed(torch.nn.Module):
    """Gives logits by the last letter."""

    def __init__(self, by_letter):
        super().__init__()
        self.by_letter = {ord(c): logits for c, logits in by_letter.items()}

    def forward(self, input_ids, attention_mask):
        last = attention_mask.sum(-1) - 1
        letters = input_ids[torch.arange(len(input_ids)), last].tolist()
        found = torch.tensor([self.by_letter[c] for c in letters])
        return type('Output', (), {'logits': found})


TWIN = {'p': 'k', 'h': 'r', 'wrong': 'w', 'y': 0, 'y_wrong': 2, 'src': 'units'}
APART = {'r': [6.0, 0, 0, 0], 'w': [0, 0, 6.0, 0]}
SAME = {'r': [6.0, 0, 0, 0], 'w': [6.0, 0, 0, 0]}


def test_the_loss_falls_when_twins_come_apart():
    job = TwinJob(Words())
    tensors = job.collate(job.encode([TWIN, {'p': 'k', 'h': 'r', 'y': 0, 'src': 's'}]))
    assert tensors['twins'].tolist() == [[0, 1]] and len(tensors['labels']) == 3
    apart, same = (float(job.loss(Fixed(x), tensors)) for x in (APART, SAME))
    assert apart < 0.3 and same > apart + 2


def test_other_rows_alone_are_learnt_from_as_before():
    rows = [{'p': 'k', 'h': 'r', 'y': 1, 'src': 's', 'z': [1.0, 2.0, 0, 0]}]
    job, plain = TwinJob(Words()), ClassJob(Words())
    model = Fixed(APART)
    expected = plain.text_loss(
        torch.tensor([APART['r']]), plain.collate(plain.encode(rows)), 0.04
    )
    assert torch.isclose(job.loss(model, job.collate(job.encode(rows))), expected)


def test_held_out_twins_are_measured_by_kind():
    job = TwinJob(Words())
    job.valid = job.encode([TWIN, {**TWIN, 'wrong': 'r', 'src': 'time'}])
    found = job.validate(Fixed(APART), 'cpu')
    assert (found['wrong_units'], found['order_units'], found['kept']) == (1, 1, 1)
    assert (found['wrong_time'], found['order_time']) == (0, 0)
    assert twin_metrics(['a'], [[0.9, 0.1]])['score'] == 1


def test_support_leaves_generic_out():
    odds = log_odds(torch.tensor([[1.0, 1.0, -99.0, 50.0]]))
    assert odds.tolist() == [0.0]


def test_candidates_are_taught_by_the_mean_of_the_teachers():
    candidates = ['Five!', 'Six.', 'Five!']
    rows = candidates_of([{'knowledge': 'Bees have\nfive.', 'candidates': candidates}])
    pairs = [(row['p'], row['h']) for row in rows]
    assert pairs == [('bees have five.', 'five!'), ('bees have five.', 'six.')]
    sure, unsure = ToyNliModel({pairs[0]: 'entailment'}), ToyNliModel()
    found = taught(rows, [sure, sure, unsure])
    said = [[round(math.exp(z), 2) for z in row['z']] for row in found]
    assert said == [[0.67, 0.33, 0, 0], [0, 1, 0, 0]]
    assert [row['y'] for row in found] == [0, 1]
