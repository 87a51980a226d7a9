"""The crowd's tables of "Rome was built in 1776": one row for each generator."""

from dataclasses import replace

import pytest

from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.papers import find_blocks
from parlai_q2.evaluate.sets import AnnotatedSet
from parlai_q2.evaluate.tables.generators import (
    cells_table,
    generators_table,
    papers_cells_table,
)
from parlai_q2.evaluate.tables.responses import likeliest_table
from parlai_q2.tables import PAPER, render_text
from tests.evaluate.helpers import BAD, GENERIC, GOOD, annotated, measure
from tests.evaluate.test_papers import MERGED, with_classes
from tests.evaluate.test_tables import rows


def generated(number, factual, hallucination, size='small', knowledge='gt'):
    verifiable = factual is not None
    extra = {'decoding': 'beam', 'verifiable': verifiable, 'factual': factual}
    extra['hallucination'] = hallucination
    label = (GOOD if factual >= 0.5 else BAD) if verifiable else GENERIC
    return annotated(number, label, corpus=knowledge, system=size, extra=extra)


RESPONSES = (
    generated(0, 1.0, False),
    generated(1, 0.5, True),
    generated(2, None, None),
    generated(3, 0.0, True, size='xlarge', knowledge='knn'),
)
CROWD = AnnotatedSet('rome_crowd', 'Rome', RESPONSES, paper='rome_crowd')
SMALL = {'size': 'small', 'source': 'here'}


def test_f_and_h_of_each_generator_stand_beside_the_papers():
    table = generators_table(Evaluation(CROWD, (), rounds=5))
    (small,) = rows(table, **SMALL)
    assert (small['count'], small['verifiable']) == (2, 2 / 3)
    assert (small['factual'].mean, small['hallucination'].mean) == (0.75, 0.5)
    (paper,) = rows(table, size='small', source=PAPER)
    assert (paper['count'], paper['factual'], paper['hallucination']) == (
        64,
        0.78,
        0.172,
    )
    (together,) = rows(table, knowledge='gt', size='all')
    assert together['count'] == 2
    assert together is table.rows[-2]
    own_table = generators_table(Evaluation(replace(CROWD, paper=''), (), rounds=5))
    assert not rows(own_table, source=PAPER), 'a file of the same form has no paper'


def test_f1_of_both_classes_by_generator():
    scored = measure(RESPONSES, [0.9, 0.1, 0.9, 0.2])
    table = cells_table(Evaluation(CROWD, (scored,), rounds=5))
    (small,) = rows(table, **SMALL)
    assert small['count'] == '2/0'
    assert small[f'mine {GOOD}'].mean == pytest.approx(2 / 3)
    (large,) = rows(table, size='xlarge')
    assert large[f'mine {BAD}'].mean == 1
    assert 'mine incons.' in render_text(table)


def papers_rows(table):
    (block,) = find_blocks('rome_crowd', table)
    return block.rows


def cell_of(row):
    return tuple(row[key] for key in ('knowledge', 'decoding', 'size'))


def test_the_papers_detectors_are_a_table_of_their_own():
    (small, *_) = papers_cells_table(Evaluation(CROWD, ())).rows
    assert (small[f'4 {GOOD}'], small[f'12 {BAD}']) == (0.867, 0.26)
    assert small['source'] == PAPER


def test_the_share_of_not_enough_info_is_told_before_classes_are_merged():
    responses = (generated(0, 1.0, False), generated(1, 0.0, True))
    annotated_set = AnnotatedSet('rome', 'Rome', responses, paper='rome_crowd')
    scored = with_classes(responses, MERGED, (0.1, 0.7, 0.2))
    two = measure(responses, [1, 0], name='two classes')
    table = likeliest_table(Evaluation(annotated_set, (scored, two), rounds=5))
    (merged_row,) = rows(table, scorer='nli', **{'class': 'all'})
    assert (merged_row['entailment'], merged_row['neutral'], merged_row['merged']) == (
        0.5,
        0.5,
        1.0,
    )
    assert not rows(table, scorer='two classes')


@pytest.mark.real_data('data/test/rome_crowd')
def test_the_crowds_files_give_the_papers_tables(shared, tmp_path):
    from parlai_q2.evaluate.find import read_set

    (tmp_path / 'rome').mkdir()
    for part in ('gt', 'knn', 'dpr'):
        data = (shared / 'data' / 'test' / 'rome_crowd' / f'{part}.csv').read_bytes()
        (tmp_path / 'rome' / f'{part}.csv').write_bytes(data)
    crowd = read_set('rome:crowd', str(tmp_path))
    labels = [r.label for r in crowd.responses]
    assert (labels.count(GOOD), labels.count(BAD)) == (1618, 251)
    table = generators_table(Evaluation(crowd, (), rounds=5))
    ours = {
        tuple(r[k] for k in ('knowledge', 'decoding', 'size')): r
        for r in table.rows[::2]
    }
    for theirs in papers_rows('generators'):
        cell = cell_of(theirs)
        # The paper cuts most numbers off where we round; one cell has lost a row.
        assert ours[cell]['factual'].mean == pytest.approx(theirs['factual'], abs=0.011)
        made_up = ours[cell]['hallucination'].mean
        assert made_up == pytest.approx(theirs['hallucination'], abs=0.003)
        lost = theirs['count'] - ours[cell]['count']
        assert lost == (cell == ('knn', 'nucleus', 'small'))
