"""The calibrated combination: what it weighs, what it never rewards."""

import json
import math

import pytest

from parlai_q2.claims import NOT_VERIFIABLE_VALUE, Label
from parlai_q2.errors import ConfigError
from parlai_q2.models.nli_types import NliProbabilities
from parlai_q2.q2.metric import Q2Models
from parlai_q2.scorers import load_scorer
from parlai_q2.scorers.consistency import ResponsePiece, ResponseReading
from parlai_q2.scorers.grounded import (
    FAST_FEATURES,
    FEATURES,
    GroundedFastScorer,
    GroundedScorer,
    fast_parts,
    read_coefficients,
)
from parlai_q2.scorers.q2 import Q2Scorer
from parlai_q2.text.selection import SentenceIndex
from parlai_q2.turns import Example
from tests.toys import ToyNliModel, ToyQuestionAnswerer, ToyQuestionGenerator

KNOWLEDGE = 'Sephora is a French chain founded in 1969.'


def grounded(labels=None, **options):
    nli = ToyNliModel({(KNOWLEDGE.lower(), r): v for r, v in (labels or {}).items()})
    q2 = Q2Scorer(Q2Models(ToyQuestionGenerator(), ToyQuestionAnswerer(), nli))
    return GroundedScorer(ToyNliModel(nli.labels, 'detector'), q2, **options)


def score(scorer, response):
    return scorer.score([Example(KNOWLEDGE, response)])[0]


def file_of(tmp_path, weights, intercept=0.0, name='grounded'):
    path = tmp_path / 'c.json'
    entry = {'weights': weights, 'intercept': intercept}
    path.write_text(json.dumps({'preset': 'mini', name: entry}))
    return str(path)


def test_a_value_is_the_sigmoid_of_the_weighted_features(tmp_path):
    path = file_of(tmp_path, {'words': 2.0, 'numbers': 1.0}, -1.0)
    scored = score(grounded(coefficients=path), 'founded in 1854')
    # "founded in" is in the knowledge, 1854 is not: 2 of 3 tokens, 0 of 1 numbers.
    assert scored.parts['words'] == pytest.approx(2 / 3)
    assert scored.parts['numbers'] == 0
    assert scored.value == pytest.approx(1 / (1 + math.exp(-(2 * 2 / 3 - 1))))


def test_the_detectors_feature_is_the_mean_of_three_ways_to_read():
    pieces = [
        ResponsePiece('five eyes', NliProbabilities(0.9, 0.1, 0.0)),
        ResponsePiece('six legs', NliProbabilities(0.3, 0.6, 0.1)),
        # Half of the little that it states; it decides nothing, being chit-chat.
        ResponsePiece('wow', NliProbabilities(0.02, 0.02, 0.0, 0.96)),
    ]
    whole = ResponsePiece('all of it', NliProbabilities(0.8, 0.1, 0.1))
    parts = fast_parts(ResponseReading(SentenceIndex('five eyes'), pieces, whole))
    least, mean = 0.3, (0.9 + 0.3 + 0.5) / 3
    assert parts == pytest.approx(
        {
            'detector': (0.8 + least + mean) / 3,
            'odds': 1 + math.log(0.3 / 0.7) / 7,
            'words': 2 / 4,
            'numbers': 1 / 2,
        }
    )


@pytest.mark.parametrize(
    'support, odds', [(1, 1), (0.5, 1), (0.02, 0.44), (0.001, 0.013), (1e-9, 0), (0, 0)]
)
def test_the_odds_say_how_surely_the_detector_says_no(support, odds):
    reading = NliProbabilities(support, 1 - support, 0.0)
    piece = ResponsePiece('r', reading)
    parts = fast_parts(ResponseReading(SentenceIndex('k'), [piece]))
    assert parts['odds'] == pytest.approx(odds, abs=0.005)


def test_copied_words_do_not_decide_between_two_that_the_detector_refuses():
    shipped = read_coefficients('grounded_fast')
    rest = {'detector': 0.02, 'numbers': 1.0}
    doubted = {**rest, 'odds': 0.44, 'words': 0.5}
    refused = {**rest, 'odds': 0.01, 'words': 1.0}
    assert shipped.probability(refused) < shipped.probability(doubted) < 0.1


@pytest.mark.parametrize(
    'name, known_weights', [('grounded', FEATURES), ('grounded_fast', FAST_FEATURES)]
)
def test_the_coefficients_that_ship_reward_only_support(name, known_weights):
    shipped = read_coefficients(name)
    assert set(shipped.weights) == set(known_weights)
    assert all(w >= 0 for w in shipped.weights.values())
    assert shipped.probability(dict.fromkeys(known_weights, 0.0)) < 0.1
    assert shipped.probability(dict.fromkeys(known_weights, 1.0)) > 0.8
    # A near-copy with one word changed: the words are all but one there.
    copied = {'q2': 0.5, 'detector': 0.0, 'odds': 0.0, 'words': 0.95, 'numbers': 1.0}
    assert shipped.probability(copied) < 0.5


def test_a_generic_response_is_not_rewarded_for_its_words(tmp_path):
    path = file_of(tmp_path, {'words': 9.0}, -1.0)
    for label, best in (('generic', NOT_VERIFIABLE_VALUE), ('neutral', 1.0)):
        scorer = grounded({'sephora is french': label}, coefficients=path)
        assert score(scorer, 'Sephora is French').value == pytest.approx(best, abs=0.01)


def test_chit_chat_is_generic_and_neither_rewarded_nor_called_wrong():
    scored = score(grounded({'so cool!': 'generic'}), 'So cool!')
    assert scored.label == Label.GENERIC
    assert scored.value <= NOT_VERIFIABLE_VALUE
    assert scored.parts['generic'] == 1.0
    assert not scored.verifiable


def test_words_and_numbers_of_chit_chat_do_not_count():
    labels = {'so cool! founded in 1969.': 'entailment', 'so cool!': 'generic'}
    labels['founded in 1969.'] = 'entailment'
    alone = score(grounded(labels), 'Founded in 1969.')
    chatty = score(grounded(labels), 'So cool! Founded in 1969.')
    assert chatty.parts['words'] == alone.parts['words'] == 1.0


def test_q2_is_its_evidence_and_a_feature():
    scored = score(grounded(), 'founded in 1969')
    assert scored.question_claims
    assert 'q2' in scored.parts
    fast = GroundedFastScorer(ToyNliModel())
    alone = score(fast, 'founded in 1969')
    assert fast.name == 'grounded_fast'
    assert (alone.question_claims, alone.fallback) == ((), False)


def test_the_signature_has_the_weights(tmp_path):
    assert 'detector=' in str(load_scorer('grounded').signature)
    for name in ('grounded', 'grounded_fast', 'consistency'):
        assert '|detector:shipped:' in str(load_scorer(name).signature)
    fast = str(load_scorer('grounded_fast').signature)
    assert 'q2=' not in fast
    # Coefficients that differ a little are another recipe.
    weights = dict(read_coefficients('grounded_fast').weights)
    weights['detector'] += 1e-4
    path = file_of(tmp_path, weights, name='grounded_fast')
    assert str(load_scorer('grounded_fast', coefficients=path).signature) != fast


@pytest.mark.parametrize(
    'weights', [{}, {'words': -1.0}, {'luck': 1.0}, {'words': math.inf}, {'words': 'x'}]
)
def test_coefficients_that_make_no_sense_are_refused(tmp_path, weights):
    with pytest.raises(ConfigError, match='grounded'):
        read_coefficients('grounded', file_of(tmp_path, weights))


def test_a_missing_file_says_which_command_writes_it(tmp_path):
    with pytest.raises(ConfigError, match='calibrate --refit'):
        load_scorer('grounded', coefficients=str(tmp_path / 'none.json'))
