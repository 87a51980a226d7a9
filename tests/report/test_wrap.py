import re

import pytest

from parlai_q2.report.visible import columns
from parlai_q2.report.wrap import paint, wrap

ESCAPES = re.compile(r'\x1b\[\d*m')


@pytest.mark.parametrize(
    'runs, width, lines',
    [
        ([], 10, ['']),
        ([('', None)], 10, ['']),
        ([('aa bb cc', None)], 5, ['aa bb', 'cc']),
        ([('aa bb cc', None)], 6, ['aa bb', 'cc']),
        ([('a\n\n b\tc', None)], 10, ['a b c']),
        # A word that changes style inside does not break there.
        ([('aa b', None), ('b', 'strong'), ('b cc', None)], 5, ['aa', 'bbb', 'cc']),
        # Longer than a line.
        ([('abcdefgh', None)], 3, ['abc', 'def', 'gh']),
        ([('x abcdefgh', None)], 3, ['x', 'abc', 'def', 'gh']),
        # Wide characters take two columns and are not cut in half.
        ([('東京東京', None)], 5, ['東京', '東京']),
        ([('東', None)], 1, ['東']),
    ],
)
def test_text_is_wrapped(runs, width, lines):
    assert wrap(runs, width, colour=False) == lines


def test_indents_count():
    lines = wrap([('aa bb cc dd', None)], 8, False, first='> ', rest='  ')
    assert lines == ['> aa bb', '  cc dd']


@pytest.mark.parametrize('width', [1, 7, 24, 80])
def test_colour_changes_nothing_but_colour(width):
    runs = [
        ('one ', None),
        ('two three', 'supported'),
        (' 四 ', 'strong'),
        ('x' * 99, None),
    ]
    plain = wrap(runs, width, False)
    coloured = wrap(runs, width, True)
    assert [ESCAPES.sub('', line) for line in coloured] == plain
    assert '\x1b' not in ''.join(plain)


def test_no_line_is_wider_than_asked():
    runs = [('word ' * 40 + '長い言葉' * 30, 'supported'), ('y' * 200, None)]
    assert all(columns(line) <= 33 for line in wrap(runs, 33, False))


def test_colour_ends_on_every_line():
    for line in wrap([('two words and more', 'contradicted')], 9, True):
        assert line.startswith('\x1b[31m')
        assert line.endswith('\x1b[0m')


def test_runs_of_one_style_share_one_escape():
    assert paint([('a', 'strong'), ('b', 'strong'), ('c', None)], True) == (
        '\x1b[1mab\x1b[0mc'
    )


def test_a_very_long_word_is_wrapped_in_good_time():
    assert len(wrap([('é' * 50_000, None)], 80, False)) == 625
