"""
The model card's figures: their arithmetic, and the shipped models on the published
files.
"""

import csv

import pytest

from parlai_q2.annotated_turn import AnnotatedTurn
from parlai_q2.records import Score
from parlai_q2.zoo.evaluate import evaluate, evaluate_folder


def turn(label):
    return AnnotatedTurn(
        text='',
        topic='',
        knowledge='k',
        passage=('k',),
        gold='',
        response='r',
        label=label,
        episode='e',
        more={},
    )


def test_the_figures_of_four_responses():
    turns = [turn(c) for c in ('consistent', 'consistent', 'inconsistent')]
    scores = [Score(v, 'any') for v in (0.9, 0.4, 0.5)]
    found = evaluate(turns, scores, threshold=0.5)
    assert found['auc'] == pytest.approx(1 / 2)
    assert found['accuracy'] == pytest.approx(2 / 3)  # 0.5 is not above the threshold
    assert found['consistent'] == pytest.approx(0.65)
    assert (found['inconsistent'], found['questions'], found['coverage']) == (0.5, 0, 0)


@pytest.mark.slow
@pytest.mark.real_data('data/dev/q2_wow')
def test_the_shipped_q2_on_a_fifth_of_the_papers_600_responses(shared, tmp_path):
    for path in (shared / 'data' / 'dev' / 'q2_wow').glob('*_*consistent.csv'):
        with open(path, encoding='utf-8', newline='') as stream:
            head, *rows = csv.reader(stream)
        assert len(rows) == 150
        with open(tmp_path / path.name, 'w', encoding='utf-8', newline='') as stream:
            csv.writer(stream).writerows([head, *rows[::5]])
    table = evaluate_folder(tmp_path, 'q2', 'mini')
    assert table['all']['responses'] == 120
    # Of 120 responses an AUC has a standard error of about 0.04.
    assert table['all']['auc'] >= 0.72
    for system in ('dodeca', 'memnet'):
        # As in the paper's Table 2.
        assert table[system]['consistent'] > table[system]['inconsistent'] + 0.15
