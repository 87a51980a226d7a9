"""Lists of a response are put in the order of the knowledge."""

import time

import pytest

from parlai_q2.text.lists import reorder_lists

CASES = [
    ('Mondays and Tuesdays.', 'On Tuesdays and Mondays.', 'On Mondays and Tuesdays.'),
    ('By Anna Hill and Tom Reed.', 'Tom Reed and Anna Hill', 'Anna Hill and Tom Reed'),
    ('tea or coffee', 'Coffee or tea?', 'tea or Coffee?'),
    ('red, green, and blue', 'blue, red and green.', 'red, green and blue.'),
    ('a and b. c and d', 'b and a. d and c', 'a and b. c and d'),
    ('cats and dogs', 'Dogs and cats are allowed.', 'cats and Dogs are allowed.'),
    (
        'free entry, a magazine and a discount in the shop',
        'a discount in the shop, a magazine and free entry',
        'free entry, a magazine and a discount in the shop',
    ),
    # The same order, another one that the knowledge has too, or another list.
    ('red, green and blue', 'red, green, and blue', 'red, green, and blue'),
    ('cats and dogs; dogs and cats', 'dogs and cats', 'dogs and cats'),
    ('cats and dogs', 'dogs or cats', 'dogs or cats'),
    ('cats and dogs', 'dogs and owls', 'dogs and owls'),
    ('cats and hotdogs', 'dogs and cats', 'dogs and cats'),
    ('1 and 2', '2 and 1 respectively', '2 and 1 respectively'),
    ('', 'dogs and cats', 'dogs and cats'),
    # Another statement, or one that may be.
    (
        'Tom met Mary and Sue left.',
        'Tom met Sue and Mary left.',
        'Tom met Sue and Mary left.',
    ),
    (
        'Amy as Kate and Lee as Tom',
        'Amy as Lee and Kate as Tom',
        'Amy as Lee and Kate as Tom',
    ),
    ('Boil and peel the eggs.', 'Peel and boil the eggs.', 'Peel and boil the eggs.'),
    ('"War and Peace"', '"Peace and War"', '"Peace and War"'),
    ('A and B cost 2 and 3.', 'A and B cost 3 and 2.', 'A and B cost 3 and 2.'),
    ('Best to worst: a and b', 'Best to worst: b and a', 'Best to worst: b and a'),
    ('Budapest and Vienna', 'Vienna and Budapest', 'Budapest and Vienna'),
    ('In order: fold and dry.', 'In order: dry and fold.', 'In order: dry and fold.'),
    (
        'The steps are: fold, dry.',
        'The steps: dry and fold.',
        'The steps: dry and fold.',
    ),
    ('dogs and cats', ' and ', ' and '),
    (
        'Peel them, boil them and mash them.',
        'Boil them, mash them and peel them.',
        'Boil them, mash them and peel them.',
    ),
    (
        'It stops in York and Leeds',
        'It stops in Leeds and York',
        'It stops in Leeds and York',
    ),
]


@pytest.mark.parametrize('knowledge, response, read', CASES)
def test_lists_have_the_order_of_the_knowledge(knowledge, response, read):
    assert reorder_lists(knowledge, response) == read


def test_long_lists_take_no_time():
    text = 'a, b and c, ' * 5000
    start = time.process_time()
    reorder_lists('c, b and a', text)
    assert time.process_time() - start < 2
