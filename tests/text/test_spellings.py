"""What a response only writes otherwise is put as the knowledge has it."""

import pytest

from parlai_q2.text.prepare import prepare
from parlai_q2.text.spellings import respell
from parlai_q2.turns import Span


def read(text, knowledge):
    return respell(prepare(text), knowledge).text


@pytest.mark.parametrize(
    'knowledge, same, others',
    [
        (
            'in World War II',
            ['World War 2', 'WW2', 'WWII', 'WW II', 'Second World War'],
            ['World War 1', 'WWI', 'First World War', 'World War 22', 'WW2x'],
        ),
        ('opens on May 1, but may I? May I?', [], ['May 1', 'May I']),
        ('saw Rocky IV', ['Rocky 4'], ['Rocky 3', 'Rocky 40', 'Rocky 4.5', 'Rocky']),
        (
            'until 31 May 2025',
            ['31.05.2025', '31.5.2025', '2025-05-31', '5/31/2025', '31/05/2025']
            + ['May 31, 2025', '31st of May 2025'],
            ['30.05.2025', '2025-05-13', '5/30/2025', '31.05.2024', '31.05.20251']
            + ['31 June 2025', '1.31.5.2025'],
        ),
        ('until 31.05.2025', ['31 May', 'May 31st', '31 May 2025'], ['31 May 2024']),
        ('on 5 June 2025', ['5.6.2025', '05.06.2025'], ['5/6/2025', '6.5.2025']),
        ('on 5/6/2025', ['05/06/2025'], ['6/5/2025', '5 June 2025', '6.5.2025']),
        ('on 5 May', ['May 5'], ['5.5.2025', 'May 6', '5 May 2025']),
        (
            'at 0800 555 12 34',
            ['0800 5551234', '0800-555-1234', '(0800) 555 1234', '08005551234'],
            ['0800 5551235', '0800 555 12 43', '800 555 1234', '0800 555 12 34 5'],
        ),
        (
            'at +44 20 7946 0958',
            ['+442079460958', '+44-20-7946-0958'],
            ['020 79460958'],
        ),
        # Ranges, sizes, coordinates and dates with times are no telephone numbers.
        ('for 1250-1300', [], ['12.52-13.08', '1250 1300']),
        ('for 12.52-13.08', [], ['1250-1300', '12.50 13.00']),
        ('of 10/20/30/40', [], ['1020-3040', '10 20 30 40']),
        ('of 0.125-0.375', [], ['0125-0375', '01.25-03.75']),
        ('at 48.8606-2.3376', [], ['4.88606-23.376']),
        ('on 05/06/2025 18:00', [], ['0506 2025 18:00']),
        (
            'at www.a.org/faq',
            ['https://www.a.org/faq', 'http://a.org/faq/', 'a.org/faq'],
            ['https://www.a.org/login', 'https://b.org/faq', 'www.a.org', 'x@a.org'],
        ),
        ('take one chopped onion', ['1 onion'], ['1 carrot', '2 onion', '1.1 onion']),
        ('use a lift', ['1 lift'], ['1 lifts', '2 lift']),
        ('at one of the onion fields', [], ['1 onion']),
        ('in room 2, a hall that seats 40', [], ['room 1 seats 40']),
        ('for a bus and a tram', [], ['trams 1 and 2']),
        ('so a shop opens', [], ['room 1 opens', 'chapter 1 describes']),
        ('always 24/7', ['around the clock', '24 hours a day'], ['24 hours']),
        ('always round the clock', ['24/7', '24 hours a day'], ['12 hours a day']),
        ('on weekdays around the clock', [], ['24/7']),
        ('', [], ['31.05.2025', '0800 555 12 34', 'www.a.org', '1 onion', '24/7']),
    ],
)
def test_only_what_means_the_same_is_put_as_the_knowledge_has_it(
    knowledge, same, others
):
    spelling = knowledge.partition(' ')[2].removeprefix('weekdays ')
    if spelling.endswith('onion'):
        spelling = 'one onion'
    assert [read(f'So {text}, yes.', knowledge) for text in same] == [
        f'So {spelling}, yes.'
    ] * len(same)
    texts = [f'So {text}, yes.' for text in others]
    assert [read(text, knowledge) for text in texts] == texts


@pytest.mark.parametrize(
    'text, expected',
    [
        ('until 9 in the evening', 'until 9 pm'),
        ("by nine o'clock in the evening", 'by 9 pm'),
        ('at 1:30 in the morning', 'at 1:30 am'),
        ('at 1 at night', 'at 1 am'),
        ('at ten at night', 'at 10 pm'),
        ('at 13 in the evening', 'at 13 in the evening'),
        ('take 1 in the morning', 'take 1 in the morning'),
        ('by 7 in the morning', 'by 7 in the morning'),
        ('until nine.', 'until 9:00.'),
        ('until 8.', 'until 8.'),
        ('at 8 in the evening', 'at 8 in the evening'),
        ('until 9 on Sundays', 'until 9:00 on Sundays'),
        (
            'until 9.5 km, until 9 May, until 9 men',
            'until 9.5 km, until 9 May, until 9 men',
        ),
    ],
)
def test_an_hour_of_a_part_of_the_day_is_before_or_after_noon(text, expected):
    knowledge = 'Open 9:00 to 21:00 and from 10 p.m. to 1:30. Come by 7 in the morning.'
    assert read(text, knowledge) == expected


def test_a_respelt_text_knows_its_places():
    response = prepare('**Until** 31.05.2025, dear.')
    text = respell(response, 'until 31 May 2025')
    assert text.text == 'Until 31 May 2025, dear.'
    assert text.locate(Span('Until 31 May 2025', 0, 17)).text == 'Until** 31.05.2025'
    assert text.locate(Span('31', 6, 8)).text == '3'
    assert text.locate(Span('dear', 19, 23)).text == 'dear'
