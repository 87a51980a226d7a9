"""What numbers belong to."""

import pytest

from parlai_q2.text.bindings import binds_otherwise

AGREED = 'In 2009, 92 % of the 2,007 users agreed; in 2007 it was 29 %.'


@pytest.mark.parametrize(
    'knowledge, response, expected',
    [
        (AGREED, '92% agreed in 2007.', True),
        (AGREED, '92% agreed in 2009.', False),
        (AGREED, 'In 2007, 29% did.', False),
        (AGREED, '2,007 users were asked in 2009.', False),
        (AGREED, 'Of 2007 users, 92 % agreed.', False),
        ('In 2009 it was 92 %. So it was in 2007.', '92 % in 2007', False),
        ('From 1990 to 1995 it grew by 5 %.', 'In 1995 it grew by 5 %.', False),
        ('It rose from 1.2 % in 2020 to 1.5 % in 2021.', 'In 2021, 1.2 %.', True),
        ('It rose from 1.2 % in 2020 to 1.5 % in 2021.', '1.5 % in 2021.', False),
        ('In 1905 it had 300 men and in 1961 40 men.', '300 men in 1961.', True),
        ('In 1905 it had 300 men and in 1961 40 men.', '300 men in 1905.', False),
        ('Elvis (January 8, 1935 - August 16, 1977) sang.',
         'He was born in 1935 and died on August 16, 1977.', False),
        ('', AGREED, False),
        (AGREED, '', False),
    ],
)  # fmt: skip
def test_what_belongs_to_something_else(knowledge, response, expected):
    assert binds_otherwise(knowledge, response) is expected
    assert binds_otherwise(knowledge, response.lower()) is expected


@pytest.mark.parametrize('text', [AGREED, '1999 is a 1999.', 'A, a'])
def test_a_copy_binds_as_its_knowledge(text):
    assert not binds_otherwise(text, text)
