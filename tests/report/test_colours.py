"""The pages' colours: text that can be read, and bars that stand out."""

import re

import pytest

from parlai_q2.report.page import resource


def palette(scheme):
    """The variables of a colour scheme, as red, green and blue in [0, 1]."""
    light, dark = re.findall(r':root \{(.*?)\}', resource('page.css'), re.S)
    found = re.findall(r'--([\w-]+): #(\w{6})', light + (dark if scheme else ''))
    return {name: [n / 255 for n in bytes.fromhex(value)] for name, value in found}


def linear(colour):
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]


def contrast(one, other):
    """As WCAG 2 defines it."""
    low, high = sorted(
        0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in map(linear, (one, other))
    )
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize('scheme', [0, 1], ids=['light', 'dark'])
def test_words_are_read_on_a_picked_line(scheme):
    rule = r'tr\.picked \{ background: color-mix\(in srgb, var\(--accent\) (\d+)%'
    (share,) = (int(n) / 100 for n in re.findall(rule, resource('page.css')))
    colours = palette(scheme)
    mixed = [
        share * a + (1 - share) * t
        for a, t in zip(colours['accent'], colours['tint'], strict=True)
    ]
    for name in ('good', 'bad', 'doubt', 'soft', 'accent', 'ink'):
        assert contrast(colours[name], mixed) >= 4.5, name
