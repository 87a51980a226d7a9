"""Addresses, telephone numbers and codes."""

import pytest

from parlai_q2.text.addresses import has_unknown_address
from parlai_q2.text.agreement import unsupported_amounts


@pytest.mark.parametrize(
    'response, expected',
    [
        ('See https://ab.org/support.', False),
        ('See https://ab.org/help.', True),
        ('Write to INFO@ab.org!', False),
        ('Write to info@bc.org!', True),
        ('Read /docs/faq/.', False),
        ('It is R-11 or r11.', False),
        ('It is R-12.', True),
        ('In the 19th century, and/or so.', False),
        ('Type O+, and a B.', False),
        ('Type O-.', True),
        ('Write to info@ab org.', True),
        ('It is on ab.org.', False),
        ('It is on www.ab.org.', False),
        ('It is on bc.org, or my.faq.example.', True),
        ('Ask ab.org/help.', True),
        ('It ended.then it began, e.g. at Node.js, 1.2.3.', False),  # no addresses
    ],
)
def test_addresses_and_codes_are_known_as_a_whole(response, expected):
    knowledge = 'https://ab.org/support, info@ab.org, /docs/faq; R-11, type O+ and B-'
    assert has_unknown_address(knowledge, response) is expected


@pytest.mark.parametrize(
    'response, expected',
    [
        ('030/1234567', False),
        ('+49 30 123 45 67', False),
        ('(030) 1234567', False),
        ('+30 1234567', True),
        ('0049 30 1234567', False),
        ('+49 (0)30 1234567', False),
        ('030/1234576', True),
        ('030 1234 568', True),
        ('0.1234576, 2010-2012, 12 345 678, 03.05.2025', False),  # no telephones
    ],
)
def test_a_telephone_number_has_the_digits_of_the_knowledge(response, expected):
    assert has_unknown_address('Call 030 1234567.', response) is expected


@pytest.mark.parametrize(
    'knowledge, response, expected',
    [
        ('Seat A12 is by the window.', 'It is seat A1.', True),
        ('The fee is 12 euros for 5 people.', 'Take line R5.', True),
        ('LH 4512 leaves at 9.', 'It is LH4512.', False),
        ('It supports Wi-Fi 6.', 'It supports WiFi6.', False),
        ('Apollo\n11 landed.', 'Apollo-11 landed.', False),
        ('C++17 is taught.', 'C++ is taught.', False),
        ('The iPhone5s is small.', 'The iPhone5 is small.', True),
        ('Form V5C is needed.', 'Form V6C is needed.', True),
        ('C++ is taught.', 'C+ is taught.', True),
        ('The A380 is large.', 'A380s are large.', False),
        (
            'Children under 12 go free.',
            'Under-12s go free, since the mid-1990s.',
            False,
        ),
    ],
)
def test_a_code_is_no_part_of_another(knowledge, response, expected):
    assert has_unknown_address(knowledge, response) is expected


@pytest.mark.parametrize('response', ['Call 30 1234 567.', 'Call 1234567.'])
def test_digits_of_a_telephone_number_are_no_amounts(response):
    assert not unsupported_amounts('Call 030 1234567.', 'Call 030 1234567.')
    assert unsupported_amounts('Call 030 1234567.', response)


@pytest.mark.parametrize(
    'knowledge, response',
    [
        ('Call 0800 111 222 24 hours a day.', 'Call 0800 111 222, 24 hours a day.'),
        ('Phone: 0113 496 0182 (9 am to 5 pm).', 'Phone us from 9 am to 5 pm.'),
        ('For tickets call 020 7946 0000 (2 euros).', 'It is 020 7946 0000, 2 euros.'),
        ('Sales rose by +1 200 000 units.', 'They rose by 1 200 000 units.'),
        ('It is due by 05 01 2021.', 'It is due by 05/01/2021.'),
        ('Her customer number is 00458213.', 'Her customer number is 458213.'),
    ],
)
def test_what_only_looks_like_a_telephone_number(knowledge, response):
    assert not has_unknown_address(knowledge, response)
    assert not unsupported_amounts(knowledge, response)
