"""Where our figures stand beside a paper's: its rules, its numbers, its files."""

from collections import Counter
from dataclasses import replace

import pytest

from parlai_q2.claims import Score
from parlai_q2.evaluate.evaluation import Evaluation, evaluate
from parlai_q2.evaluate.find import read_set
from parlai_q2.evaluate.levels import three_way
from parlai_q2.evaluate.papers import PaperBlock, find_blocks, merge
from parlai_q2.evaluate.report import all_tables
from parlai_q2.evaluate.sets import AnnotatedSet
from parlai_q2.evaluate.statistics import nli_class
from parlai_q2.evaluate.tables.annotations import (
    agreement_table,
    fleiss_kappa,
    krippendorff_alpha,
    lengths_table,
)
from parlai_q2.evaluate.tables.responses import class_table, three_way_table
from parlai_q2.evaluate.tables.systems import ratings_table
from parlai_q2.scorers import load_scorer
from tests.evaluate.helpers import BAD, GENERIC, GOOD, annotated, measure
from tests.evaluate.test_tables import CROSSED, SYSTEMS, rows


def with_classes(responses, *probabilities, name='nli'):
    """A measure whose scores have P(entailment), P(neutral), P(contradiction)."""
    measured = measure(responses, [p[0] for p in probabilities], name=name)
    for response, (yes, maybe, no) in zip(responses, probabilities, strict=True):
        parts = {'entailment': yes, 'neutral': maybe, 'contradiction': no}
        score = Score(yes, 'any', parts={**parts, 'generic': 0.0})
        measured.scores[response.pair] = score
    return measured


# Supports 0.45, not enough information 0.30, refutes 0.25: the papers predict supports.
MERGED = (0.45, 0.30, 0.25)


def test_a_detector_on_the_expert_file_stands_beside_the_papers_by_their_rule():
    responses = (annotated(0, GOOD), annotated(1, BAD))
    annotated_set = AnnotatedSet('rome', 'Rome', responses, paper='rome_expert')
    scored = with_classes(responses, MERGED, (0.1, 0.8, 0.1), name='consistency')
    table = class_table(Evaluation(annotated_set, (scored,), rounds=5))
    named = {'class': GOOD, 'scorer': 'consistency, likeliest class'}
    (row,) = rows(table, **named)
    assert row['f1'].mean == 1
    (row,) = rows(table, scorer='consistency', **{'class': GOOD})
    assert row['f1'].mean == 0, 'by its threshold, 0.45 is inconsistent'
    (paper,) = rows(table, scorer='BERT, FEVER + Conv-FEVER', **{'class': BAD})
    assert (paper['precision'], paper['recall'], paper['f1']) == (0.857, 0.046, 0.088)
    (paper,) = rows(table, scorer='ALBERT, VitaminC + FEVER', **{'class': GOOD})
    assert paper['f1'] == 0.678
    assert 'recall' not in paper
    elsewhere = replace(annotated_set, paper='')
    table = class_table(Evaluation(elsewhere, (scored,), rounds=5))
    assert {r['scorer'] for r in table.rows} == {'consistency'}


def test_begins_paper_takes_neutral_for_generic():
    responses = [annotated(0, GOOD), annotated(1, BAD), annotated(2, GENERIC)]
    scored = with_classes(responses, (0.8, 0.1, 0.1), (0, 0.1, 0.9), (0.4, 0.5, 0.1))
    assert [nli_class(scored.score(r)) for r in responses] == [GOOD, BAD, GENERIC]
    metrics = three_way(scored, responses, 5, 0, by_nli=True)
    assert metrics['macro'].mean == metrics['macro_precision'].mean == 1
    # By its labels it knows two classes only.
    assert three_way(scored, responses, 5, 0) is None
    annotated_set = AnnotatedSet('begin', 'BEGIN', tuple(responses), paper='begin')
    table = three_way_table(Evaluation(annotated_set, (scored,), rounds=5))
    assert table.rows[0]['scorer'] == 'nli, neutral as generic'
    (paper,) = rows(table, scorer='T5, BEGIN-Adversarial')
    assert paper['macro'] == 0.463, 'dev stands beside dev'
    (human,) = rows(table, scorer='human')
    assert human['macro_precision'] == 0.972
    test = replace(annotated_set, title='BEGIN test, wow', paper='begin_wow_test')
    table = three_way_table(Evaluation(test, (scored,), rounds=5))
    (paper,) = rows(table, scorer='T5, BEGIN-Adversarial')
    assert (paper['macro_precision'], paper['macro']) == (0.467, 0.459)


def test_macro_metrics_are_those_of_scikit_learn():
    from sklearn.metrics import precision_recall_fscore_support

    labels = [GOOD, GOOD, BAD, BAD, GENERIC, GENERIC, BAD]
    responses = [annotated(i, label) for i, label in enumerate(labels)]
    probabilities = [(0.8, 0.1, 0.1), (0.1, 0.8, 0.1), (0.1, 0.1, 0.8)]
    scored = with_classes(responses, *(probabilities * 3)[:7])
    metrics = three_way(scored, responses, 5, 0, by_nli=True)
    predicted = [nli_class(scored.score(r)) for r in responses]
    expected = precision_recall_fscore_support(labels, predicted, average='macro')
    names = ('macro_precision', 'macro_recall', 'macro')
    assert [metrics[n].mean for n in names] == pytest.approx(expected[:3])


def test_table_11_has_the_lengths():
    annotated_set = AnnotatedSet('q2_wow', 'q', tuple(SYSTEMS), CROSSED, paper='q2_wow')
    table = lengths_table(Evaluation(annotated_set, ()))
    (row,) = rows(table, system='one', responses=GOOD)
    assert (row['count'], row['characters'], row['tokens']) == (2, 10, 2)
    (block,) = find_blocks('q2_wow', 'table_11')
    row = {'system': 'dodeca', 'responses': BAD, 'characters': 70.84, 'tokens': 15.79}
    assert block.rows[0] == row


# Krippendorff 2011's reliability data: three annotators, some missing.
KRIPPENDORFF = (
    (None, None, None, None, None, 3, 4, 1, 2, 1, 1, 3, 3, None, 3),
    (1, None, 2, 1, 3, 3, 4, 3, None, None, None, None, None, None, None),
    (None, None, 2, 1, 3, 4, 4, None, 2, 1, 1, 3, 3, None, 4),
)


def test_krippendorffs_alpha_of_his_example():
    ratings = [[r for r in unit if r is not None] for unit in zip(*KRIPPENDORFF)]
    assert krippendorff_alpha(ratings) == pytest.approx(0.811, abs=5e-4)
    assert krippendorff_alpha([[1], []]) is krippendorff_alpha([[1, 1]]) is None


def test_agreement_is_that_of_the_single_annotations():
    extras = {'annotations': {'uses': [1, 1, 0]}}, {'annotations': {'uses': [0, 0, 0]}}
    responses = tuple(annotated(i, '', extra=m) for i, m in enumerate(extras))
    table = agreement_table(Evaluation(AnnotatedSet('s', 's', responses), ()))
    (row,) = table.rows
    assert (row['question'], row['count']) == ('uses', 2)
    assert row['kappa'] == fleiss_kappa([[1, 1, 0], [0, 0, 0]])


@pytest.mark.parametrize(
    'paper, cited',
    [('begin_wow', [0.7]), ('rome_crowd', ['0.15, 0.21', '0.80, 0.86']), ('', [])],
)
def test_the_papers_agreement_stands_where_the_files_have_none(paper, cited):
    annotated_set = AnnotatedSet('any', 'a', (annotated(0),), paper=paper)
    table = agreement_table(Evaluation(annotated_set, ()))
    assert [row['alpha'] for row in (table.rows if table else ())] == cited


@pytest.fixture
def files(shared, tmp_path):
    """A datapath with the published test files."""
    for task, annotated_set, name in (
        ('rome', 'rome_expert.csv', 'factual_dataset_expert.csv'),
        ('begin', 'begin_test_wow.tsv', 'begin_test_wow.tsv'),
        ('topical_chat_usr', 'tc_usr_data.json', 'tc_usr_data.json'),
    ):
        (tmp_path / task).mkdir()
        data = (shared / 'data' / 'test' / annotated_set).read_bytes()
        (tmp_path / task / name).write_bytes(data)
    return str(tmp_path)


@pytest.mark.real_data('data/test')
@pytest.mark.parametrize(
    'task, counts',
    [
        # Santhanam et al. 2021: 502 and 82. Dziri et al. 2022: 3,601 of two classes.
        ('rome:expert', {GOOD: 502, BAD: 82, GENERIC: 342}),
        ('begin:wow:test', {GOOD: 1392, BAD: 2209, GENERIC: 6}),
        # Honovich et al. 2021: 52 contexts with knowledge, five systems.
        ('topical_chat_usr', {'': 260}),
        ('topical_chat_usr:original', {'': 52}),
    ],
)
def test_the_published_files_have_the_papers_counts(files, task, counts):
    assert Counter(r.label for r in read_set(task, files).responses) == counts


@pytest.mark.real_data('data/test')
def test_uses_knowledge_has_the_papers_significance_and_the_annotators_agreement(files):
    run = evaluate(
        read_set('topical_chat_usr', files),
        {'overlap': load_scorer('overlap')},
        rounds=5,
    )
    (row,) = rows(ratings_table(run), rating='uses_knowledge', source='here')
    assert (row['count'], row['spearman_p']) == (260, '< 0.001')
    (agreed,) = rows(agreement_table(run), question='uses_knowledge')
    assert agreed['count'] == 260
    assert 0.4 < agreed['alpha'] < 1
    assert all_tables(run)


OURS = [{'a': 'x', 'b': '1', 'n': 0}, {'a': 'x', 'b': '2'}, {'a': 'y_Z', 'b': '1'}]


@pytest.mark.parametrize(
    'place, needs, paper, expected',
    [
        ('after', '', [('x', '2'), ('x', '9')], ['x1', 'x2', 'x2 paper', 'y_Z1']),
        ('after', 'n', [('x', '1'), ('x', '2')], ['x1', 'x1 paper', 'x2', 'y_Z1']),
        ('with_first_key', '', [('y z', '5')], ['x1', 'x2', 'y_Z1', 'y_Z5 paper']),
        ('end', '', [('q', '1')], ['x1', 'x2', 'y_Z1', 'q1 paper']),
        ('always', '', [('q', '1')], ['x1', 'x2', 'y_Z1', 'q1 paper']),
        ('own', '', [('x', '1')], ['x1', 'x2', 'y_Z1']),
    ],
)
def test_a_papers_rows_have_their_place_among_ours(place, needs, paper, expected):
    rows = tuple({'a': a, 'b': b, 'paper': True} for a, b in paper)
    block = PaperBlock('t', ('*',), (), place, ('a', 'b'), (), rows, needs)
    merged, used_blocks = merge(OURS, [block], ('a', 'b'))
    assert [f'{r["a"]}{r["b"]}{" paper" * ("paper" in r)}' for r in merged] == expected
    assert used_blocks == [block] * (len(merged) > 3)
    alone, _ = merge([], [block], ('a', 'b'))
    assert len(alone) == (place == 'always')
