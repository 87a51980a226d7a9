import pytest

from parlai_q2.text.visible import one_line, visible


@pytest.mark.parametrize(
    'text, expected',
    [
        ('plain', 'plain'),
        ('a\x1b[31mb', 'a\\x1b[31mb'),  # would turn the terminal red
        ('a\rb', 'a\\rb'),  # would write over the line
        ('a\r\nb\tc', 'a\nb\tc'),  # ordinary line ends and tabs stay
        ('\x7f\x9b', '\\x7f\\x9b'),  # delete, and the one-byte escape sequence
        ('a\u202eb\u2066c', 'a\\u202eb\\u2066c'),  # would show it in another order
        ('a\u200bb\ufeff', 'a\\u200bb\\ufeff'),  # nothing to see
        ('\ud800', '\\ud800'),  # half a character
        ('héé 東京 שלום', 'héé 東京 שלום'),
        ('\U0001f468\u200d\U0001f469', '\U0001f468\u200d\U0001f469'),  # joined emoji
        ('می\u200cخواهم', 'می\u200cخواهم'),  # Persian needs the non-joiner
    ],
)
def test_acting_characters_are_shown_as_escapes(text, expected):
    assert visible(text) == expected


def test_one_line_has_no_line_breaks():
    assert one_line('  a\n\n b\tc\x07 ') == 'a b c\\x07'
