"""The detector reads long texts a sentence at a time, and knows chit-chat."""

from functools import partial

import pytest

from parlai_q2.claims import NOT_VERIFIABLE_VALUE, Label, Status
from parlai_q2.models.nli_types import NliProbabilities
from parlai_q2.scorers import load_scorer
from parlai_q2.scorers.consistency import (
    ConsistencyScorer,
    ResponsePiece,
    ResponseReading,
    read,
    support,
)
from parlai_q2.scorers.nli import NliScorer
from parlai_q2.scorers.premises import KNOWLEDGE_WORDS, choose_premises, split_response
from parlai_q2.text.selection import SentenceIndex
from parlai_q2.turns import Example
from tests.scorers.places import check_places
from tests.toys import ToyNliModel

LONG = 'bees fly. ' + 'they have five eyes. ' * 20  # 82 words
SHORT = 'bees have five eyes.'


class RecordingNliModel(ToyNliModel):
    """Remembers what it read."""

    def __init__(self):
        super().__init__()
        self.pairs = []

    def classify(self, pairs):
        self.pairs += pairs
        return super().classify(pairs)


def piece(entailment, neutral, contradiction, generic=0.0, text='x'):
    return ResponsePiece(
        text, NliProbabilities(entailment, neutral, contradiction, generic)
    )


reading_of = partial(ResponseReading, SentenceIndex(SHORT))


@pytest.mark.parametrize(
    'reading, value, why',
    [
        ((0, 1, 0, 0), 0.0, 'unsupported is not half supported'),
        ((0.3, 0.1, 0.1, 0.5), 0.6, '0.3 of the half that states something'),
        ((0, 0, 0, 1), 0.0, 'nothing is stated, so nothing is supported'),
    ],
)
def test_support_is_the_share_of_entailment_in_what_is_stated(reading, value, why):
    assert support(NliProbabilities(*reading)) == pytest.approx(value), why


@pytest.mark.parametrize(
    'text, generic, what',
    [
        ('the home island of honshu', 0.9, False),
        ('the home island of honshu', 0.91, True),
        ('hi there!', 0.01, True),
        ('ok!', 0.23, True),
        ('oh, wow... thank you so much!', 0.01, True),
        ('hello, it is honshu.', 0.89, False),
        ('yes.', 0.89, False),
        ('1974!', 0.89, False),
        ('?!', 0.89, False),
    ],
)
def test_what_surely_states_nothing_is_generic_and_greetings_always_are(
    text, generic, what
):
    reading = NliProbabilities(1 - generic, 0.0, 0.0, generic)
    assert ResponsePiece(text, reading).is_generic is what


def test_the_least_supported_statement_decides_and_chit_chat_does_not():
    pieces = [piece(0.9, 0.1, 0), piece(0.6, 0.4, 0), piece(0.03, 0.02, 0, 0.95)]
    assert reading_of(pieces).deciding == pieces[1]
    # Of chit-chat alone, the least generic.
    pieces = [piece(0.02, 0.02, 0, 0.96), piece(0.02, 0.05, 0, 0.93)]
    assert reading_of(pieces).deciding == pieces[1]


@pytest.mark.parametrize(
    'most_words, knowledge, response, count',
    [
        # Three sentences alone, or as many as match.
        (KNOWLEDGE_WORDS, LONG, 'eyes. bees.', (2, 3)),
        (KNOWLEDGE_WORDS, LONG, 'Bees do. No match.', (2, 1)),
        # Those that it may rest on together are read together, too.
        (KNOWLEDGE_WORDS, LONG + 'wasps sting.', 'Bees fly, wasps sting.', (1, 3)),
        # All, and the sentence that matches best.
        (82, LONG, 'eyes. bees.', (2, 2)),
        (82, LONG, 'No match. Bees do.', (2, 1)),
        (0, LONG, 'eyes. bees.', (2, 1)),
        (KNOWLEDGE_WORDS, SHORT, 'one. two.', (2, 1)),
        # A long sentence is cut.
        (KNOWLEDGE_WORDS, SHORT, 'one ' * 61, (2, 1)),
    ],
)
def test_what_is_split(most_words, knowledge, response, count):
    index = SentenceIndex(knowledge)
    spans = split_response(response)
    assert all(response[s.start : s.end] == s.text for s in spans)
    premises = choose_premises(index, spans[0].text, most_words)
    assert (len(spans), len(premises)) == count


HELP = (
    'Backups are made every six hours and kept for 35 days. Annual plans are refunded '
    'in full within 30 days of the first payment. After you close an account, we '
    'delete its data after 90 days. Export as a spreadsheet is planned for next year. '
    'You can pay by credit card or by direct debit. You can upgrade at any time, and '
    'the change takes effect at once.'
)


@pytest.mark.parametrize(
    'statement, sentences',
    [
        ('We keep backups for 30 days.', 1),
        ('We keep backups for 35 days.', 3),
        # Nothing tells another amount of refunds.
        ('Annual plans are refunded within 30 days.', 3),
        ('We make backups.', 1),
    ],
)
def test_a_sentence_on_another_topic_supports_no_amount(statement, sentences):
    premises = choose_premises(SentenceIndex(HELP), statement)
    assert len([p for p in premises if len(p.chosen) == 1]) == sentences
    (score,) = load_scorer('consistency').score([Example(HELP, statement)])
    assert (score.label == Label.INCONSISTENT) == ('backups for 30' in statement)


@pytest.mark.parametrize(
    'response, is_read, why',
    [
        ('one. ' * 60, True, 'it is short'),
        ('one. ' * 61, False, 'it is long'),
        ('one.', False, 'its one sentence is all of it'),
    ],
)
@pytest.mark.parametrize('knowledge', [SHORT, LONG])
def test_short_responses_are_read_at_once_as_well(knowledge, response, is_read, why):
    example = Example(knowledge, response)
    (reading,) = read(ToyNliModel(), [example], at_once=True)
    assert len(reading.pieces) == len(response.split())
    texts = [reading.at_once.span.text] if reading.at_once else []
    assert texts == [response] * is_read, why


def test_of_short_knowledge_the_mean_of_all_and_its_best_sentence_counts():
    knowledge, claim = 'Bees fly. They have five eyes.', 'five eyes.'
    facts = {('they have five eyes.', claim): 'entailment'}
    example = Example(knowledge, claim)
    (score,) = ConsistencyScorer(ToyNliModel(facts)).score([example])
    assert score.value == 0.5
    facts[knowledge.lower(), claim] = 'entailment'
    (score,) = ConsistencyScorer(ToyNliModel(facts)).score([example])
    assert score.value == 1
    (evidence,) = score.claims[0].evidence
    assert evidence.span.text == 'They have five eyes.'


@pytest.mark.parametrize(
    'scorer', [ConsistencyScorer, partial(NliScorer, knowledge_words=60)]
)
def test_long_knowledge_costs_no_more_than_what_is_read_of_it(scorer):
    def words_read(facts):
        knowledge = 'Fact {} is about bees, eyes and flies. ' * facts
        example = Example(
            knowledge.format(*range(facts)), 'Bees have five eyes. They fly.'
        )
        model = RecordingNliModel()
        scorer(model).score([example])
        return sum(len(premise.split()) for premise, _ in model.pairs)

    assert words_read(2500) <= 1.5 * words_read(25)


def test_one_wrong_sentence_makes_a_long_response_inconsistent():
    facts = {
        ('they have five eyes.', 'five eyes.'): 'entailment',
        ('bees fly.', 'six legs.'): 'neutral',
        ('they have five eyes.', 'wow!'): 'generic',
        ('bees fly.', 'wow!'): 'generic',
    }
    scorer = ConsistencyScorer(ToyNliModel(facts))
    right, wrong = scorer.score(
        [Example(LONG, 'Wow! Five eyes.'), Example(LONG, 'Five eyes. Six legs.')]
    )
    assert (right.label, wrong.label) == (Label.CONSISTENT, Label.INCONSISTENT)
    assert (right.value, wrong.value) == (1, 0)


def test_chit_chat_is_generic_and_never_counts_as_supported():
    class Chatty(ToyNliModel):
        def classify(self, pairs):
            return [NliProbabilities(0.04, 0.005, 0.005, 0.95) for _ in pairs]

    score = ConsistencyScorer(Chatty()).score([Example(SHORT, 'how nice')])[0]
    assert score.label == Label.GENERIC
    assert not score.verifiable
    # Most of what is stated is entailed; the value is held at "neither".
    assert score.value == NOT_VERIFIABLE_VALUE


def test_function_words_alone_are_generic():
    class Certain(ToyNliModel):
        def classify(self, pairs):
            return [NliProbabilities(0.97, 0.01, 0.01, 0.01) for _ in pairs]

    texts = ['Yes , , the .', 'Yes. It is.', 'Yes. Two.', 'Yes, all of it.']
    scores = ConsistencyScorer(Certain()).score([Example(SHORT, t) for t in texts])
    generic, claim = Label.GENERIC, Label.CONSISTENT
    assert [score.label for score in scores] == [generic, generic, claim, claim]


def test_two_ways_to_read_are_one_call():
    model = ToyNliModel()
    example = Example(SHORT, 'Ants fly. Cows dig.')
    (reading,) = read(model, [example], at_once=True)
    assert reading.at_once.text == 'ants fly. cows dig.'
    assert [piece.text for piece in reading.pieces] == ['ants fly.', 'cows dig.']
    assert len(model.calls) == 1


RIDE, FARE = 'The ride takes an hour', 'the ticket costs a euro.'


@pytest.mark.parametrize(
    'facts, value, label, why',
    [
        ((RIDE, FARE), 1, 'consistent', 'both statements are supported'),
        ((RIDE,), 0, 'inconsistent', 'one of them is not'),
    ],
)
@pytest.mark.parametrize('times', [1, 20])
def test_an_unsupported_sentence_is_read_by_the_statements_that_it_joins(
    facts, value, label, why, times
):
    knowledge = 'It is an hour of ride. Tickets are a euro. ' + 'Bees fly. ' * times
    index = SentenceIndex(knowledge)
    premises = {index.text, *(sentence.text for sentence in index.sentences)}
    read_as = {
        (premise.lower(), fact.lower()): 'entailment'
        for premise in premises
        for fact in facts
    }
    scorer = ConsistencyScorer(ToyNliModel(read_as))
    response = f'Hello! {RIDE}, and {FARE}'
    example = Example(knowledge, response)
    (score,) = scorer.score([example])
    assert (score.value, score.label) == (value, label), why
    check_places(score, example)
    claim = score.claims[-1]
    assert claim.span.text == f'{RIDE}, and {FARE}'
    if value:
        assert 'It is an hour of ride.' in {e.span.text for e in claim.evidence}


def test_a_joined_sentence_with_a_wrong_amount_is_not_read_by_its_statements():
    model = RecordingNliModel()
    knowledge = 'The ride takes 40 minutes. A ticket costs 3 euros.'
    response = 'The ride takes 30 minutes, and a ticket costs 3 euros.'
    ConsistencyScorer(model).score([Example(knowledge, response)])
    assert {text for _, text in model.pairs} == {response.lower()}


def test_what_the_knowledge_neither_mentions_nor_denies_is_not_denied():
    knowledge, response = 'Parking costs 22 euros.', "We don't have a gym."
    facts = {(knowledge.lower(), response.lower()): 'entailment'}
    (score,) = ConsistencyScorer(ToyNliModel(facts)).score(
        [Example(knowledge, response)]
    )
    assert (score.value, score.claims[0].status) == (0.1, Status.UNSUPPORTED)
