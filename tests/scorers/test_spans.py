"""Evidence without questions: which words are marked, and what a statement rests on."""

import pytest

from parlai_q2.claims import Label, Status
from parlai_q2.models.nli_types import NliModel, NliProbabilities
from parlai_q2.scorers import load_scorer
from parlai_q2.scorers.consistency import ConsistencyScorer
from parlai_q2.scorers.spans import SpansScorer, find_phrases, without
from parlai_q2.text.pipeline import parse_all
from parlai_q2.turns import Example, Span
from tests.scorers.places import check_places

S, U, C = Status.SUPPORTED, Status.UNSUPPORTED, Status.CONTRADICTED
G = Status.GENERIC
BEES = 'Bees have five eyes. They live in hives.'
# Two sentences in 82 words, which are read one by one.
LONG = 'Bees have five eyes. ' + 'They live in hives ' + 'of many kinds ' * 24 + '.'


class WordModel(NliModel):
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


def marks_of(response, knowledge=BEES):
    example = Example(knowledge, response)
    (score,) = SpansScorer(WordModel()).score([example])
    check_places(score, example)
    assert all(claim.question == '' for claim in score.claims)
    return [
        (c.span.text, c.status, c.evidence[0].span.text if c.evidence else None)
        for c in score.claims
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
            [('wow, great!', G, None), ('bees have eyes.', S, 'Bees have five eyes.')],
            'chit-chat states nothing',
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
        (
            'wow, five Bees!',
            [('wow, five Bees!', G, None)],
            'names and numbers that are known are not new',
        ),
        (
            'bees have eyes. See you tomorrow!',
            [
                ('bees have eyes.', S, 'Bees have five eyes.'),
                ('See you tomorrow!', G, None),
            ],
            'a greeting says nothing new',
        ),
    ],
)
def test_what_is_marked(response, marked, why):
    assert marks_of(response) == marked, why


def test_a_sentence_of_long_knowledge_is_named():
    assert marks_of('bees have eyes.', LONG)[0][2] == 'Bees have five eyes.'


def test_a_negation_is_marked_with_or_without_its_verb():
    ((mark, status, _),) = marks_of('They not live in hives.')
    assert 'not' in mark
    assert len(mark) <= len('not live')
    assert status == C


def test_the_score_is_that_of_the_detector():
    texts = ('bees have eyes', 'a moon', 'wow', '', 'wow! bees have eyes.')
    examples = [Example(BEES, text) for text in texts]
    spans = SpansScorer(WordModel()).score(examples)
    plain = ConsistencyScorer(WordModel()).score(examples)
    assert [(s.value, s.label, s.parts) for s in spans] == [
        (s.value, s.label, s.parts) for s in plain
    ]
    assert spans[2].label == spans[2].claims[0].status == Label.GENERIC
    assert spans[4].label == Label.CONSISTENT


def test_a_batch_is_read_in_two_calls():
    model = WordModel()
    texts = ['bees have red eyes', 'they live in 7 hives', 'bees have eyes']
    together = SpansScorer(model).score([Example(BEES, text) for text in texts])
    assert len(model.calls) == 2
    alone = [SpansScorer(WordModel()).score([Example(BEES, t)])[0] for t in texts]
    assert [s.claims for s in together] == [s.claims for s in alone]


def test_phrases_are_chunks_entities_verbs_and_words_each_once():
    (doc,) = parse_all(['The old wall was not built in 1961.'])
    phrases = [phrase.text for phrase in find_phrases(doc)]
    assert len(phrases) == len(set(phrases))
    assert {'The old wall', 'was not built', '1961', 'old', 'not'} <= set(phrases)
    assert 'The' not in phrases
    assert doc.text not in phrases
    assert without('A  red moon.', Span('red', 3, 6)) == 'A moon.'


def test_the_shipped_detector_marks_a_wrong_year_and_a_negation():
    knowledge = 'The Berlin Wall divided Berlin from 1961 to 1989.'
    texts = [
        'It divided Berlin from 1961 to 1993.',
        'It did not divide Berlin.',
        'It divided Berlin.',
    ]
    scores = load_scorer('spans').score([Example(knowledge, text) for text in texts])
    first_claims = [score.claims[0] for score in scores]
    assert '1993' in first_claims[0].span.text
    assert 'not' in first_claims[1].span.text
    assert [c.status for c in first_claims] == [C, C, S]
    assert [c.evidence[0].stance for c in first_claims] == ['against', 'against', 'for']
    assert {c.evidence[0].span.text for c in first_claims} == {knowledge}


@pytest.mark.parametrize('name', ['consistency', 'spans', 'grounded_fast'])
def test_score_label_claims_and_marks_agree(name):
    knowledge = 'The shop sells bread, milk and eggs. It is closed on Sundays.'
    responses = [
        'It sells bread. It sells milk. It sells eggs.',
        'It sells bread. It sells shoes. It sells eggs.',
        'Great! It is closed on Sundays.',
        'It is open on Sundays. Nice!',
        'What a day!',
    ]
    for score in load_scorer(name).score([Example(knowledge, r) for r in responses]):
        statuses = {claim.status for claim in score.claims} - {G}
        if score.label == Label.CONSISTENT:
            assert statuses == {S}
        elif score.label == Label.INCONSISTENT:
            assert statuses & {U, C}
        stated = [c.support for c in score.claims if c.status != G]
        assert score.value <= min(stated, default=1)
