"""Where our figures stand beside a paper's: its rules, its numbers, its files."""

from collections import Counter

import pytest

from parlai_q2.claims import Score
from parlai_q2.evaluate.evaluation import Evaluation, evaluate
from parlai_q2.evaluate.levels import nli_class, three_way
from parlai_q2.evaluate.set_reader import read_set
from parlai_q2.evaluate.set_report import all_tables
from parlai_q2.evaluate.tables import PaperBlock, find_blocks, merge
from parlai_q2.evaluate.tables.annotations import agreement_table, krippendorff_alpha
from parlai_q2.evaluate.tables.systems import generators_table, ratings_table
from parlai_q2.scorers import load_scorer
from tests.evaluate.helpers import BAD, GENERIC, GOOD, annotated, measure
from tests.evaluate.test_tables import rows


def with_classes(responses, *probabilities, name='nli'):
    """A measure whose scores have P(entailment), P(neutral), P(contradiction)."""
    measured = measure(responses, [p[0] for p in probabilities], name=name)
    for response, (yes, maybe, no) in zip(responses, probabilities, strict=True):
        parts = {'entailment': yes, 'neutral': maybe, 'contradiction': no}
        score = Score(yes, 'any', parts={**parts, 'generic': 0.0})
        measured.scores[response.pair] = score
    return measured


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
        ('rome:expert:hallucination', {GOOD: 470, BAD: 114, GENERIC: 342}),
        ('begin:wow:test', {GOOD: 1392, BAD: 2209, GENERIC: 6}),
        # Honovich et al. 2021: 52 contexts with knowledge, five systems.
        ('topical_chat_usr', {'': 260}),
        ('topical_chat_usr:original', {'': 52}),
    ],
)
def test_the_published_files_have_the_papers_counts(files, task, counts, caplog):
    assert Counter(r.label for r in read_set(task, files).responses) == counts
    assert ("'3.0' on line 400" in caplog.text) == task.startswith('rome')


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


@pytest.mark.real_data('data/test/rome_crowd')
def test_the_crowds_files_give_the_papers_tables(shared, tmp_path):
    (tmp_path / 'rome').mkdir()
    for part in ('gt', 'knn', 'dpr'):
        data = (shared / 'data' / 'test' / 'rome_crowd' / f'{part}.csv').read_bytes()
        (tmp_path / 'rome' / f'{part}.csv').write_bytes(data)
    crowd = read_set('rome:crowd', str(tmp_path))
    labels = [r.label for r in crowd.responses]
    assert (labels.count(GOOD), labels.count(BAD)) == (1618, 251)
    table = generators_table(Evaluation(crowd, (), rounds=5))
    keys = ('knowledge', 'decoding', 'size')
    ours = {tuple(r[key] for key in keys): r for r in table.rows[::2]}
    (block,) = find_blocks('rome_crowd', 'generators')
    for theirs in block.rows:
        cell = tuple(theirs[key] for key in block.keys)
        # The paper cuts most numbers off where we round; one cell has lost a row.
        assert ours[cell]['factual'].mean == pytest.approx(theirs['factual'], abs=0.011)
        made_up = ours[cell]['hallucination'].mean
        assert made_up == pytest.approx(theirs['hallucination'], abs=0.003)
        lost = theirs['count'] - ours[cell]['count']
        assert lost == (cell == ('knn', 'nucleus', 'small'))


OURS = [{'a': 'x', 'b': '1', 'n': 0}, {'a': 'x', 'b': '2'}, {'a': 'y', 'b': '1'}]


@pytest.mark.parametrize(
    'place, keys, needs, paper, expected',
    [
        ('after', 'ab', '', [('x', '2'), ('x', '9')], ['x1', 'x2', 'x2 paper', 'y1']),
        ('after', 'ab', 'n', [('x', '1'), ('x', '2')], ['x1', 'x1 paper', 'x2', 'y1']),
        ('after', 'a', '', [('x', '5')], ['x1', 'x2', 'x5 paper', 'y1']),
        ('end', 'ab', '', [('q', '1')], ['x1', 'x2', 'y1', 'q1 paper']),
        ('always', 'ab', '', [('q', '1')], ['x1', 'x2', 'y1', 'q1 paper']),
        ('own', 'ab', '', [('x', '1')], ['x1', 'x2', 'y1']),
    ],
)
def test_a_papers_rows_have_their_place_among_ours(place, keys, needs, paper, expected):
    rows = tuple({'a': a, 'b': b, 'paper': True} for a, b in paper)
    block = PaperBlock('t', ('*',), place, keys, (), rows, needs=needs)
    merged, used_blocks = merge(OURS, [block])
    assert [f'{r["a"]}{r["b"]}{" paper" * ("paper" in r)}' for r in merged] == expected
    assert used_blocks == [block] * (len(merged) > 3)
    alone, _ = merge([], [block])
    assert len(alone) == (place == 'always')
