"""Knowledge that denies nothing does not deny what it never mentions."""

import pytest

from parlai_q2.text.denials import denies_unmentioned

GARAGE = 'The garage costs 22 euros. Bags can be stored at the desk.'


@pytest.mark.parametrize(
    'knowledge, statement',
    [
        (GARAGE, "We don't have a gym."),
        (GARAGE, 'No, there is no gym.'),
        (GARAGE, 'The hotel has no restaurant.'),
        (GARAGE, 'Breakfast is not included.'),
        (GARAGE, 'Smoking is not allowed in the rooms.'),
        (GARAGE, 'You cannot cancel your booking.'),
        ('Parking in front of the shop is free.', 'There is no parking near the shop.'),
        ('Wi-Fi is free in all rooms.', 'Wi-Fi is not available in the rooms.'),
        ('Returns are free of charge.', 'We do not accept returns.'),
        (GARAGE, "There is no charging station, and lessons aren't offered."),
    ],
)
def test_denials_that_the_knowledge_does_not_make_are_found(knowledge, statement):
    assert denies_unmentioned(knowledge, statement)


@pytest.mark.parametrize(
    'knowledge, statement, why',
    [
        (GARAGE, 'We have a gym.', 'nothing is denied'),
        (GARAGE, 'There is no free garage.', 'the garage is mentioned'),
        (GARAGE, "I don't have a garden.", 'it is about the speaker'),
        (GARAGE, "I don't have any information on a gym.", 'it declines'),
        ('The lift is broken. There is no lift.', 'We have no elevator.', 'a synonym'),
        ('We take cash only.', "We don't accept cards.", 'in other words'),
        ('Returns are free of charge.', 'There is no fee for returns.', 'free'),
        ('Parking is free.', 'There is no need for a permit.', 'nothing is missing'),
    ],
)
def test_other_statements_are_left_to_the_detector(knowledge, statement, why):
    assert not denies_unmentioned(knowledge, statement), why
