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

The detector reads amounts by their values (:mod:`parlai_q2.text.agreement`), an amount
that agrees with the knowledge in the knowledge's own words, opening hours as a whole
(:mod:`parlai_q2.text.hours`), and lists in its order (:mod:`parlai_q2.text.lists`). An
amount, an address or a code that the knowledge does not have is not supported, nor is a
number, a name or an address that belongs to something else
(:mod:`parlai_q2.text.bindings`), nor the denial of what is not mentioned
(:mod:`parlai_q2.text.denials`). The amounts of records are also read one by one, each
beside its field (:mod:`parlai_q2.text.field_claims`).

Of a sentence that joins statements, the detector doubts some that it knows to be true
alone. So a doubted sentence is read again by its statements
(:mod:`parlai_q2.text.statements`).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean
from typing import Any, NamedTuple

from parlai_q2.claims import (
    NOT_VERIFIABLE_VALUE,
    STANCES,
    Claim,
    Evidence,
    Label,
    Score,
    Status,
)
from parlai_q2.models.protocols import NliModel, NliProbabilities
from parlai_q2.presets import Preset
from parlai_q2.scorers import backends
from parlai_q2.scorers.base import Scorer, label_of
from parlai_q2.scorers.checked import check_values, classify
from parlai_q2.scorers.premises import (
    ALONE,
    JOINED_READ,
    SENTENCES,
    SHORT_READ,
    TOGETHER,
    Premise,
    SplitRule,
)
from parlai_q2.scorers.shell import MAX_RESPONSE_WORDS
from parlai_q2.text.field_claims import read_field_claims
from parlai_q2.text.questions import only_asks_listener, only_declines, only_greets
from parlai_q2.text.selection import SentenceIndex, index_passages
from parlai_q2.text.sentences import sentences
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
# A piece of at most this support is read again by the statements that it joins, and
# rests on them if each has more than the other.
DOUBTED, LEAST_STATED = 0.9, 0.5
# All of the knowledge, and nothing of a response.
ALL, NO_SPAN = Premise((), ''), Span('', 0, 0)


class ResponseStatement(NamedTuple):
    """
    A piece of a response, and what to read of the knowledge for it.

    :param claims: what it says of a record, amount by amount, each beside its field.
    """

    span: Span
    premises: Sequence[Premise]
    knowledge: SentenceIndex
    claims: Sequence[tuple[Premise, str]]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The texts to classify: of the premises, and of the claims."""
        pairs = [(premise.text, self.span.text) for premise in self.premises]
        return pairs + [(premise.text, text) for premise, text in self.claims]


@dataclass(frozen=True)
class ResponsePiece:
    """
    A piece of a response, in lower case, with the premise that supports it most and the
    detector's probabilities given that premise.
    """

    text: str
    reading: NliProbabilities
    span: Span = NO_SPAN
    premise: Premise = ALL

    @cached_property
    def is_generic(self) -> bool:
        """Whether it surely states nothing: what is likelier a claim is judged."""
        states_nothing = (only_greets, only_declines, only_asks_listener)
        return self.reading.generic > SURE or any(f(self.text) for f in states_nothing)


def _read_claims(index: SentenceIndex, text: str) -> list[tuple[Premise, str]]:
    """What a statement says of a record, and the field that each claim is of."""
    if not index.has_records or check_values(index.text, text) != Status.SUPPORTED:
        return []
    claims = []
    for claim in read_field_claims(index.text, text):
        premise = Premise(index.find(claim.sentence), claim.sentence)
        claims.append((premise, claim.sentence if claim.is_copy else claim.text))
    return claims


def indices(examples: Sequence[Example]) -> list[SentenceIndex]:
    """The sentences of each example's passages; the same ones are split once."""
    by_texts = {texts: index_passages(*texts) for texts in {e.texts for e in examples}}
    return [by_texts[example.texts] for example in examples]


def read(
    model: NliModel,
    examples: Sequence[Example],
    indexed: Sequence[SentenceIndex],
    *poolings: SplitRule,
) -> list[list[list[ResponsePiece]]]:
    """
    Classify every piece of each of B responses, in one call of the model, and in a
    second one the statements that doubted pieces join.

    :param indexed: the sentences of the examples' knowledge, from :func:`indices`.
    :return: for each way to split the examples, B lists of at least one piece.
    """
    if model.reads_documents:
        poolings = tuple(replace(pooling, knowledge_words=0) for pooling in poolings)
    # A response of one sentence is the same statement whole and split.
    statements: dict[tuple[int, Span], ResponseStatement] = {}
    keys_by_pooling: list[list[list[tuple[int, Span]]]] = []
    for pooling in poolings:
        keys_by_response = []
        for n, (example, index) in enumerate(zip(examples, indexed, strict=True)):
            keys = [(n, span) for span in pooling.hypotheses(example.response)]
            for key in keys:
                if key not in statements:
                    statements[key] = _make_statement(model, pooling, index, key[1])
            keys_by_response.append(keys)
        keys_by_pooling.append(keys_by_response)
    pieces = _read_statements(model, [*statements.values()])
    if not model.reads_documents:
        pieces = _read_apart(model, poolings[0], [*statements.values()], pieces)
    read_pieces = dict(zip(statements, pieces, strict=True))
    return [
        [[read_pieces[key] for key in keys] for keys in keys_by_response]
        for keys_by_response in keys_by_pooling
    ]


def _read_statements(
    model: NliModel, statements: Sequence[ResponseStatement]
) -> list[ResponsePiece]:
    pairs, knowledge = list[tuple[str, str]](), list[str]()
    for statement in statements:
        pairs += statement.pairs
        knowledge += [statement.knowledge.text] * len(statement.pairs)
    readings = iter(classify(model, pairs, knowledge, not model.reads_documents))
    return [_piece(statement, readings) for statement in statements]


def _read_apart(
    model: NliModel,
    pooling: SplitRule,
    statements: Sequence[ResponseStatement],
    pieces: Sequence[ResponsePiece],
) -> list[ResponsePiece]:
    """
    The pieces. A doubted piece that joins supported statements gets the reading of the
    least supported one of them.
    """
    texts_of_piece = [
        _split_joined(piece, statement.knowledge)
        for piece, statement in zip(pieces, statements, strict=True)
    ]
    parts = [
        _make_statement(model, pooling, statement.knowledge, Span(text, 0, len(text)))
        for texts, statement in zip(texts_of_piece, statements, strict=True)
        for text in texts
    ]
    if not parts:
        return [*pieces]
    read_parts = iter(_read_statements(model, parts))
    better = []
    for piece, texts, statement in zip(pieces, texts_of_piece, statements, strict=True):
        of_piece = [next(read_parts) for _ in texts]
        better.append(_rest_on(piece, of_piece, statement.knowledge))
    return better


def _split_joined(piece: ResponsePiece, knowledge: SentenceIndex) -> list[str]:
    """The statements to read of a piece instead of it; none for most pieces."""
    if support(piece.reading) > DOUBTED or piece.is_generic:
        return []
    text = piece.span.text
    statements = split_statements(text)
    if len(statements) == 1 or len(sentences(text)) > 1:
        return []
    is_right = check_values(knowledge.text, text) == Status.SUPPORTED
    return statements if is_right else []


def _rest_on(
    piece: ResponsePiece, parts: Sequence[ResponsePiece], knowledge: SentenceIndex
) -> ResponsePiece:
    """A piece with the reading of its least supported part, if all are supported."""
    stated = stating(parts)
    least = support(deciding(stated).reading) if stated else 0.0
    if least <= max(LEAST_STATED, support(piece.reading)):
        return piece
    chosen = tuple(sorted({i for part in stated for i in part.premise.chosen}))
    premise = Premise(chosen, knowledge.joined(chosen))
    return replace(piece, reading=deciding(stated).reading, premise=premise)


def _make_statement(
    model: NliModel, pooling: SplitRule, index: SentenceIndex, span: Span
) -> ResponseStatement:
    claims = [] if model.reads_documents else _read_claims(index, span.text)
    return ResponseStatement(span, pooling.premises(index, span.text), index, claims)


def _piece(
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
        together = tuple(sorted(chosen))
        premise = Premise(together, statement.knowledge.joined(together))
        options.append((min(claim_readings, key=support), premise))
    if statement.premises[0].chosen:
        reading, premise = max(options, key=lambda pair: support(pair[0]))
    else:
        by_class = zip(*(of_premise for of_premise, _ in options), strict=True)
        reading, premise = NliProbabilities(*map(fmean, by_class)), options[0][1]
    span = statement.span
    # A detector that was trained on one or two sentences does not know long copies.
    if support(reading) < support(COPIED) and statement.knowledge.has_copy_of(
        span.text
    ):
        reading = COPIED
    return ResponsePiece(span.text.lower(), reading, span, premise)


def judge_piece(piece: ResponsePiece, threshold: float) -> Status:
    """What the knowledge says of a piece, by the detector's reading."""
    if piece.is_generic:
        return Status.GENERIC
    if support(piece.reading) > threshold:
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
    status, value = judge_piece(piece, threshold), support(piece.reading)
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
    chosen = piece.premise.chosen or index.together(piece.text, TOGETHER)
    chosen = chosen or index.best(piece.text, 1)
    if len(chosen) < 2:
        return list(chosen)
    matches = index.matches(piece.text)
    return sorted(chosen, key=lambda i: (-matches.get(i, 0.0), i))


def support(reading: NliProbabilities) -> float:
    """
    P(entailed), given that the text is not generic; 0 if it certainly is. Unsupported
    and contradicted statements both count as not entailed.
    """
    stated = reading.entailment + reading.neutral + reading.contradiction
    return min(1.0, reading.entailment / stated) if stated > 0 else 0.0


def stating(read_pieces: Sequence[ResponsePiece]) -> list[ResponsePiece]:
    """The pieces that are not generic."""
    return [piece for piece in read_pieces if not piece.is_generic]


def deciding(read_pieces: Sequence[ResponsePiece]) -> ResponsePiece:
    """
    The piece that decides: the least supported statement or, if all pieces are generic,
    the least generic one.
    """
    if statements := stating(read_pieces):
        return min(statements, key=lambda piece: support(piece.reading))
    return min(read_pieces, key=lambda piece: piece.reading.generic)


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
    pooling = SENTENCES

    @property
    def settings(self) -> dict[str, object]:
        return {
            **super().settings,
            'knowledge_words': self.pooling.knowledge_words,
            'split_response': 'always',
            'evidence': f'{ALONE}+{TOGETHER}',
            **SETTINGS,
        }

    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        indexed = indices(examples)
        (per_response,) = read(self.model, examples, indexed, self.pooling)
        return [
            self._score(read_pieces, index)
            for read_pieces, index in zip(per_response, indexed, strict=True)
        ]

    def _score(
        self, read_pieces: Sequence[ResponsePiece], index: SentenceIndex
    ) -> Score:
        piece = deciding(read_pieces)
        value = support(piece.reading)
        label = label_of(value, self.threshold)
        if piece.is_generic:
            value, label = min(value, NOT_VERIFIABLE_VALUE), Label.GENERIC
        claims = tuple(make_claim(p, index, self.threshold) for p in read_pieces)
        return Score(value, label, claims, parts=piece.reading._asdict())
