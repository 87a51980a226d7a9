"""Made-up facts: every form can be filled, and what is held out is not taught."""

import itertools
import random
import re

import pytest

from parlai_q2.zoo.train.twins.facts import (
    FACTS,
    SERVICE,
    Noun,
    Number,
    fact_twin,
    fill_slots,
    load_facts,
)

MANY = 400
ALL = [*load_facts(), *load_facts(held_out=True), *load_facts(file=SERVICE)]


def test_every_form_of_a_fact_can_be_filled():
    for fact in ALL:
        assert set(fact.forms) == {'K', 'R', 'W'}, fact
        assert set(fact.forms['R']).isdisjoint(fact.forms['W']), fact
        for n in range(20):
            values = fill_slots(fact.slots, random.Random(n))
            for form in itertools.chain(*fact.forms.values()):
                sentence = form.format(**values)
                assert not re.search(r'[{}]|namespace|  ', sentence), sentence


def test_numbers_are_in_the_order_that_a_slot_asks_for():
    for n in range(MANY):
        values = fill_slots(('n>m:10-90', 'd=n-m', 'a<b:1-5'), random.Random(n))
        assert values['n'] > values['m']
        assert values['a'] < values['b']
        assert values['d'] == values['n'] - values['m']


def test_held_out_facts_are_of_every_kind_and_not_taught():
    taught, held_out = load_facts(), load_facts(held_out=True)
    assert {f.kind for f in held_out} <= {f.kind for f in taught}
    assert {f.forms['K'] for f in held_out}.isdisjoint(f.forms['K'] for f in taught)


@pytest.mark.parametrize('file', [FACTS, SERVICE])
def test_a_fact_has_a_right_and_a_wrong_sentence(file):
    for n in range(MANY):
        knowledge, twin = fact_twin(random.Random(n), file=file)
        assert knowledge
        assert twin.right.lower() != twin.wrong.lower()
        assert knowledge[0] == knowledge[0].upper()


@pytest.mark.parametrize(
    'value, spec, expected',
    [
        (Number(42), 'w', 'forty-two'),
        (Number(1887), 'c', '19th'),
        (Number(1887), 'dec', '1880s'),
        (Number(4820), 'under', '4,000'),
        (Number(15), 'h', '3 pm'),
        (Number(12), 'h', '12 pm'),
        (Number(4820), ',', '4,820'),
        (Number(25), 'frac', 'a quarter'),
        (Noun('owl'), 'A', 'An owl'),
        (Noun('lamp'), 'the', 'the lamp'),
    ],
)
def test_a_slot_prints_its_forms(value, spec, expected):
    assert format(value, spec) == expected
