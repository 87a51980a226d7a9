"""Sentences and windows cover the text, with offsets that slice back."""

import pytest

from parlai_q2.text.sentences import sentences, windows


@pytest.mark.parametrize(
    'text, expected',
    [
        ('  One.  Two! Three?', ['One.', 'Two!', 'Three?']),
        ('it is 3.5 metres tall', ['it is 3.5 metres tall']),
        ('one\ntwo\n\nthree', ['one', 'two', 'three']),
        ('She said "no." He left.', ['She said "no."', 'He left.']),
        # Abbreviations and initials, tokenised too; "i" is a word.
        ('Dr. Smith knew J. Doe. He left.', ['Dr. Smith knew J. Doe.', 'He left.']),
        ('the u . s . army won .', ['the u . s . army won .']),
        ('so do i . you too', ['so do i .', 'you too']),
        ('he sees a dr.\nhe left', ['he sees a dr.', 'he left']),
        # A time may end a sentence, or be followed by a name.
        ('He came at 5 p.m. She left.', ['He came at 5 p.m.', 'She left.']),
        ('at 5 p.m. Monday and 7 a.m. EST', ['at 5 p.m. Monday and 7 a.m. EST']),
        ('at 5 p.m. on Monday', ['at 5 p.m. on Monday']),
        (
            'at 5 p.m. May 3, 6 p.m. London time',
            ['at 5 p.m. May 3, 6 p.m. London time'],
        ),
        ('Open to 6 p.m. Parking is free.', ['Open to 6 p.m.', 'Parking is free.']),
        ('It opens at 9 a.m. Please ring.', ['It opens at 9 a.m.', 'Please ring.']),
        ('To 6 p.m. On Sundays to 5.', ['To 6 p.m.', 'On Sundays to 5.']),
        ('To 6 p.m. "Is it?" he asked.', ['To 6 p.m.', '"Is it?"', 'he asked.']),
        ('It is 5 m. Dogs may swim.', ['It is 5 m.', 'Dogs may swim.']),
        ('J. M. Barrie knew H. G. Wells.', ['J. M. Barrie knew H. G. Wells.']),
        # A number of a tokenised text, and a stop between two.
        ('it is 7 . 8 metres', ['it is 7 . 8 metres']),
        ('in room 7. 8 men came', ['in room 7.', '8 men came']),
        ('it ended . 8 men came', ['it ended .', '8 men came']),
        ('in room 7 . men came', ['in room 7 .', 'men came']),
        ('  ', []),
    ],
)
def test_sentences(text, expected):
    spans = sentences(text)
    assert [s.text for s in spans] == expected
    assert [text[s.start : s.end] for s in spans] == expected


@pytest.mark.parametrize(
    'text, words, expected',
    [
        ('1 2. 3. 4 5. 6 7 8 9.', 5, ['1 2. 3. 4 5.', '6 7 8 9.']),
        ('1 2. 3. 4 5. 6 7 8 9.', 4, ['1 2. 3.', '4 5.', '6 7 8 9.']),
        # A sentence that is too long is cut.
        ('0 1 2 3 4 5 6 7 8 9', 4, ['0 1 2 3', '4 5 6 7', '8 9']),
    ],
)
def test_windows_pack_sentences_up_to_the_limit(text, words, expected):
    assert [w.text for w in windows(text, words)] == expected
