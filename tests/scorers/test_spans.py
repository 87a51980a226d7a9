"""Evidence without questions: which words are marked, and what a statement rests on."""

import pytest

from parlai_q2.claims import Comparison, Label
from parlai_q2.models.protocols import NliProbabilities
from parlai_q2.report.spans import Status, status_of
from parlai_q2.scorers import load_scorer
from parlai_q2.scorers.consistency import ConsistencyScorer
from parlai_q2.scorers.spans import SpansScorer, phrases_of, without
from parlai_q2.text.pipeline import parse_all
from parlai_q2.turns import Example, Span

S, U, C = Status.SUPPORTED, Status.UNSUPPORTED, Status.CONTRADICTED
BEES = 'Bees have five eyes. They live in hives.'
# Two sentences in 82 words, which are read one by one.
LONG = 'Bees have five eyes. ' + 'They live in hives ' + 'of many kinds ' * 24 + '.'


class WordModel:
    """
    Supports a text all of whose words the premise has; calls the others contradicted if
    they have a digit or a negation. What begins with ``wow`` is generic.
    """

    settings = {'detector': 'words'}

    def __init__(self):
        self.calls = []

    def classify(self, pairs):
        self.calls.append(len(pairs))
        return [self.one(*pair) for pair in pairs]

    def one(self, premise, hypothesis):
        def words(text):
            return {word.strip('.,!') for word in text.split()} - {''}

        new = words(hypothesis) - words(premise)
        if hypothesis.startswith('wow'):
            return NliProbabilities(0, 0, 0, 1)
        if not new:
            return NliProbabilities(1, 0, 0)
        odd = any(w == 'not' or w.isdigit() for w in new)
        return NliProbabilities(0, 0, 1) if odd else NliProbabilities(0, 1, 0)


def verdicts_of(response, knowledge=BEES):
    (score,) = SpansScorer(WordModel()).score([Example(knowledge, response)])
    for verdict in score.verdicts:
        said = verdict.response_answer
        assert response[said.start : said.end] == said.text
        assert verdict.question == ''
        if verdict.knowledge_answer:
            known = verdict.knowledge_answer
            assert knowledge[known.start : known.end] == known.text
    return [
        (
            v.response_answer.text,
            status_of(v),
            v.knowledge_answer and v.knowledge_answer.text,
        )
        for v in score.verdicts
    ]


@pytest.mark.parametrize(
    'response, marked, why',
    [
        (
            'bees have eyes.',
            [('bees have eyes.', S, 'Bees have five eyes.')],
            'supported',
        ),
        (
            'Bees have five red eyes. They live in 7 hives.',
            [('red', U, None), ('7', C, 'They live in hives.')],
            'each statement has its own marks',
        ),
        (
            'Spiders spin silver webs.',
            [('Spiders spin silver webs.', U, None)],
            'no single omission saves it',
        ),
        ('Moon', [('Moon', U, None)], 'its only phrase'),
        (
            'wow, great! bees have eyes.',
            [('bees have eyes.', S, 'Bees have five eyes.')],
            'chit-chat is not marked',
        ),
        (
            'wow, it was built by John Lasseter in 1999! bees have eyes.',
            [
                ('John Lasseter', U, None),
                ('1999', U, None),
                ('bees have eyes.', S, 'Bees have five eyes.'),
            ],
            'but new names and numbers in it are',
        ),
        ('wow, five Bees!', [], 'names and numbers that are known are not new'),
    ],
)
def test_what_is_marked(response, marked, why):
    assert verdicts_of(response) == marked, why


def test_a_sentence_of_long_knowledge_is_named():
    assert verdicts_of('bees have eyes.', LONG)[0][2] == 'Bees have five eyes.'


def test_a_negation_is_marked_with_or_without_its_verb():
    ((said, status, _),) = verdicts_of('They not live in hives.')
    assert 'not' in said and len(said) <= len('not live') and status == C


def test_the_score_is_that_of_the_detector():
    examples = [Example(BEES, t) for t in ('bees have eyes', 'a moon', 'wow', '')]
    spans = SpansScorer(WordModel()).score(examples)
    plain = ConsistencyScorer(WordModel()).score(examples)
    assert [(s.value, s.label, s.parts, s.statements) for s in spans] == [
        (s.value, s.label, s.parts, s.statements) for s in plain
    ]
    assert spans[2].label == Label.GENERIC and not spans[2].verdicts


def test_a_batch_is_read_in_two_calls_beside_the_score():
    model = WordModel()
    texts = ['bees have red eyes', 'they live in 7 hives', 'bees have eyes']
    together = SpansScorer(model).score([Example(BEES, text) for text in texts])
    assert len(model.calls) == 3
    alone = [SpansScorer(WordModel()).score([Example(BEES, t)])[0] for t in texts]
    assert [s.verdicts for s in together] == [s.verdicts for s in alone]


def test_phrases_are_chunks_entities_verbs_and_words_each_once():
    (doc,) = parse_all(['The old wall was not built in 1961.'])
    phrases = [phrase.text for phrase in phrases_of(doc)]
    assert len(phrases) == len(set(phrases))
    assert {'The old wall', 'was not built', '1961', 'old', 'not'} <= set(phrases)
    assert 'The' not in phrases and doc.text not in phrases
    assert without('A  red moon.', Span('red', 3, 6)) == 'A moon.'


def test_the_shipped_detector_marks_a_wrong_year_and_a_negation():
    knowledge = 'The Berlin Wall divided Berlin from 1961 to 1989.'
    texts = [
        'It divided Berlin from 1961 to 1993.',
        'It did not divide Berlin.',
        'It divided Berlin.',
    ]
    scores = load_scorer('spans').score([Example(knowledge, text) for text in texts])
    found = [score.verdicts[0] for score in scores]
    assert '1993' in found[0].response_answer.text
    assert 'not' in found[1].response_answer.text
    assert found[2].comparison == Comparison.ENTAILMENT
    assert {v.knowledge_answer.text for v in found} == {knowledge}
