"""
The shipped models on the worked examples of Honovich et al. 2021.

The knowledge sentences and responses are those the paper and its annotated data discuss
(Red Hot Chili Peppers, Sephora). What is asserted is what a reader of the evidence
would rely on: which spans the knowledge supports and which not.
"""

import pytest

from parlai_q2 import Comparison, Example, load_scorer
from parlai_q2.models.model_files import CHECKSUMS, shipped_folder, verify_checksums
from tests.scorers.places import check_places

CHILI_PEPPERS = (
    'Red Hot Chili Peppers are an American funk rock band formed in Los Angeles '
    'in 1983.'
)
SEPHORA = 'Sephora is a French chain of cosmetics stores founded in 1969.'

EXAMPLES = {
    'peppers': (
        CHILI_PEPPERS,
        "i've never seen them live but i know they were formed in 1983 in la .",
    ),
    'sephora, not': (
        SEPHORA,
        "me too ! it ' s an american fashion company founded in 1854 .",
    ),
}


@pytest.fixture(scope='module')
def scores():
    scorer = load_scorer('q2')
    examples = [Example(*pair, id=name) for name, pair in EXAMPLES.items()]
    return dict(zip(EXAMPLES, scorer.score(examples), strict=True))


def claims(score):
    return {claim.span.text: claim for claim in score.claims}


def test_la_and_los_angeles_are_the_same_place_to_nli_but_not_to_tokens(scores):
    answers = claims(scores['peppers'])
    assert answers['1983'].comparison == Comparison.EXACT
    assert answers['la'].answer.span.text == 'Los Angeles'
    assert (answers['la'].comparison, answers['la'].f1) == (Comparison.ENTAILMENT, 0)


def test_sephora_is_not_american_and_was_not_founded_in_1854(scores):
    score = scores['sephora, not']
    answers = claims(score)
    assert score.label == 'inconsistent'
    assert answers['american'].comparison == Comparison.CONTRADICTION
    assert answers['1854'].support < 0.01


@pytest.mark.parametrize(
    'response',
    [
        '🐼🎋',
        'null\0byte and \x1b[31mescape',
        '\u202eright to left\u202c',
        'Das ist ein französischer Konzern, gegründet 1969.',
        '这是一家法国公司',
        '!!! ??? ...',
        'a' * 5000,
        'a French chain of stores. ' * 60,
    ],
)
def test_hostile_responses_are_scored_in_range(response):
    example = Example(SEPHORA, response)
    (score,) = load_scorer('q2').score([example])
    assert 0 <= score.value <= 1
    check_places(score, example)


@pytest.mark.parametrize(
    'model',
    [
        'q2_mini/question_generation',
        'q2_mini/question_answering',
        'q2_mini/consistency',
        'q2_mini/relevance',
        'q2_mini/reply',
        'q2_mini/retrieval',
        'q2_base/detector',
        'q2_base/consistency',
        'q2_base/relevance',
    ],
)
def test_the_weights_are_those_that_were_released(model):
    folder = shipped_folder(model)
    assert (folder / CHECKSUMS).exists()
    verify_checksums(folder)


@pytest.mark.parametrize('preset', ['mini', 'base'])
def test_grounded_ranks_as_a_reader_would(preset):
    bees = 'Bees have five eyes: two large compound ones and three small simple ones.'
    labels = {
        'They have five eyes, and three of them are small and simple.': 'consistent',
        'I love bees! They have five eyes.': 'consistent',
        'They have six eyes.': 'inconsistent',
        'They make honey and live in hives.': 'inconsistent',
        "that's so cool!": 'generic',
    }
    examples = [Example(bees, response) for response in labels]
    scores = load_scorer('grounded', preset).score(examples)
    assert [score.label for score in scores] == [*labels.values()]
    right, _, wrong_number, _, generic = (score.value for score in scores)
    assert right > 0.8
    assert wrong_number < 0.3
    assert generic <= 0.5
