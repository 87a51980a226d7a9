"""Entity swap, by hand."""

import random

import pytest

from parlai_q2.perturb.entity_swap import (
    Entity,
    index_entities,
    replace_entity,
    swap_entity,
)

PARIS, ROME = Entity('Paris', 'GPE'), Entity('Rome', 'GPE')
CURIE, NEWTON = Entity('Marie Curie', 'PERSON'), Entity('Newton', 'PERSON')
US, USSR = Entity('the United States', 'GPE'), Entity('the USSR', 'GPE')


def swaps(texts, entities, response, known_entities):
    """All that a swap makes of texts, over many draws."""
    index = index_entities(known_entities)
    swapped = [
        swap_entity(texts, entities, response, index, random.Random(seed))
        for seed in range(40)
    ]
    return {f.texts for f in swapped if f}


def test_a_shared_entity_becomes_another_one_of_its_type():
    texts = ['Marie Curie lived in Paris.']
    known_entities = [CURIE, PARIS, ROME, NEWTON]
    assert swaps(texts, [CURIE, PARIS], 'she lived in paris', known_entities) == {
        ('Marie Curie lived in Rome.',)
    }


def test_it_is_replaced_wherever_it_stands_in_all_texts():
    texts = ['Paris! I love PARIS.', 'Not Parisians, but Paris itself.']
    assert swaps(texts, [PARIS, PARIS], 'Paris is nice', [PARIS, ROME]) == {
        ('Rome! I love Rome.', 'Not Parisians, but Rome itself.')
    }


@pytest.mark.parametrize(
    'response, known_entities, why',
    [
        ('it is nice there', [PARIS, ROME], 'nothing is shared'),
        ('Paris', [PARIS, NEWTON], 'there is none of its type'),
        ('Paris', [PARIS, Entity('Paris, France', 'GPE')], 'it is a part of the other'),
        ('Paris or Rome', [PARIS, ROME], 'the response speaks of the other too'),
        ('Parisians', [PARIS, ROME], 'a part of a word is not shared'),
    ],
)
def test_nothing_is_swapped_when(response, known_entities, why):
    assert swaps(['In Paris.'], [PARIS], response, known_entities) == set(), why


def test_what_stands_there_already_is_taken_only_where_there_is_no_other():
    milan = Entity('Milan', 'GPE')
    texts, response = ['From Paris to Rome.'], 'from Paris'
    assert swaps(texts, [PARIS, ROME], response, [PARIS, ROME, milan]) == {
        ('From Milan to Rome.',)
    }
    assert swaps(texts, [PARIS, ROME], response, [PARIS, ROME]) == {
        ('From Rome to Rome.',)
    }


def test_articles_go_with_their_entities():
    assert replace_entity('In the United States.', US, PARIS) == 'In Paris.'
    assert replace_entity('In Paris.', PARIS, USSR) == 'In the USSR.'
    assert replace_entity('The United States won.', US, USSR) == 'The USSR won.'
    # The article belongs to the album here.
    year, other = Entity('1969', 'DATE'), Entity('1971', 'DATE')
    assert replace_entity('the 1969 album', year, other) == 'the 1971 album'
    assert replace_entity('The 1969 album', year, other) == 'The 1971 album'


def test_a_possessive_is_no_part_of_a_name():
    elvis = Entity("Elvis Presley's", 'PERSON')
    assert (elvis.name, elvis.bare_text) == ('Elvis Presley', 'Elvis Presley')
    assert Entity('the Beatles’', 'ORG').name == 'Beatles'
    assert Entity("the world's", 'GPE').bare_text == 'the world'
    assert replace_entity("Newton's laws", NEWTON, elvis) == "Elvis Presley's laws"
    assert swaps(['As Newton said'], [NEWTON], 'Newton', [NEWTON, elvis]) == {
        ('As Elvis Presley said',)
    }


@pytest.mark.parametrize(
    'type_, name, other',
    [
        ('EVENT', 'World Cups', 'the World Cup'),
        ('DATE', 'the 1960s', '1960'),
        ('PERSON', 'Bob Marley', 'Robert Nesta Marley'),
        ('ORG', 'The New York Times', 'NYT'),
        ('GPE', 'United States of America', 'the U.S.A.'),
    ],
)
def test_another_name_for_the_same_thing_is_no_replacement(type_, name, other):
    name, other = Entity(name, type_), Entity(other, type_)
    for old, new in ((name, other), (other, name)):
        assert swaps([old.text], [old], old.text, [old, new]) == set()
