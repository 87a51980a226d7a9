"""The tables' contents, and how they are printed."""

import json
from dataclasses import replace

import pytest

from parlai_q2.claims import Comparison, Score
from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.report import all_tables
from parlai_q2.evaluate.sets import CLASSES, AnnotatedSet
from parlai_q2.evaluate.tables.groups import (
    corpus_table,
    density_table,
    f1_table,
    system_table,
)
from parlai_q2.evaluate.tables.responses import (
    class_table,
    difference_table,
    means_table,
    ranking_table,
    three_way_table,
)
from parlai_q2.evaluate.tables.systems import (
    ablations_table,
    coverage_table,
    random_knowledge_table,
    systems_table,
)
from parlai_q2.intervals import Interval
from parlai_q2.tables import PAPER, Column, Table, render_text
from parlai_q2.turns import Span
from tests.evaluate.helpers import BAD, GENERIC, GOOD, annotated, evaluation, measure
from tests.evidence import asked

TABLE = Table(
    'a_table',
    'A title',
    (
        Column('scorer', 'scorer', repeated=True),
        Column('auc', 'AUC'),
        Column('share', 'share %', 1, 100),
    ),
    (
        {'scorer': 'q2_f1', 'auc': Interval(0.7561, 0.7152, 1.0), 'share': 0.5},
        {'scorer': 'q2_f1', 'source': PAPER, 'share': 1, 'auc': None},
        {'scorer': 'down', 'auc': Interval(-0.3, -0.85, 0.2)},
    ),
    ('A note & more.',),
)


def test_a_wide_table_is_cut_and_repeats_what_its_rows_are():
    text = render_text(TABLE, width=40)
    assert text.count('scorer') == 2
    assert text.count('q2_f1 (paper)') == 2
    assert max(map(len, text.splitlines())) <= 40
    assert text.index('AUC') < text.index('share %')


SYSTEMS = [
    annotated(0, GOOD, system='one', corpus='c'),
    annotated(1, BAD, system='two', corpus='d'),
    annotated(2, GOOD, system='one', corpus='d'),
    annotated(3, BAD, system='two', corpus='c'),
]
CROSSED = ((SYSTEMS[0], SYSTEMS[1]), (SYSTEMS[2], SYSTEMS[3]))


def rows(table, **where):
    return [r for r in table.rows if all(r.get(k) == v for k, v in where.items())]


def test_means_by_system_and_class_with_a_random_sample_of_each():
    table = means_table(evaluation(SYSTEMS, [1, 0.2, 0.6, 0], crossed=CROSSED))
    (consistent,) = rows(table, system='one', responses=GOOD)
    assert consistent['count'] == 2
    assert consistent['mine'].mean == pytest.approx(0.8)
    (empty,) = rows(table, system='two', responses=GOOD)
    assert empty['count'] == 0
    assert empty['mine'] is None
    (sample,) = rows(table, system='two', responses='random')
    assert sample['count'] == 2
    assert sample['mine'].mean == pytest.approx(0.1)
    assert any('seed 0' in note for note in table.notes)


def test_figures_of_the_paper_stand_beside_those_of_its_own_data_alone():
    named = {'q2': [0.9, 0.1, 0.8, 0.3]}
    # A file of the paper's name is not its data.
    for paper, papers in (('q2_wow', 2), ('begin', 0), ('', 0)):
        annotated_set = AnnotatedSet(
            'q2_wow', 'q', tuple(SYSTEMS), CROSSED, paper=paper
        )
        scored = measure(SYSTEMS, named['q2'], name='q2')
        run = Evaluation(annotated_set, (scored,), rounds=5)
        assert len(rows(class_table(run), source=PAPER)) == papers
        assert len(rows(ranking_table(run), source=PAPER)) == papers / 2
        # Table 4's row of q2, and Table 7's two below.
        smaller = 3 if papers else 0
        systems = systems_table(run)
        assert len(rows(systems, source=PAPER)) == smaller
        assert rows(systems, source='here')[0]['contexts'] == 2
        if papers:
            paper, *_ = rows(systems, source=PAPER)
            assert paper['spearman'] == Interval(0.9798, 0.9, 1)
    # The Dodeca and MemNet of the paper are not these systems.
    assert rows(means_table(run), source=PAPER) == []


@pytest.mark.parametrize('fitted_on, notes', [(True, 1), (False, 0)])
def test_tables_say_whose_fit_they_show(fitted_on, notes):
    responses = [annotated(0, GOOD), annotated(1, BAD), annotated(2, GENERIC)]
    annotated_set = AnnotatedSet('begin', 'b', tuple(responses), fitted_on=fitted_on)
    fitted = replace(
        measure(responses, [1, 0, 0.5], name='grounded', labels=['x', 'x', 'generic']),
        signature='grounded|fitted_with:mini|threshold:0.5',
    )
    other = measure(responses, [1, 0, 0.5], name='other')
    run = Evaluation(annotated_set, (fitted, other), rounds=5)
    for table in (class_table, ranking_table, three_way_table):
        fit_notes = [n for n in table(run).notes if n.startswith('Fitted on these')]
        assert len(fit_notes) == notes
        assert all('others: grounded.' in note for note in fit_notes)


def test_three_classes_need_generic_responses_and_a_scorer_that_knows_them():
    responses = [annotated(0, GOOD), annotated(1, BAD), annotated(2, GENERIC)]
    annotated_set = AnnotatedSet('begin', 'b', tuple(responses), paper='begin')
    knows = measure(responses, [1, 0, 0.5], labels=['x', 'x', 'generic'])
    blind = measure(responses, [1, 0, 0.5], name='blind')
    table = three_way_table(Evaluation(annotated_set, (knows, blind), rounds=5))
    (row,) = rows(table, source='here')
    assert row['macro'].mean == 1
    assert len(rows(table, source=PAPER)) == 11
    assert any('blind' in note for note in table.notes)
    assert three_way_table(Evaluation(annotated_set, (blind,), rounds=5)) is None
    assert three_way_table(evaluation(SYSTEMS, [1, 0, 1, 0])) is None


def claim(answered):
    answer = Span('k', 0, 1) if answered else None
    comparison = Comparison.EXACT if answered else Comparison.NO_ANSWER
    return asked('q?', Span('r', 0, 1), answer, comparison, float(answered), 1.0)


def q2_scores(responses, answered, name='q2'):
    measured = measure(responses, [0.5] * len(responses), name=name)
    for response, answers in zip(responses, answered, strict=True):
        claims = tuple(map(claim, answers))
        measured.scores[getattr(response, 'pair', response)] = Score(
            sum(answers) / max(len(answers), 1), 'any', claims, not claims
        )
    return measured


def test_coverage_and_ablations_count_the_questions_of_each_setting():
    annotated_set = AnnotatedSet('q2_wow', 'q', tuple(SYSTEMS), CROSSED, paper='q2_wow')
    asked = [[True, True], [False], [True], []]
    run = Evaluation(
        annotated_set,
        (q2_scores(SYSTEMS, asked),),
        (q2_scores(SYSTEMS, [[True]] * 4, 'greedy'),),
        rounds=5,
    )
    table = coverage_table(run)
    (ours,) = rows(table, setting='q2', source='here', system='two', label=BAD)
    # Of its two responses one has a question, and the other none.
    assert (ours['questions'], ours['coverage'], ours['q2'].mean) == (1, 1 / 2, 0)
    (greedy,) = rows(table, setting='greedy', system='one', label=GOOD)
    assert (greedy['questions'], greedy['coverage']) == (2, 1)
    assert rows(table, setting='greedy', source=PAPER) == []
    ablation = ablations_table(run).rows
    assert ablation[0]['roc_auc'].mean == 1
    assert ablation[1]['roc_auc'].mean == 1 / 2
    assert ablation[0]['one cons.'].mean == 1
    (row,) = rows(means_table(run), responses=BAD, system='two', source='here')
    assert (row['questions'], row['no_answer']) == (1, 1)
    assert coverage_table(evaluation(SYSTEMS, [1, 0, 1, 0])) is None


def test_other_knowledge_has_its_means_and_no_answers():
    pairs = (('other', 'response 0'), ('other', 'response 1'))
    annotated_set = AnnotatedSet('q2_wow', 'q', tuple(SYSTEMS), paper='q2_wow')
    scored = q2_scores([*SYSTEMS, *pairs], [[True]] * 4 + [[False], [True, False]])
    column = measure(SYSTEMS, [1, 0, 1, 0], name='column')
    run = Evaluation(annotated_set, (scored, column), same_dialogue=pairs, rounds=5)
    table = random_knowledge_table(run)
    (other,) = rows(table, knowledge='same dialogue', source='here')
    assert other['q2'].mean == pytest.approx(0.25)
    assert other['no_answer'] == 2 / 3
    ours, paper = rows(table, knowledge='random dialogue')
    assert (ours['count'], ours['q2'], ours['no_answer']) == (0, None, None)
    assert (paper['q2'], paper['no_answer']) == (0.0, 0.9961)
    # A column knows nothing of texts that were made up.
    assert 'column' not in [c.key for c in table.columns]
    assert random_knowledge_table(evaluation(SYSTEMS, [1, 0, 1, 0])) is None


def test_groups_by_system_corpus_and_density():
    run = evaluation(SYSTEMS, [1, 0.2, 0.6, 0])
    table = corpus_table(run)
    (row,) = rows(table, corpus='c')
    assert (row['count'], row['roc_auc'].mean, row[GOOD].mean) == ('1/1', 1, 1)
    densities = [row['density'] for row in density_table(run).rows]
    assert densities == ['low', 'medium', 'high']
    assert system_table(evaluation(SYSTEMS[:1], [1])) is None
    # Responses of one density stay together, in the lowest group.
    low, *high_rows = density_table(
        evaluation([annotated(1), annotated(2)], [1, 1])
    ).rows
    assert low['count'] == '2'
    assert {row['count'] for row in high_rows} == {'0'}


def test_f1_by_corpus_by_hand():
    run = evaluation(
        [
            *(annotated(n, (GOOD, BAD)[n % 2], corpus='two') for n in range(4)),
            *(annotated(n, CLASSES[n % 3], corpus='three') for n in range(4, 7)),
        ],
        [0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0.9],
    )
    # In "two", both consistent ones and one inconsistent one are called consistent.
    (row,) = rows(f1_table(run), corpus='two')
    assert (row[GOOD].mean, row[BAD].mean) == (pytest.approx(0.8), pytest.approx(2 / 3))
    assert row['macro'] is None
    assert f1_table(evaluation([annotated(1, corpus='one')], [1])) is None


def test_f1_by_corpus_has_three_classes_where_a_corpus_and_a_scorer_have_them():
    responses = [annotated(n, CLASSES[n % 3], corpus='abc'[n % 2]) for n in range(12)]
    labels = [GENERIC if r.label == GENERIC else 'any' for r in responses]
    values = [float(r.label == GOOD) for r in responses]
    annotated_set = AnnotatedSet('small', 'a small set', tuple(responses))
    three = measure(responses, values, labels=labels)
    two = measure(responses, values, name='two')
    table = f1_table(Evaluation(annotated_set, (three, two), rounds=5))
    assert [row['macro'] and row['macro'].mean for row in table.rows] == [
        1,
        1,
        None,
        None,
    ]


def test_every_table_of_a_set_of_one_class_can_be_printed():
    for labels in ([GOOD] * 3, [BAD] * 3, [GENERIC] * 3, [''] * 3):
        responses = [annotated(i, label) for i, label in enumerate(labels)]
        for table in all_tables(evaluation(responses, [0.1, 0.5, 0.9])):
            assert table.title in render_text(table, 1000)
            json.dumps(table.to_dict(), allow_nan=False)


def test_differences_are_those_of_the_figures_and_paired():
    responses = [annotated(i, (GOOD, BAD)[i % 2]) for i in range(40)]
    good = [0.9 if i % 2 == 0 else 0.1 for i in range(40)]
    # Wrong on one in four of each class.
    worse = [1 - v if i % 8 in (0, 1) else v for i, v in enumerate(good)]
    first, second = measure(responses, good, name='first'), measure(responses, worse)
    same = measure(responses, good, name='same')
    annotated_set = AnnotatedSet('small', 'a small set', tuple(responses))
    run = Evaluation(annotated_set, (first, second, same), rounds=200)
    table = difference_table(run)
    mine, equal = table.rows
    assert table.title == 'Differences from first, a small set'
    assert mine['accuracy'].mean == pytest.approx(-0.25)
    ours, theirs = (run.level(m, responses) for m in (second, first))
    assert mine['roc_auc'].mean == pytest.approx(
        ours['roc_auc'].mean - theirs['roc_auc'].mean
    )
    assert mine['accuracy'].low < mine['accuracy'].mean < mine['accuracy'].high < 0
    # Paired: two equal scorers do not differ in any resample.
    assert equal['accuracy'] == equal['roc_auc'] == (0, 0, 0)


def test_differences_are_of_responses_that_both_have():
    responses = [annotated(i, (GOOD, BAD)[i % 2]) for i in range(8)]
    # Which is of neither class, and has no part in it.
    generic = annotated(50, GENERIC)
    first = measure([*responses, generic], [1, 0] * 4 + [0], name='first')
    part = measure([*responses[:4], generic], [1, 0, 0, 1, 1], name='part')
    other = measure([annotated(99)], [0.5], name='other')
    unbounded = replace(measure(responses, [5, 2] * 4, name='far'), threshold=None)
    annotated_set = AnnotatedSet('small', 'a small set', (*responses, generic))
    run = Evaluation(annotated_set, (first, part, other, unbounded), rounds=20)
    first_row, far = difference_table(run).rows
    assert (first_row['scorer'], first_row['accuracy'].mean) == ('part', -0.5)
    assert far['accuracy'] is None
    assert far['roc_auc'].mean == 0
    assert difference_table(Evaluation(annotated_set, (first,), rounds=5)) is None


def test_a_table_as_text():
    title, _, *lines = render_text(TABLE).splitlines()
    assert title == 'A title'
    assert lines[-1] == 'A note & more.'
    assert [line.split() for line in lines[2:5]] == [
        ['q2_f1', '0.756', '[0.715,', '1.000]', '50.0'],
        ['q2_f1', '(paper)', '-', '1'],
        ['down', '-0.300', '[-0.850,', '0.200]', '-'],
    ]
    assert len({len(line) for line in lines[:5]}) == 1, 'the columns are aligned'
