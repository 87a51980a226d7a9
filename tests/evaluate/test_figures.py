"""
The figures: what is drawn, that text stays text, and what is said without matplotlib.
"""

import re
import sys

import pytest

from parlai_q2.errors import InputError
from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.figures import all_figures
from parlai_q2.evaluate.sets import AnnotatedSet
from tests.evaluate.helpers import BAD, GENERIC, GOOD, annotated, evaluation, measure

RESPONSES = [
    annotated(i, (GOOD, BAD, GENERIC)[i % 3], system=f's{i % 2}', corpus=f'c{i % 4}')
    for i in range(24)
]
VALUES = [(i * 7 % 24) / 24 for i in range(24)]
CROSSED = tuple(
    (a, b)
    for a, b in zip(RESPONSES, RESPONSES[1:])
    if {a.label, b.label} == {GOOD, BAD}
)
PNG = b'\x89PNG\r\n\x1a\n'


def text_of(path):
    return re.findall(r'<text[^>]*>([^<]+)</text>', path.read_text())


def test_a_set_with_everything_has_all_figures(tmp_path):
    given = evaluation(RESPONSES, VALUES, crossed=CROSSED)
    written = all_figures(given, tmp_path / 'one')
    again = all_figures(given, tmp_path / 'two')
    for path, same in zip(written, again, strict=True):
        start = path.read_bytes()[:100]
        assert start.startswith(PNG) if path.suffix == '.png' else b'<?xml' in start
        assert path.read_bytes() == same.read_bytes(), path.name
    # Text stays text, and says of how many responses a figure is.
    for name, words in {
        'precision_recall': {'Recall', f'Finding {GOOD} responses (8 of 16)'},
        'by_class': {'mine', f'{GOOD} (n = 8)', f'{GENERIC} (n = 8)'},
        'by_density': {'low', 'medium', 'high'},
        'by_corpus': {'c0', 'c1', 'c2', 'c3'},
        'by_system': {'s0', 's1', '12'},
    }.items():
        assert words <= set(text_of(tmp_path / 'one' / f'small_{name}.svg')), name
    assert len(written) == 10


@pytest.mark.parametrize('labels', [[GOOD] * 3, [GENERIC] * 3, [''] * 3])
def test_a_set_that_cannot_be_ranked_has_what_is_left(tmp_path, labels):
    responses = [annotated(i, label) for i, label in enumerate(labels)]
    written = all_figures(evaluation(responses, [0.1, 0.5, 0.5]), tmp_path)
    assert {p.stem for p in written} == (
        {'small_by_class', 'small_by_density'} if labels[0] else set()
    )


def test_matplotlib_is_loaded_by_figures_alone():
    import subprocess

    code = (
        'import sys, parlai_q2.evaluate.report, parlai_q2.evaluate.figures\n'
        'print("matplotlib" in sys.modules, "scipy" in sys.modules)'
    )
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert done.stdout.split() == ['False', 'False']


def test_a_figure_that_cannot_be_written_is_said_so(tmp_path):
    (tmp_path / 'file').write_text('')
    with pytest.raises(InputError, match='Check --outdir'):
        all_figures(evaluation(RESPONSES, VALUES), tmp_path / 'file')


@pytest.mark.filterwarnings('error')
@pytest.mark.parametrize('scored', ['the unlabelled', 'all the same'])
def test_a_measure_without_a_range_is_no_obstacle(tmp_path, scored):
    unlabelled = [annotated(50, ''), annotated(51, '')]
    responses = (*RESPONSES, *unlabelled)
    if scored == 'the unlabelled':
        other = measure(unlabelled, [3, 9], name='other', threshold=None)
    else:
        other = measure(responses, [7] * len(responses), name='other', threshold=None)
    mine = measure(responses, [*VALUES, 0.1, 0.2])
    given = AnnotatedSet('small', 'a small set', responses)
    written = all_figures(Evaluation(given, (mine, other), rounds=20), tmp_path)
    assert tmp_path / 'small_by_class.png' in written
    drawn = 'other' in text_of(tmp_path / 'small_by_class.svg')
    assert drawn == (scored == 'all the same')
