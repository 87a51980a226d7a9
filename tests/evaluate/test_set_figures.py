"""What figures show, that text stays text, and what needs matplotlib."""

import itertools
import re

import numpy as np
import pytest

from parlai_q2.errors import InputError
from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.set_figures import all_figures
from parlai_q2.evaluate.sets import AnnotatedSet
from parlai_q2.figures.curves import bins, calibration_error
from parlai_q2.intervals import grouped_share, share_interval
from tests.evaluate.helpers import BAD, GENERIC, GOOD, annotated, evaluation, measure

RESPONSES = [
    annotated(i, (GOOD, BAD, GENERIC)[i % 3], system=f's{i % 2}', corpus=f'c{i % 4}')
    for i in range(24)
]
VALUES = [(i * 7 % 24) / 24 for i in range(24)]
CROSSED = tuple(
    (a, b)
    for a, b in itertools.pairwise(RESPONSES)
    if {a.label, b.label} == {GOOD, BAD}
)
PNG = b'\x89PNG\r\n\x1a\n'


def text_of(path):
    return re.findall(r'<text[^>]*>([^<]+)</text>', path.read_text())


@pytest.mark.filterwarnings('error')
def test_a_set_with_everything_has_all_figures(tmp_path):
    unlabelled = [annotated(50, ''), annotated(51, '')]
    responses = (*RESPONSES, *unlabelled)
    # Measures without a range are no obstacle.
    none = measure(unlabelled, [3, 9], name='none', threshold=None)
    same = measure(responses, [7] * len(responses), name='same', threshold=None)
    mine = measure(responses, [*VALUES, 0.1, 0.2])
    small = AnnotatedSet('small', 'a small set', responses, crossed=CROSSED)
    run = Evaluation(small, (mine, none, same), rounds=20)
    written = all_figures(run, tmp_path / 'one')
    for path in written:
        start = path.read_bytes()[:100]
        assert start.startswith(PNG) if path.suffix == '.png' else b'<?xml' in start
    # Text stays text, and says of how many responses a figure is.
    for name, words in {
        'precision_recall': {'Recall', f'Finding {GOOD} responses (8 of 16)'},
        'by_class': {'mine', 'same', f'{GOOD} (n = 8)', f'{GENERIC} (n = 8)'},
        'by_density': {'low', 'medium', 'high'},
        'density': {'c0, 6', '31', f'{GENERIC} (n = 8)'},
        'f1_by_corpus': {'F1', 'mine', 'c0', f'{BAD} (n = 8)'},
        'by_corpus': {'c0', 'c1', 'c2', 'c3'},
        'by_system': {'s0', 's1', '12'},
        'roc': {'ROC, 16 responses'},
        'reliability': {'Share of consistent responses'},
        'histograms': {'mine', 'Share of the class', f'{GENERIC} (n = 8)'},
    }.items():
        assert words <= set(text_of(tmp_path / 'one' / f'small_{name}.svg')), name
    assert len(written) == 20
    assert 'none' not in text_of(tmp_path / 'one' / 'small_by_class.svg')


@pytest.mark.parametrize('labels', [[GOOD] * 3, [GENERIC] * 3, [''] * 3])
def test_a_set_that_cannot_be_ranked_has_what_is_left(tmp_path, labels):
    responses = [annotated(i, label) for i, label in enumerate(labels)]
    run = evaluation(responses, [0.1, 0.5, 0.5])
    written = all_figures(run, tmp_path)
    # Drawn again, they are the same to the byte.
    again = all_figures(run, tmp_path / 'again') if labels[0] == GOOD else written
    for path, same in zip(written, again, strict=True):
        assert path.read_bytes() == same.read_bytes(), path.name
    assert {p.stem for p in written} == (
        {f'small_{n}' for n in ('by_class', 'by_density', 'density', 'histograms')}
        if labels[0]
        else set()
    )


def test_a_figure_that_cannot_be_written_is_said_so(tmp_path):
    (tmp_path / 'file').write_text('')
    with pytest.raises(InputError, match='Check --outdir'):
        all_figures(evaluation(RESPONSES, VALUES), tmp_path / 'file')


@pytest.mark.parametrize('right, count', [(0, 4), (3, 4), (4, 4), (80, 100)])
def test_shares_have_wilsons_interval(right, count):
    from scipy.stats import binomtest

    low, high = binomtest(right, count).proportion_ci(method='wilson')
    assert share_interval(right, count)[1:] == pytest.approx((low, high), abs=1e-4)


@pytest.mark.parametrize(
    'hits, groups, size',
    [
        # Alone: 0.8 * 0.2 / 9 = 0.01778. In pairs: the squares of 4 times 0.4 and of
        # -1.6 add up to 3.2; times 5 / 4, by 10 squared: 0.04.
        ('1111111100', '0011223344', 10 * 0.01778 / 0.04),
        # Groups that differ less than chance tell no more than single responses.
        ('1010101010', '0011223344', 10),
        ('1111111100', '0123456789', 10),
        ('1111111100', '0000000000', 10),
        # Without variance, each group counts once.
        ('1111111111', '0011223344', 5),
    ],
)
def test_a_share_of_responses_in_groups(hits, groups, size):
    found = grouped_share([*map(int, hits)], [*map(int, groups)])
    expected = share_interval(hits.count('1'), len(hits), size)
    assert found == pytest.approx(expected, abs=1e-4)


def test_a_reliability_diagram_by_hand():
    values = np.array([0.02, 0.08, 0.55, 1.0])
    rows = bins(values, np.array([False, True, True, True]))
    assert [(b.size, b.value, b.share) for b in rows] == [
        (2, pytest.approx(0.05), 0.5),
        (1, 0.55, 1),
        (1, 1.0, 1),
    ]
    assert calibration_error(rows) == pytest.approx((2 * 0.45 + 0.45 + 0) / 4)
    assert calibration_error([]) is None


def test_densities_and_f1_are_drawn_where_they_belong():
    from matplotlib.figure import Figure

    from parlai_q2.figures.distributions import draw_densities, draw_points
    from parlai_q2.intervals import Interval

    roc_axes, right = Figure().subplots(1, 2)
    # Half of the consistent responses copy nothing, half extra than the axis has.
    draw_densities(roc_axes, {GOOD: [0, 0, 200, 500], BAD: []}, (1.0,), 'wow')
    outline = roc_axes.patches[-1].get_xy()
    assert sorted({round(float(y), 2) for _, y in outline}) == [0, 0.5]
    assert {float(x) for x, y in outline if y == 0.5} == {0, 0.3, 5.7, 6}
    assert roc_axes.lines[0].get_xdata()[0] == 1  # log2(1 + 1)
    draw_points(right, ['a', 'b'], {('b', GOOD): Interval(0.5, 0.4, 0.7)}, 'mine')
    (line,) = [one for one in right.lines if one.get_marker() == 'o']
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([1], [0.5])
