"""Each change makes a wrong response of a right one, and touches nothing else."""

import re

from parlai_q2.perturb.entity_swap import Entity
from parlai_q2.perturb.hard_negatives import Grounded, HardNegatives, read_grounded

JIM, STEVE = Entity('Jim Carrey', 'PERSON'), Entity('Steve Carell', 'PERSON')
BEES = Grounded(
    'Jim Carrey met Steve Carell in 2003, and the film was a success.',
    'Jim Carrey then met Steve Carell in 2003 and the film was a success',
    (JIM, STEVE, Entity('2003', 'DATE')),
)
ANN = Entity('Ann Lee', 'PERSON')
OTHER = Grounded('Jim Carrey is from Canada.', 'Jim Carrey', (ANN,))
LIST = Grounded('A b', 'with Ann Lee and Bob Ray', (ANN, Entity('Bob Ray', 'PERSON')))


def maker(*grounded):
    return HardNegatives([BEES, OTHER, *grounded], seed=3)


def test_an_entity_gives_way_to_another_of_its_kind_that_is_not_in_the_knowledge():
    knowledge, response = maker().entity(BEES)
    assert knowledge == BEES.knowledge
    right = ('Jim Carrey', 'Steve Carell')
    assert response in [BEES.response.replace(name, 'Ann Lee') for name in right]


def test_a_year_stays_a_year_and_is_not_in_the_knowledge():
    _, response = maker().number(BEES)
    (year,) = re.findall(r'\d+', response)
    assert year != '2003'
    assert 1980 < int(year) < 2030
    assert response == BEES.response.replace('2003', year)
    # The 5 of another number stays, and so does a number that no other can replace.
    parts = Grounded('It has 5 parts.', 'Since 2015, it has 5 parts.', ())
    assert '2015' in maker().number(parts)[1]
    zero = Grounded('They won 3 to 0 in round 1.', 'The other team had 0 goals.', ())
    assert maker().number(zero) is None


def test_two_entities_change_places():
    assert maker().swap(BEES)[1] == (
        'Steve Carell then met Jim Carrey in 2003 and the film was a success'
    )


def test_a_list_stays_true_in_any_order_and_is_not_swapped():
    assert maker().swap(LIST) is None


def test_other_knowledge_about_the_same_thing_lacks_some_of_what_is_said():
    assert maker().same_topic(BEES) == (OTHER.knowledge, BEES.response)
    assert maker().same_topic(Grounded('k', 'r', (JIM,))) is None


def test_the_rarest_change_comes_first_and_nothing_fits_everything():
    negatives = maker()
    kinds = {negatives.perturb(BEES)[0] for _ in range(5)}
    assert kinds == {'entity', 'number', 'swap', 'negation', 'same_topic'}
    assert negatives.perturb(Grounded('k', 'nothing here', ())) is None


def test_a_turn_that_says_more_than_its_knowledge_is_not_taken():
    knowledge = 'Steven Spielberg directed Jaws in 1975.'
    pairs = [
        (knowledge, 'Steven Spielberg directed Jaws'),
        (knowledge, 'Steven Spielberg directed Jaws in 1976'),
        (knowledge, 'Jaws is such a scary and lovely film'),
    ]
    assert [g.response for g in read_grounded(pairs)] == [pairs[0][1]]
