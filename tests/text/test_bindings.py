"""What numbers and names belong to."""

import pytest

from parlai_q2.text.bindings import binds_otherwise

AGREED = 'In 2009, 92 % of the 2,007 users agreed; in 2007 it was 29 %.'
MARIA = 'Maria, a nurse, lives with her brother Paul, a carpenter.'
MASS = 'Acceleration is the rate of change of velocity. Mass measures inertia.'
DESKS = 'For fines call 0113 4960182. To book rooms call 0113 4960199 or rooms@ab.org.'
DOCTORS = (
    'Dr. Ada Lim heads radiology. Her number is 0221 470011. '
    'Dr. Tom Beck heads surgery; call 0221 470022.'
)
HOSTS = 'Faults: status.ab.org. Bills: my.ab.org.'
POOL = 'The trail is 9 km long and climbs 700 m. The pool is 45 m long, 12 m wide.'


@pytest.mark.parametrize(
    'knowledge, response, expected',
    [
        (AGREED, '92% agreed in 2007.', True),
        ('She was mayor from 1996 to 2008.', 'She became mayor in 2008.', True),
        ('She was mayor from 1996 to 2008.', 'She became mayor in 1996.', False),
        ('The war lasted from 1914 to 1918.', 'It ended in 1914.', True),
        ('The war lasted from 1914 to 1918.', 'It ended in 1918.', False),
        ('The war lasted from 1914 to 1918.', 'It began in 1914, ended 1918.', False),
        ('Wars: 1914 to 1918, 1918 to 1921.', 'One ended in 1918.', False),
        ('From 1914 to 1918, and ended in 1914.', 'It ended in 1914.', False),
        ('It had 1200 to 1500 seats.', 'It started with 1500 seats.', False),
        ('A bus leaves every half hour.', 'It leaves every hour.', True),
        ('A bus leaves every half hour.', 'It leaves every half hour.', False),
        ('Every half hour, at night every hour.', 'It leaves every hour.', False),
        ('They meet every 2 weeks.', 'They meet every week.', True),
        ('They meet every 2 weeks.', 'It is open every day.', False),
        ('Every two hours, hourly on weekends.', 'A train leaves every hour.', False),
        ('Checked every 5 years; an annual audit.', 'It is audited every year.', False),
        (DOCTORS, "Dr. Lim's number is 0221 470011.", False),
        (DOCTORS, 'Surgery has the number 0221 470011.', True),
        (DESKS, 'For fines, call 0113 4960199.', True),
        (DESKS, 'For fines, call 0113 4960182.', False),
        (DESKS, 'Rooms: +44 113 4960182', True),
        (DESKS, 'Call 0113 4960199.', False),
        (DESKS, 'To book, write to rooms@ab.org.', False),
        (HOSTS, 'See my.ab.org for faults.', True),
        (HOSTS, 'See my.ab.org for a bill.', False),
        ('Faults: status.ab.org, bills: my.ab.org', 'See my.ab.org for faults.', False),
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
        (MARIA, 'Maria is a carpenter.', True),
        (MARIA, 'maria works as a carpenter', True),
        (MARIA, 'Paul is a carpenter.', False),
        (MARIA, 'Maria is a sister.', False),
        (f'{MARIA} Maria became a carpenter, too.', 'Maria is a carpenter.', False),
        ('Kim is a dentist and Lee is a pilot.', 'Kim was a pilot.', True),
        ('Oslo, the capital, and Bergen, a port on the west coast, grow.',
         'Oslo is a port on the west coast.', True),
        (MASS, 'Acceleration is the rate of change of mass.', True),
        (MASS, 'Acceleration is the rate of change of the velocity.', False),
        (MASS, 'Acceleration is the rate of change of speed.', False),
        (MASS, 'Mass measures inertia.', False),
        ('Open 10 a.m. to 6 p.m., the bar to 1 a.m.', 'It opens at 10 a.m.', False),
        (POOL, 'The trail is 700 m long.', True),
        (POOL, 'It is 45 m wide.', False),  # the detector reads it as unknown
        (POOL, 'It climbs 700 m, and is 9 km long.', False),
        (POOL, '', False),
        ('', POOL, False),
    ],
)  # fmt: skip
def test_what_belongs_to_something_else(knowledge, response, expected):
    assert binds_otherwise(knowledge, response) is expected
    assert binds_otherwise(knowledge, response.lower()) is expected


@pytest.mark.parametrize('text', [AGREED, MARIA, MASS, POOL, '1999 is a 1999.', 'A, a'])
def test_a_copy_binds_as_its_knowledge(text):
    assert not binds_otherwise(text, text)
