"""
The pages' colours: text that can be read, and areas that are told apart without seeing
red or green.

The simulation is Machado, Oliveira and Fernandes (2009), at full severity.
"""

import itertools
import math
import re

import pytest

from parlai_q2.report.page import resource

SIMULATED = {
    'protanopia': (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    'deuteranopia': (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
}
# Differences in CIELAB below about ten are hard to see side by side.
APART = 25


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


def lab(light):
    r, g, b = light
    x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.0888
    x, y, z = (
        t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z)
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def seen(colour, matrix):
    light = linear(colour)
    mixed = (sum(a * b for a, b in zip(row, light, strict=True)) for row in matrix)
    return [min(max(value, 0.0), 1.0) for value in mixed]


@pytest.mark.parametrize('kind', SIMULATED)
@pytest.mark.parametrize('scheme', [0, 1], ids=['light', 'dark'])
def test_bars_of_labels_are_told_apart_by_everyone(scheme, kind):
    areas = {n: c for n, c in palette(scheme).items() if n.endswith('-area')}
    assert len(areas) == 4
    for one, other in itertools.combinations(areas, 2):
        a, b = (lab(seen(areas[name], SIMULATED[kind])) for name in (one, other))
        assert math.dist(a, b) > APART, (one, other)


@pytest.mark.parametrize('scheme', [0, 1], ids=['light', 'dark'])
def test_bars_stand_out_from_the_page(scheme):
    colours = palette(scheme)
    for name in (n for n in colours if n.endswith('-area')):
        assert contrast(colours[name], colours['paper']) >= 3, name


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
