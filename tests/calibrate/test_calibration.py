"""The command, the file it writes, and the scorer that reads it."""

import json
import math

import pytest

from parlai_q2 import Example, load_scorer
from parlai_q2.calibrate.calibration import calibrate, describe, read_labelled
from parlai_q2.calibrate.fit import read_target
from parlai_q2.claims import NOT_VERIFIABLE_VALUE, Label, Score
from parlai_q2.cli.commands import run_command
from parlai_q2.errors import ConfigError, InputError, MissingPackageError, RecordError
from parlai_q2.scorers.base import Scorer, label_of
from parlai_q2.scorers.calibrated import CalibratedCachedScorer, shifted
from parlai_q2.signature import assumed
from tests.files import read_lines, write_lines

FIGURES = ('curves', 'reliability', 'histograms')
KNOWLEDGE = 'bees have five eyes and they live in hives with a queen'


class Guess(Scorer):
    """Reads the probability from the response, under a prior of a half."""

    name = 'guess'
    settings = {'from': 'the text'}
    prior = 0.5

    def score_texts(self, examples):
        scores = []
        for example in examples:
            value = float(example.response.split()[-1])
            generic = example.response.startswith('wow')
            label = Label.GENERIC if generic else label_of(value, self.threshold)
            signature = str(self.signature)
            scores.append(Score(value, label, signature=signature))
        return scores


class ReadsEnglish(Guess):
    """The same, but it does not read Spanish."""

    def is_foreign(self, text):
        return 'tienda' in text and 'shop' not in text


def labelled_lines(count=60):
    """Responses of which the more words are made up the more are wrong."""
    lines = []
    for n in range(count):
        wrong = n % 3 == 0
        # Every tenth is labelled against its words.
        made_up = 5 if wrong != (n % 10 == 0) else 1
        response = ' '.join(
            [*KNOWLEDGE.split()[:6], *[f'x{n}{k}' for k in range(made_up)]]
        )
        label = 'inconsistent' if wrong else 'consistent'
        lines.append(
            {'knowledge': f'{KNOWLEDGE} {n}', 'response': response, 'label': label}
        )
    return lines


def test_the_command_writes_what_score_reads(tmp_path):
    infile = str(write_lines(tmp_path / 'labelled.jsonl', *labelled_lines()))
    mine = str(tmp_path / 'mine.json')
    options = ['--measure', 'precision', '--outfile', mine]
    written = run_command('calibrate', '--infile', infile, *options)
    description = describe(written)
    assert '40 consistent and 20 inconsistent pairs, target accuracy' in description
    assert 'held-out pairs: accuracy 0.900' in description
    calibration = written['calibration']
    # Six of eleven words are known, or six of seven; any threshold between will do.
    assert 6 / 11 <= calibration['threshold'] < 6 / 7
    assert (calibration['prior'], calibration['shift']) == (None, None)
    low, high = written['threshold_interval']
    assert low <= calibration['threshold'] <= high
    assert written['before']['accuracy'] < written['held_out']['accuracy']

    out = tmp_path / 'scored.jsonl'
    options = ['--measure', 'precision', '--outfile', str(out)]
    run_command('score', '--infile', infile, *options, '--measure-calibration', mine)
    rows = read_lines(out)
    right = [row['label'] == row['given_label'] for row in rows]
    assert sum(right) / len(right) == 0.9
    assert 'calibration:mine.json@' in rows[0]['signature']
    assert f'threshold:{calibration["threshold"]}' in rows[0]['signature']


def test_the_command_draws_what_it_fitted(tmp_path, without_package):
    infile = str(write_lines(tmp_path / 'labelled.jsonl', *labelled_lines()))
    options = ['--infile', infile, '--outfile', str(tmp_path / 'mine.json')]
    options += ['--measure', 'precision', '--outdir', str(tmp_path / 'drawn')]
    run_command('calibrate', *options)
    names = {path.name for path in (tmp_path / 'drawn').iterdir()}
    drawn = {f'{n}.{e}' for n in FIGURES for e in ('png', 'svg')}
    assert names == {*drawn, 'calibration.html'}
    curves = (tmp_path / 'drawn' / 'curves.svg').read_text()
    assert 'ROC, 60 pairs' in curves
    assert 'Finding inconsistent' in curves
    page = (tmp_path / 'drawn' / 'calibration.html').read_text()
    assert page.count('<img ') == 3
    assert 'held-out pairs: accuracy 0.900' in page
    without_package('matplotlib')
    with pytest.raises(MissingPackageError, match='plots'):
        run_command('calibrate', *options)


def guesses():
    """80 % are consistent; the guesses are fair for a half."""
    rows = [(0.5, True)] * 8 + [(0.5, False)] * 2
    rows += [(0.9, True)] * 36 + [(0.9, False)] + [(0.1, True)] * 4 + [(0.1, False)] * 9
    examples = [
        Example(f'About {n}.', f'r{n} {value}') for n, (value, _) in enumerate(rows)
    ]
    return examples, [truth for _, truth in rows]


@pytest.fixture(scope='module')
def mine(tmp_path_factory):
    examples, truth = guesses()
    written = calibrate(Guess(), examples, truth, read_target('accuracy')).written
    path = tmp_path_factory.mktemp('calibration') / 'mine.json'
    path.write_text(json.dumps(written))
    return str(path), written


def test_probabilities_assume_the_prior_of_the_pairs(mine):
    path, written = mine
    assert written['calibration']['prior'] == 0.8
    scorer = CalibratedCachedScorer(Guess(), path)
    assert (scorer.prior, Guess.prior) == (0.8, 0.5)
    assert '|prior:0.8|' in str(scorer.signature)
    examples, _ = guesses()
    values = [score.value for score in scorer.score(examples)]
    assert sum(values) / len(values) == pytest.approx(0.8, abs=1e-3)
    description = 'Scores assume that 80 % of all responses are consistent.'
    assert assumed(scorer.prior) == description
    assert assumed(None) == ''


def test_pairs_without_a_verdict_are_left_out_and_counted(mine):
    examples, truth = guesses()
    target = read_target('accuracy')
    alone = dict(mine[1])
    extra_examples = [Example(f'More {n}.', f'wow {n} 0.4') for n in range(7)]
    extended_truth = [*truth, *[True] * 7]
    report = calibrate(
        Guess(), [*examples, *extra_examples], extended_truth, target, generic=3
    ).written
    left_out = {'generic_by_people': 3, 'no_verdict_by_scorer': 7}
    assert report.pop('left_out') == left_out
    assert alone.pop('left_out') == dict.fromkeys(left_out, 0)
    assert report == alone
    text = describe({**report, 'left_out': left_out})
    assert 'left out: 3 that people call generic, 7 that the scorer calls' in text


def test_labels_follow_the_threshold_and_generic_ones_stay(mine):
    path, written = mine
    shift, at = (written['calibration'][n] for n in ('shift', 'threshold'))
    scorer = CalibratedCachedScorer(Guess(), path)
    responses = ['a 0.9', 'b 0.05', 'wow 0.4', ' ']
    high, low, generic, blank = scorer.score([Example('k', r) for r in responses])
    assert high.value == shifted(0.9, shift) > at
    assert (high.label, low.label) == (Label.CONSISTENT, Label.INCONSISTENT)
    assert shifted(0.4, shift) > NOT_VERIFIABLE_VALUE
    assert (generic.label, generic.value) == (Label.GENERIC, NOT_VERIFIABLE_VALUE)
    assert blank.label == Label.NOT_VERIFIABLE
    assert high.signature == str(scorer.signature)
    strict = CalibratedCachedScorer(Guess(), path, threshold=0.999)
    assert strict.score([Example('k', 'a 0.9')])[0].label == Label.INCONSISTENT


def test_scores_that_hardly_differ_are_told_apart(tmp_path):
    examples = [Example(f'About {n}.', f'r{n} {0.5 + n / 1e6}') for n in range(40)]
    truth = [n >= 20 for n in range(40)]
    path = tmp_path / 'mine.json'
    written = calibrate(Guess(), examples, truth, read_target('recall=1')).written
    path.write_text(json.dumps(written))
    scores = CalibratedCachedScorer(Guess(), str(path)).score(examples)
    assert [score.label == Label.CONSISTENT for score in scores] == truth


def test_a_calibration_of_another_scorer_is_refused(mine):
    path, _ = mine
    with pytest.raises(ConfigError, match=r"for the scorer 'guess'.*Name guess"):
        load_scorer('precision', calibration=path)
    other = Guess()
    other.settings = {'from': 'the air'}
    with pytest.raises(ConfigError, match="from 'the text', now 'the air'"):
        CalibratedCachedScorer(other, path)
    changed = Guess()
    changed.settings = {'from': 'the text', 'nli_engine': 'transformers-float32'}
    assert CalibratedCachedScorer(changed, path).threshold > 0


def test_what_was_read_in_half_stays_not_verifiable(mine):
    shop = 'The shop opens at nine'
    replies = [f'{shop}. 0.9', f'{shop}. La tienda cierra los lunes. 0.9']
    scorer = CalibratedCachedScorer(ReadsEnglish(), mine[0])
    whole, half = scorer.score([Example(shop, reply) for reply in replies])
    assert whole.label == Label.CONSISTENT
    assert (half.label, half.value) == (Label.NOT_VERIFIABLE, NOT_VERIFIABLE_VALUE)


def test_q2_takes_a_calibration(tmp_path):
    scorer = load_scorer('q2')
    settings = scorer.signature.texts()
    calibration = {'scorer': 'q2', 'fitted_on': settings, 'threshold': 0.25}
    path = tmp_path / 'q2.json'
    path.write_text(json.dumps({'calibration': calibration}))
    assert load_scorer('q2', calibration=path).threshold == 0.25


@pytest.mark.parametrize(
    'change, named',
    [
        ({'threshold': 2}, 'threshold and prior'),
        ({'shift': math.nan}, 'threshold and prior'),
        ({'bias': 1}, 'parlai_q2 calibrate'),
    ],
)
def test_a_broken_file_is_named(mine, tmp_path, change, named):
    _, written = mine
    bad = tmp_path / 'bad.json'
    bad.write_text(json.dumps({'calibration': {**written['calibration'], **change}}))
    with pytest.raises(ConfigError, match=f'bad.json.*{named}'):
        CalibratedCachedScorer(Guess(), str(bad))


def test_labels_have_many_names(tmp_path):
    right = ['Fully attributable', 1, '1.0', True]
    wrong = ['not fully attributable', 0, 'REFUTES']
    labels = [*right, *wrong]
    lines = [{'knowledge': 'k', 'response': 'r', 'mine': label} for label in labels]
    generic = {'knowledge': 'k', 'response': 'wow', 'mine': 'Generic'}
    path = tmp_path / 'x.jsonl'
    write_lines(path, *lines, generic, {**generic, 'response': ' ', 'mine': 'no'})
    examples, consistent, generic = read_labelled(path, names={'label': 'mine'})
    assert consistent == [True] * 4 + [False] * 3
    assert (len(examples), generic) == (7, 1)
    write_lines(path, {'knowledge': 'k', 'response': 'r', 'mine': 0.5})
    with pytest.raises(RecordError, match=r'line 1.*the label is 0.5'):
        read_labelled(path, names={'label': 'mine'})
    with pytest.raises(
        RecordError, match=r"no 'label'. Name the field .*--fields label=NAME"
    ):
        read_labelled(path)


def test_what_cannot_be_fitted_is_refused():
    examples, truth = guesses()
    target = read_target('accuracy')
    with pytest.raises(InputError, match='8 consistent and 2 inconsistent'):
        calibrate(Guess(), examples[:10], truth[:10], target)
    with pytest.raises(ConfigError, match='grounded and grounded_fast'):
        calibrate(Guess(), examples, truth, target, refit=True)


def test_fitted_weights_are_those_of_the_scorer_that_reads_them(tmp_path):
    lines = labelled_lines(24)
    infile = str(write_lines(tmp_path / 'labelled.jsonl', *lines))
    mine = str(tmp_path / 'mine.json')
    options = ['--measure', 'grounded_fast', '--refit', '--cache', 'no']
    written = run_command('calibrate', '--infile', infile, '--outfile', mine, *options)
    assert written['calibration']['refitted']
    scorer = load_scorer('grounded_fast', calibration=mine)
    weights = written['grounded_fast']['weights']
    assert scorer.scorer.coefficients.weights == weights
    assert load_scorer('grounded_fast').coefficients.weights != weights
    examples = [Example(line['knowledge'], line['response']) for line in lines]
    values = [score.value for score in scorer.score(examples)]
    # As many are thought consistent as are.
    assert sum(values) / len(values) == pytest.approx(16 / 24, abs=0.02)
