"""From texts and columns of scores to an evaluation, and what a stop costs."""

import pytest

from parlai_q2.cache import ScoreCache
from parlai_q2.claims import Label, Score
from parlai_q2.errors import ConfigError, InputError, RecordError, UnknownNameError
from parlai_q2.evaluate import evaluation as running
from parlai_q2.evaluate.evaluation import evaluate, score_pairs, without_nli
from parlai_q2.evaluate.measures import ScoreTable, read_column
from parlai_q2.evaluate.set_report import SetReport, to_dict, write_set_reports
from parlai_q2.evaluate.sets import AnnotatedResponse, AnnotatedSet, sampled
from parlai_q2.q2.metric import Q2Models
from parlai_q2.q2.settings import Q2Settings
from parlai_q2.scorers.calibrated import CalibratedCachedScorer
from parlai_q2.scorers.overlap import PrecisionScorer
from parlai_q2.scorers.q2 import Q2Scorer
from parlai_q2.turns import Span
from tests.evaluate.helpers import BAD, GOOD, annotated, measure
from tests.toys import ToyNliModel, ToyQuestionAnswerer, ToyQuestionGenerator


class Counting(PrecisionScorer):
    """Counts what it scores, and stops when told to."""

    def __init__(self, stop_after=None):
        super().__init__()
        self.scored, self.stop_after = [], stop_after

    def score_texts(self, examples):
        if self.stop_after is not None and len(self.scored) >= self.stop_after:
            raise KeyboardInterrupt
        self.scored += [(e.knowledge_text, e.response) for e in examples]
        return super().score_texts(examples)


def wow(number, label, system, dialogue):
    return AnnotatedResponse(
        f'knowledge {number}',
        f'{system} says knowledge {number if label == GOOD else "x"}',
        label,
        system=system,
        dialogue=dialogue,
        turn=str(number),
    )


CROSSED = tuple(
    (
        wow(i, GOOD if i % 2 else BAD, 'one', f'd{i % 3}'),
        wow(i, BAD, 'two', f'd{i % 3}'),
    )
    for i in range(8)
)
SET = AnnotatedSet(
    'small', 'a small set', tuple(r for c in CROSSED[:5] for r in c), CROSSED
)


def test_texts_are_scored_once_and_with_all_that_the_tables_need():
    scorer = Counting()
    run = evaluate(SET, {'mine': scorer}, rounds=5)
    assert len(set(scorer.scored)) == len(scorer.scored)
    needed = {r.pair for c in CROSSED if c[0].label == GOOD for r in c}
    assert needed <= set(scorer.scored)
    assert {*run.same_dialogue, *run.random_dialogue} <= set(scorer.scored)
    assert len(run.same_dialogue) == len(run.random_dialogue) == len(SET.responses)


def test_a_second_run_scores_nothing_and_one_that_was_stopped_goes_on(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(running, 'CHUNK', 4)
    stopped, after = Counting(stop_after=8), Counting()

    def run(scorer):
        cached = CalibratedCachedScorer(scorer, store=ScoreCache(tmp_path / 's.sqlite'))
        return evaluate(SET, {'mine': cached}, rounds=5)

    with pytest.raises(KeyboardInterrupt):
        run(stopped)
    first = run(after)
    assert stopped.scored
    assert not set(stopped.scored) & set(after.scored)
    idle = Counting(stop_after=0)
    second = run(idle)
    assert idle.scored == []
    assert to_dict([SetReport(first)]) == to_dict([SetReport(second)])


RED, QUESTION = 'the kite is red', 'Is the kite red or blue?'
PAIRS = [
    ('the kite is red .', RED),
    ('the kite is blue .', RED),
    ('no colours here .', RED),
    ('a b c .', 'wow'),
    ('', RED),
    ('the kite', ''),
    ('the kite is red .', 'I love kites .'),
]


def toy_q2(use_nli):
    generator = ToyQuestionGenerator({'red': [QUESTION]})
    answerer = ToyQuestionAnswerer({QUESTION: ['red', 'blue']})
    nli = ToyNliModel({('a b c .', 'wow'): 'entailment'})

    def find_spans(texts):
        return [[Span('red', 12, 15)] if text == RED else [] for text in texts]

    models = Q2Models(generator, answerer, nli, find_spans)
    return Q2Scorer(models, Q2Settings(use_nli=use_nli, skip_uninformative=True), 'toy')


def test_q2_without_nli_is_taken_from_q2_and_is_what_it_would_have_scored():
    q2 = score_pairs('q2', toy_q2(True), PAIRS)
    alone = score_pairs('q2_f1', toy_q2(False), PAIRS)
    taken = without_nli(q2, 'q2_f1', toy_q2(False))
    assert {alone.scores[p].value for p in PAIRS} == {0, 0.5, 1}
    assert alone.scores[PAIRS[-1]].label == Label.GENERIC
    for pair in PAIRS:
        expected, score = alone.scores[pair], taken.scores[pair]
        for name in ('value', 'label', 'fallback', 'signature'):
            assert getattr(score, name) == getattr(expected, name)
    assert taken.signature == alone.signature
    assert taken.threshold == alone.threshold


def test_a_column_that_fits_in_part_is_taken_and_the_tables_say_so():
    column = measure(SET.responses[:4], [0.1, 0.2, 0.3, 0.4], name='column')
    run = evaluate(SET, {}, [column], rounds=5)
    assert run.measures == (column,)
    report = SetReport(run)
    tables = {table.name: table for table in report.tables}
    assert 'small_table_4' not in tables
    means = tables['small_table_2']
    assert any('column 6' in note for note in means.notes)
    random = [row['column'] for row in means.rows if row['responses'] == 'random']
    assert random
    assert not any(random)
    assert any(row['column'] for row in means.rows)


def test_a_column_of_other_texts_is_refused():
    with pytest.raises(InputError, match='must match those of the set exactly'):
        evaluate(SET, {}, [measure([annotated(99)], [0.5])], rounds=5)


def test_a_set_of_nothing_is_refused():
    with pytest.raises(InputError, match='has no responses'):
        evaluate(AnnotatedSet('empty', 'e', ()), {'mine': Counting()})


def test_a_sample_is_a_part_says_so_and_is_seeded():
    part = sampled(SET, 4, seed=1)
    assert len(part.responses) == 4
    assert set(map(id, part.responses)) <= set(map(id, SET.responses))
    assert part.title == 'a small set, a sample of 4'
    assert len(part.crossed) == 4
    assert part == sampled(SET, 4, seed=1)
    assert sampled(SET, -1, 0) is sampled(SET, 10, 0) is SET


def test_the_written_scores_can_be_read_again_as_a_column(tmp_path):
    run = evaluate(SET, {'mine': Counting()}, rounds=5)
    write_set_reports([SetReport(run)], tmp_path)
    column = read_column(f'{tmp_path}/scores_small.csv:mine')
    crossed = [response for context in SET.crossed for response in context]
    for response in (*SET.responses, *crossed):
        assert column.score(response).value == run.measures[0].score(response).value
    # So the column has every figure that the scorer has.
    again = evaluate(SET, {'mine': Counting()}, [column], rounds=5)
    mine, other = (again.level(m, SET.responses) for m in again.measures)
    assert mine == other


def test_q2_without_nli_of_what_q2_cannot_read_is_not_verifiable():
    pair = ('Bees have five eyes.', 'q')
    unread = Score(0.5, Label.NOT_VERIFIABLE, parts={'language': 1.0})
    q2 = ScoreTable('q2', 'q2|a:b', 0.6, {pair: unread})
    score = without_nli(q2, 'q2_f1', toy_q2(False)).scores[pair]
    assert (score.value, score.label) == (0.5, Label.NOT_VERIFIABLE)


HEADER = 'knowledge,response,mine\n'


def read(tmp_path, text, name='scores.csv', column='mine'):
    path = tmp_path / name
    path.write_text(text)
    return read_column(f'{path}:{column}')


def test_a_column_has_its_texts_threshold_and_signature(tmp_path):
    column = read(tmp_path, HEADER + 'k,r,0.75\nk,"r, too",0\n')
    assert (column.name, column.threshold) == ('mine', 0.5)
    assert [column.scores[p].value for p in (('k', 'r'), ('k', 'r, too'))] == [0.75, 0]
    assert 'file:scores.csv|column:mine|threshold:0.5|sha256:' in column.signature


@pytest.mark.parametrize('cell', ['', 'nan', '-nan', 'NaN', 'None', 'null', 'N/A'])
def test_a_cell_without_a_number_is_left_out(tmp_path, cell):
    column = read(tmp_path, f'{HEADER}k,r,{cell}\nk,s,0.5\nk,s,\n')
    assert list(column.scores) == [('k', 's')]


@pytest.mark.parametrize(
    'rows, error, message',
    [
        ('k,r,high\n', RecordError, "line 2: mine is 'high'"),
        ('k,r,inf\n', RecordError, 'not a finite number'),
        ('k,r,0.1\nk,r,0.2\n', RecordError, 'was 0.1 earlier for the same'),
        ('k,r,\n', InputError, "no score in the column 'mine'"),
        ('', InputError, "no score in the column 'mine'"),
        ('k,r,0.1,0.2\n', RecordError, 'has 4 columns'),
    ],
)
def test_what_is_no_column_of_scores_is_refused(tmp_path, rows, error, message):
    with pytest.raises(error, match=message):
        read(tmp_path, HEADER + rows)


def test_an_unknown_column_is_answered_with_the_nearest_one(tmp_path):
    with pytest.raises(UnknownNameError, match="Did you mean 'mine'"):
        read(tmp_path, HEADER + 'k,r,1\n', column='mien')


def test_a_file_name_can_have_an_equals_sign(tmp_path):
    path = tmp_path / 'rate=1.csv'
    path.write_text(HEADER + 'k,r,1\n')
    assert read_column(f'ours={path}:mine').name == 'ours'


@pytest.mark.parametrize('text', ['scores.csv', ':mine', 'scores.csv:', '=a.csv:b'])
def test_what_names_no_column_is_refused(text):
    with pytest.raises(ConfigError, match='FILE:COLUMN'):
        read_column(text)
