"""
The consistency detector: a classifier reads knowledge and response, and labels the
response entailed, unsupported, contradicted or generic (chit-chat).

It is trained on one or two sentences at a time, so responses are read by sentence and
the results pooled, as in SummaC (Laban et al. 2022). A response is as consistent as its
least supported sentence, not counting generic ones: its score, its label, its claims
and its marks all follow from the same readings. Of long knowledge only the sentences
that could support a sentence are read, and the reading counts that supports it most.
Short knowledge is read as a whole and by the sentence that matches best, and the mean
counts: what has nothing to do with a sentence distracts the detector.

Rules rewrite what the detector reads and limit what it says
(:mod:`parlai_q2.scorers.shell`). The amounts of records are also read one by one, each
beside its field (:mod:`parlai_q2.text.field_claims`).

Of a sentence that joins statements, the detector doubts some that it knows to be true
alone. So a doubted sentence is read again by its statements
(:mod:`parlai_q2.text.statements`).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from statistics import fmean
from typing import Any

from parlai_q2.claims import (
    NOT_VERIFIABLE_VALUE,
    STANCES,
    Claim,
    Evidence,
    Label,
    Score,
    Status,
)
from parlai_q2.models.nli_types import NliModel, NliProbabilities
from parlai_q2.presets import Preset
from parlai_q2.scorers import backends
from parlai_q2.scorers.base import Scorer, label_of
from parlai_q2.scorers.checked import check_values, classify
from parlai_q2.scorers.premises import (
    ALONE,
    JOINED_READ,
    KNOWLEDGE_WORDS,
    SHORT_READ,
    TOGETHER,
    Premise,
    ResponseStatement,
    make_statement,
    split_response,
)
from parlai_q2.scorers.shell import MAX_RESPONSE_WORDS
from parlai_q2.text.agreement import unsupported_amounts
from parlai_q2.text.questions import only_asks_listener, only_declines, only_greets
from parlai_q2.text.selection import SentenceIndex, has_no_content, index_passages
from parlai_q2.text.sentences import is_short
from parlai_q2.text.statements import split_statements
from parlai_q2.turns import Example, Span

# A text is generic from this probability on. Below it are claims in the dress of small
# talk: "I went to Honshu, which is the home island of Honshu".
SURE = 0.9
# The reading of what the knowledge has word for word.
COPIED = NliProbabilities(entailment=0.97, neutral=0.02, contradiction=0.01)
# As signatures print it.
SETTINGS = {
    'short_knowledge': SHORT_READ,
    'generic': f'{SURE:g}',
    'copies': f'{COPIED.entailment:g}',
    'amounts': 'value',
    'bindings': 'records',
    'joined': JOINED_READ,
    'denials': 'mentioned',
    'lists': 'reordered',
    'hours': 'completed',
}
# A longer response is never read at once.
RESPONSE_WORDS = 60
# A piece of at most this support is read again by the statements that it joins, and
# rests on them if each has more than the other.
DOUBTED, LEAST_STATED = 0.9, 0.5
# All of the knowledge, and nothing of a response.
ALL, NO_SPAN = Premise((), ''), Span('', 0, 0)


@dataclass(frozen=True)
class ResponsePiece:
    """
    A piece of a response, in lower case, with the premise that supports it most and the
    detector's probabilities given that premise.

    :param is_empty: whether the response has nothing but function words: "Yes, it is."
    """

    text: str
    reading: NliProbabilities
    span: Span = NO_SPAN
    premise: Premise = ALL
    is_empty: bool = False

    @cached_property
    def support(self) -> float:
        """See :func:`support`."""
        return support(self.reading)

    @cached_property
    def is_generic(self) -> bool:
        """Whether it surely states nothing: what is likelier a claim is judged."""
        if self.reading.generic > SURE or self.is_empty:
            return True
        states_nothing = (only_greets, only_declines, only_asks_listener)
        return any(f(self.text) for f in states_nothing)


@dataclass(frozen=True)
class ResponseReading:
    """
    A response as the detector reads it.

    :param knowledge: the sentences of the knowledge.
    :param pieces: its sentences, at least one.
    :param at_once: all of it; None if it is not read at once.
    """

    knowledge: SentenceIndex
    pieces: Sequence[ResponsePiece]
    at_once: ResponsePiece | None = None

    @cached_property
    def stated(self) -> list[ResponsePiece]:
        """The pieces that are not generic."""
        return [piece for piece in self.pieces if not piece.is_generic]

    @cached_property
    def deciding(self) -> ResponsePiece:
        """
        The piece that decides: the least supported statement or, if all pieces are
        generic, the least generic one.
        """
        if self.stated:
            return min(self.stated, key=lambda piece: piece.support)
        return min(self.pieces, key=lambda piece: piece.reading.generic)

    def make_claims(self, threshold: float) -> list[Claim]:
        """What each piece claims."""
        return [make_claim(piece, self.knowledge, threshold) for piece in self.pieces]


def read(
    model: NliModel, examples: Sequence[Example], at_once: bool = False
) -> list[ResponseReading]:
    """
    Classify every piece of each of B responses, in one call of the model, and in a
    second one the statements that doubted pieces join.

    :param at_once: also read each response as a whole, unless it is a single piece or
        has more than :data:`RESPONSE_WORDS` words.
    """
    # The same passages are split once.
    by_texts = {texts: index_passages(*texts) for texts in {e.texts for e in examples}}
    indexed = [by_texts[example.texts] for example in examples]
    by_sentence = [
        [
            make_statement(model, index, span, [span])
            for span in split_response(example.response)
        ]
        for example, index in zip(examples, indexed, strict=True)
    ]
    wholes = [
        _make_whole(model, example.response, statements) if at_once else None
        for example, statements in zip(examples, by_sentence, strict=True)
    ]
    statements = [*chain.from_iterable(by_sentence), *filter(None, wholes)]
    pieces = _read_statements(model, statements)
    if not model.reads_documents:
        pieces = _read_apart(model, statements, pieces)
    in_order = iter(pieces)
    pieces_of_response = []
    for example, parts in zip(examples, by_sentence, strict=True):
        own = [next(in_order) for _ in parts]
        if has_no_content(example.response):
            own = [replace(piece, is_empty=True) for piece in own]
        pieces_of_response.append(own)
    read_at_once = [next(in_order) if whole else None for whole in wholes]
    return list(map(ResponseReading, indexed, pieces_of_response, read_at_once))


def _make_whole(
    model: NliModel, response: str, parts: Sequence[ResponseStatement]
) -> ResponseStatement | None:
    """A response to be read at once; None if it is a single piece, or long."""
    sentences = [part.span for part in parts]
    is_single = len(parts) == 1 and sentences[0].text == response.strip()
    if is_single or not is_short(response, RESPONSE_WORDS):
        return None
    whole = Span(response, 0, len(response))
    return make_statement(model, parts[0].knowledge, whole, sentences)


def _read_statements(
    model: NliModel, statements: Sequence[ResponseStatement]
) -> list[ResponsePiece]:
    texts = [text for statement in statements for text in statement.texts]
    readings = iter(classify(model, texts, not model.reads_documents))
    return [_make_piece(statement, readings) for statement in statements]


def _read_apart(
    model: NliModel,
    statements: Sequence[ResponseStatement],
    pieces: Sequence[ResponsePiece],
) -> list[ResponsePiece]:
    """
    The pieces. A doubted piece that joins supported statements gets the reading of the
    least supported one of them.
    """
    parts_of_piece = [
        _split_joined(model, piece, statement)
        for piece, statement in zip(pieces, statements, strict=True)
    ]
    parts = [*chain.from_iterable(parts_of_piece)]
    if not parts:
        return [*pieces]
    read_parts = iter(_read_statements(model, parts))
    return [
        _rest_on(piece, [next(read_parts) for _ in own_parts], statement.knowledge)
        for piece, own_parts, statement in zip(
            pieces, parts_of_piece, statements, strict=True
        )
    ]


def _split_joined(
    model: NliModel, piece: ResponsePiece, statement: ResponseStatement
) -> list[ResponseStatement]:
    """The statements to read of a piece instead of it; none for most pieces."""
    is_one = len(statement.sentences) == 1
    if not is_one or piece.support > DOUBTED or piece.is_generic:
        return []
    knowledge, text = statement.knowledge, piece.span.text
    parts = split_statements(text)
    if len(parts) == 1 or check_values(knowledge.text, text) != Status.SUPPORTED:
        return []
    spans = [Span(part, 0, len(part)) for part in parts]
    return [make_statement(model, knowledge, span, [span]) for span in spans]


def _rest_on(
    piece: ResponsePiece, parts: Sequence[ResponsePiece], knowledge: SentenceIndex
) -> ResponsePiece:
    """A piece with the reading of its least supported part, if all are supported."""
    apart = ResponseReading(knowledge, parts)
    least = apart.deciding if apart.stated else None
    if least is None or least.support <= max(LEAST_STATED, piece.support):
        return piece
    chosen = {i for part in apart.stated for i in part.premise.chosen}
    return replace(piece, reading=least.reading, premise=_join(knowledge, chosen))


def _join(knowledge: SentenceIndex, chosen: Set[int]) -> Premise:
    """Sentences of the knowledge as one premise; all of it if none are chosen."""
    in_order = tuple(sorted(chosen))
    return Premise(in_order, knowledge.joined(in_order))


def _make_piece(
    statement: ResponseStatement, readings: Iterator[NliProbabilities]
) -> ResponsePiece:
    """
    A statement with its reading. Of short knowledge, that is the mean of the readings;
    of long knowledge, the reading that supports the statement most. Of the claims of a
    record, the least supported one counts.
    """
    options = [(next(readings), premise) for premise in statement.premises]
    if statement.claims:
        claim_readings = [next(readings) for _ in statement.claims]
        chosen = {i for premise, _ in statement.claims for i in premise.chosen}
        premise = _join(statement.knowledge, chosen)
        options.append((min(claim_readings, key=support), premise))
    if statement.premises[0].chosen:
        reading, premise = max(options, key=lambda pair: support(pair[0]))
    else:
        by_class = zip(*(of_premise for of_premise, _ in options), strict=True)
        reading, premise = NliProbabilities(*map(fmean, by_class)), options[0][1]
    # A detector that was trained on one or two sentences does not know long copies.
    if support(reading) < support(COPIED) and _is_copied(statement):
        reading = COPIED
    return ResponsePiece(statement.span.text.lower(), reading, statement.span, premise)


def _is_copied(statement: ResponseStatement) -> bool:
    """Whether the knowledge has every sentence of a statement word for word."""
    knowledge = statement.knowledge
    # Without punctuation, 2.5 is 25.
    are_copies = all(knowledge.has_copy_of(s.text) for s in statement.sentences)
    return are_copies and not unsupported_amounts(knowledge.text, statement.span.text)


def judge_piece(piece: ResponsePiece, threshold: float) -> Status:
    """What the knowledge says of a piece, by the detector's reading."""
    if piece.is_generic:
        return Status.GENERIC
    if piece.support > threshold:
        return Status.SUPPORTED
    contradicted = piece.reading.contradiction > piece.reading.neutral
    return Status.CONTRADICTED if contradicted else Status.UNSUPPORTED


def make_claim(
    piece: ResponsePiece,
    index: SentenceIndex,
    threshold: float,
    words: Span | None = None,
) -> Claim:
    """
    What a piece of a response claims, and the sentences of the knowledge that speak of
    it: of one that is supported or contradicted, the premise that supports it most or,
    where the knowledge was read whole, the sentences that match it by their words.

    :param words: what to mark of the piece, if not all.
    """
    status, value = judge_piece(piece, threshold), piece.support
    if status == Status.GENERIC:
        value = min(value, NOT_VERIFIABLE_VALUE)
    evidence: tuple[Evidence, ...] = ()
    if stance := STANCES.get(status):
        evidence = tuple(
            Evidence(index.passages[i], index.sentences[i], stance)
            for i in sources(piece, index)
        )
    return Claim(words or piece.span, value, status, evidence)


def sources(piece: ResponsePiece, index: SentenceIndex) -> list[int]:
    """The sentences that a piece comes nearest to, by index, the main one first."""
    text = piece.span.text
    chosen = piece.premise.chosen or index.together(text, TOGETHER)
    chosen = chosen or index.best(text, 1)
    if len(chosen) < 2:
        return list(chosen)
    matches = index.matches(text)
    return sorted(chosen, key=lambda i: (-matches.get(i, 0.0), i))


def support(reading: NliProbabilities) -> float:
    """
    P(entailed), given that the text is not generic; 0 if it certainly is. Unsupported
    and contradicted statements both count as not entailed.
    """
    stated = reading.entailment + reading.neutral + reading.contradiction
    return min(1.0, reading.entailment / stated) if stated > 0 else 0.0


class ClassifierScorer(Scorer):
    """
    Base class of scorers by one classifier of knowledge and response.

    :param preset: the preset's name, for signatures.
    :param threshold: a value of at most this, in [0, 1], is inconsistent.
    """

    has_models = prepares_texts = is_thread_safe = True
    max_response_words = MAX_RESPONSE_WORDS
    load_model: Callable[..., NliModel] = staticmethod(backends.detector)

    def __init__(
        self,
        model: NliModel,
        preset: str = 'custom',
        threshold: float = Scorer.threshold,
    ):
        super().__init__(threshold)
        self.model, self.preset = model, preset

    @classmethod
    def from_preset(
        cls, preset: Preset, device: str = 'cpu', batch_size: Any = None, **options: Any
    ) -> Any:
        """Its further options are those of the class."""
        model = cls.load_model(preset, device=device, batch_size=batch_size)
        return cls(model, preset=preset.name, **options)

    @property
    def settings(self) -> dict[str, object]:
        return {'preset': self.preset, **self.model.settings}

    @property
    def text_model(self) -> NliModel:
        return self.model


class ConsistencyScorer(ClassifierScorer):
    """
    Scores a response by the detector's support for it, in [0, 1]; see :func:`support`.

    ``Score.parts`` has the class probabilities of the reading that determined the
    score. A response whose pieces are all generic ("that's cool!") gets the label
    ``generic`` and a value of at most
    :data:`~parlai_q2.claims.NOT_VERIFIABLE_VALUE`.
    """

    name = 'consistency'

    @property
    def settings(self) -> dict[str, object]:
        return {
            **super().settings,
            'knowledge_words': KNOWLEDGE_WORDS,
            'split_response': 'always',
            'evidence': f'{ALONE}+{TOGETHER}',
            **SETTINGS,
        }

    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        readings = read(self.model, examples)
        return [self._score(r, r.make_claims(self.threshold)) for r in readings]

    def _score(self, reading: ResponseReading, claims: Iterable[Claim]) -> Score:
        piece = reading.deciding
        value = piece.support
        label = label_of(value, self.threshold)
        if piece.is_generic:
            value, label = min(value, NOT_VERIFIABLE_VALUE), Label.GENERIC
        return Score(value, label, tuple(claims), parts=piece.reading._asdict())
