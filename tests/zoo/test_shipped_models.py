"""
The shipped models on the worked examples of Honovich et al. 2021.

The knowledge sentences and responses are those the paper and its annotated data discuss
(Red Hot Chili Peppers, Sephora). What is asserted is what a reader of the evidence
would rely on: which spans the knowledge supports and which not.
"""

import pytest

from parlai_q2 import Comparison, Example, load_scorer
from parlai_q2.models.folder import CHECKSUMS, shipped_folder, verify_checksums
from parlai_q2.q2.metric import q2, q2_one_at_a_time

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
    'sephora, grounded': (
        'Sephora first launched in Paris on August 14, 1969.',
        'yes , they first launched back in 1969 in paris .',
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


def test_a_batch_gives_what_the_loop_gives_one_question_at_a_time():
    scorer = load_scorer('q2')
    examples = [Example(*pair) for pair in EXAMPLES.values()]
    batch = q2(examples, scorer.models, scorer.q2_settings)
    for example, together in zip(examples, batch, strict=True):
        alone = q2_one_at_a_time(example, scorer.models, scorer.q2_settings)
        questions = [claim.question for claim in alone.claims]
        assert questions == [claim.question for claim in together.claims]
        assert alone.value == pytest.approx(together.value, abs=1e-4)


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
    score = load_scorer('q2').score([Example(SEPHORA, response)])[0]
    assert 0 <= score.value <= 1
    for claim in score.claims:
        span = claim.span
        assert response[span.start : span.end] == span.text


def test_the_answer_is_found_in_knowledge_of_ten_thousand_words():
    filler = 'Gardens need water and light through most of the year. ' * 500
    knowledge = filler + SEPHORA + ' ' + filler
    assert len(knowledge.split()) > 10_000
    example = Example(knowledge, 'sephora was founded in 1969')
    (score,) = load_scorer('q2').score([example])
    answer = claims(score)['1969'].answer.span
    assert knowledge[answer.start : answer.end] == '1969'


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
    responses = {
        'right': 'They have five eyes, and three of them are small and simple.',
        'chatty': 'I love bees! They have five eyes.',
        'wrong number': 'They have six eyes.',
        'new': 'They make honey and live in hives.',
        'generic': "that's so cool!",
    }
    examples = [Example(bees, r) for r in responses.values()]
    scores = load_scorer('grounded', preset).score(examples)
    score_by_kind = dict(zip(responses, scores, strict=True))
    labels = {name: score.label for name, score in score_by_kind.items()}
    assert labels == {
        'right': 'consistent',
        'chatty': 'consistent',
        'wrong number': 'inconsistent',
        'new': 'inconsistent',
        'generic': 'generic',
    }
    assert score_by_kind['right'].value > 0.8
    assert score_by_kind['wrong number'].value < 0.3
    assert score_by_kind['generic'].value <= 0.5
