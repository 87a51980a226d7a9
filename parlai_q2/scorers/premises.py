"""What a detector reads of the knowledge, for each piece of a response."""

from collections.abc import Sequence
from typing import NamedTuple

from parlai_q2.claims import Status
from parlai_q2.models.nli_types import NliModel
from parlai_q2.scorers.checked import check_values
from parlai_q2.text.agreement import index_amounts, unsupported_amounts
from parlai_q2.text.amounts import find_amounts
from parlai_q2.text.field_claims import read_field_claims
from parlai_q2.text.selection import SentenceIndex, stems
from parlai_q2.text.sentences import pieces
from parlai_q2.turns import Span

# What is read of short knowledge, as signatures print it.
SHORT_READ = 'all+best'
# What is read of statements that one sentence joins, likewise.
JOINED_READ = 'least'
# Knowledge of more words is split. Chosen on development data.
KNOWLEDGE_WORDS = 60
# Sentences of long knowledge that are read alone, and at most so many together.
ALONE, TOGETHER = 3, 2
# The most values of a record that are read with one statement.
TOGETHER_OF_RECORD = 5


class Premise(NamedTuple):
    """
    What to read of the knowledge: the indices of sentences (none: all) and their text.
    """

    chosen: tuple[int, ...]
    text: str


class ResponseStatement(NamedTuple):
    """
    A piece of a response, or all of it, and what to read of the knowledge for it.

    :param sentences: its sentences, of which long ones are cut, as
        :func:`split_response` returns them.
    :param claims: what it says of a record, amount by amount, each beside its field.
    """

    span: Span
    sentences: Sequence[Span]
    knowledge: SentenceIndex
    premises: Sequence[Premise]
    claims: Sequence[tuple[Premise, str]] = ()

    @property
    def texts(self) -> list[tuple[str, str, str]]:
        """The premise, hypothesis and knowledge of each premise, then of each claim."""
        pairs = [(premise, self.span.text) for premise in self.premises]
        pairs += self.claims
        return [(premise.text, text, self.knowledge.text) for premise, text in pairs]


def split_response(response: str) -> list[Span]:
    """The pieces of a response that are read one by one, at least one."""
    return pieces(response) or [Span(response, 0, len(response))]


def is_long(index: SentenceIndex, most_words: int = KNOWLEDGE_WORDS) -> bool:
    """
    Whether the knowledge is split: if it has more words than this, or is records.

    :param most_words: 0 splits only records.
    """
    return 0 < most_words < index.words or index.has_records


def choose_premises(
    index: SentenceIndex, statement: str, most_words: int = KNOWLEDGE_WORDS
) -> list[Premise]:
    """
    What to read of the knowledge for a piece of a response: all of it, and its sentence
    that matches best; if it is long, the sentences that match best, alone and together.

    :param most_words: as for :func:`is_long`; 0 reads all at once, and nothing else.
    """
    chosen: list[tuple[int, ...]] = [()]
    if is_long(index, most_words):
        best = _without_other_topics(index, statement, index.best(statement, ALONE))
        chosen = [(i,) for i in best]
        most = TOGETHER_OF_RECORD if index.has_records else TOGETHER
        together = tuple(index.together(statement, most))
        chosen += [together] if len(together) > 1 else []
    elif most_words and len(index.sentences) > 1 and index.shares_word(statement):
        chosen += [(i,) for i in index.best(statement, 1)]
    return [Premise(c, index.joined(c)) for c in chosen]


def _without_other_topics(
    index: SentenceIndex, statement: str, places: Sequence[int]
) -> list[int]:
    """
    Sentences of the knowledge, without those that share only an amount with a statement
    if another one of them has its topic and another amount: "Backups are kept for 35
    days" speaks of "We keep backups for 30 days", and "Refunds take 30 days" does not.
    """
    amounts = find_amounts(statement)
    if not amounts:
        return [*places]
    texts = [statement[amount.start : amount.end] for amount in amounts]
    topic = stems(statement) - stems(' '.join(texts))
    on_topic = [place for place in places if topic & index.stems[place]]
    is_told = any(
        _tells_another(index.sentences[place].text, statement)
        for place in on_topic
        if 2 * len(topic & index.stems[place]) >= len(topic)
    )
    return on_topic if is_told else [*places]


def _tells_another(sentence: str, statement: str) -> bool:
    """Whether a sentence has another amount in a unit of a statement, and no bound."""
    return any(
        (known.dimension, known.size) == (claimed.dimension, claimed.size)
        and claimed.dimension
        and not known.bound
        for claimed in unsupported_amounts(sentence, statement)
        for known in index_amounts(sentence).amounts
    )


def make_statement(
    model: NliModel, knowledge: SentenceIndex, span: Span, sentences: Sequence[Span]
) -> ResponseStatement:
    """What a model reads for a piece of a response, or for all of it."""
    if model.reads_documents:
        premises = choose_premises(knowledge, span.text, most_words=0)
        return ResponseStatement(span, sentences, knowledge, premises)
    premises = choose_premises(knowledge, span.text)
    claims = _read_claims(knowledge, span.text)
    return ResponseStatement(span, sentences, knowledge, premises, claims)


def _read_claims(index: SentenceIndex, text: str) -> list[tuple[Premise, str]]:
    """What a statement says of a record, and the field that each claim is of."""
    if not index.has_records or check_values(index.text, text) != Status.SUPPORTED:
        return []
    claims = []
    for claim in read_field_claims(index.text, text):
        premise = Premise(index.find(claim.sentence), claim.sentence)
        claims.append((premise, claim.sentence if claim.is_copy else claim.text))
    return claims
