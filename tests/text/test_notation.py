"""What people write in several ways is written in one."""

import pytest

from parlai_q2.text.prepare import prepare, prepare_passage


@pytest.mark.parametrize(
    'text, written',
    [
        ('Open 9.00-17.30.', 'Open 9:00-17:30.'),
        ('It leaves at 23.40, arrives 8.05.', 'It leaves at 23:40, arrives 8:05.'),
        ('Open from 9 to 17.30.', 'Open from 9 to 17:30.'),
        ('Come between 9.30 and 5.', 'Come between 9:30 and 5.'),
        ('It rose by 8.30 % to 9.20.', ''),
        ('Cakes at 2.50 each, 2.50-3.50 euros, or £2.50-3.00.', ''),
        ('From 2.50 to 4.50 m; a grade between 3.20 and 3.52.', ''),
        ('See version 2.10.00 and section 8.30.', ''),
        ('Bake at 180C, or at 350 F.', 'Bake at 180 °C, or at 350 °F.'),
        ('We live at 12C Mill Lane, in flat 12C.', ''),
        ('It takes 1h 45m or 2h30min.', 'It takes 1 h 45 min or 2 h 30 min.'),
        ('At 19h30 or 9 h.', ''),
        ('It is 12 pounds and 5 pence.', 'It is £12.05.'),
        ('It is 12 pounds and 5 people came.', ''),
    ],
)
def test_other_numbers_stay(text, written):
    for read in (prepare, prepare_passage):
        prepared = read(text)
        assert prepared.text == (written or text)
        assert prepared.original == text
