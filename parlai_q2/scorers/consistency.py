"""
The consistency detector: one classifier reads knowledge and response, and says
entailed, unsupported, contradicted or generic (chit-chat).

Such a classifier is trained on a sentence or two at a time. Two poolings bring longer
texts to that size, after SummaC (Laban et al. 2022, section 3.2): long knowledge is
read a sentence at a time, and the sentence that most supports a piece of the response
speaks for it; a response is read a sentence at a time, and is as consistent as the
least supported of its sentences that state anything.
"""

from dataclasses import dataclass
from typing import Any, Iterator, NamedTuple, Sequence

from parlai_q2.errors import ConfigError
from parlai_q2.models.protocols import NliModel, NliProbabilities
from parlai_q2.records import NOT_VERIFIABLE_VALUE, Example, Label, Score
from parlai_q2.scorers.base import Scorer, label_of
from parlai_q2.text.sentences import sentences

# Chosen on development data; docs/accuracy.md has the figures.
DEFAULT_KNOWLEDGE_WORDS = 60
LONG, ALWAYS, NEVER = 'long', 'always', 'never'
SPLITS = (LONG, ALWAYS, NEVER)


@dataclass(frozen=True)
class Pooling:
    """
    What is read a sentence at a time.

    :param knowledge_words: knowledge of more words than this is; 0 never splits it.
    :param split_response: whether the response is: ``long``, where the knowledge is;
        ``always``; or ``never``.
    """

    knowledge_words: int = DEFAULT_KNOWLEDGE_WORDS
    split_response: str = LONG

    def __post_init__(self):
        if self.knowledge_words < 0:
            raise ConfigError(
                f'knowledge_words must be at least 0, not {self.knowledge_words}.'
            )
        if self.split_response not in SPLITS:
            raise ConfigError(
                f'split_response must be one of {", ".join(SPLITS)}, not '
                f'{self.split_response!r}.'
            )

    def pairs(self, knowledge: str, response: str) -> list[list[tuple[str, str]]]:
        """
        What the classifier reads of an example.

        :return: for each piece of the response, the pairs (piece of the knowledge, that
            piece).
        """
        premises, hypotheses = [knowledge], [response]
        long = 0 < self.knowledge_words < len(knowledge.split())
        if long:
            premises = [s.text for s in sentences(knowledge)] or premises
        if self.split_response == ALWAYS or (long and self.split_response == LONG):
            hypotheses = [s.text for s in sentences(response)] or hypotheses
        return [[(p, h) for p in premises] for h in hypotheses]


DEFAULT_POOLING = Pooling()
WHOLE = Pooling(0, NEVER)
SENTENCES = Pooling(split_response=ALWAYS)


class Piece(NamedTuple):
    """
    A piece of a response, in lower case, and what the detector says of it.
    """

    text: str
    reading: NliProbabilities


def read(
    model: NliModel, examples: Sequence[Example], *poolings: Pooling
) -> list[list[list[Piece]]]:
    """
    What the detector says of each piece of each response, all in one call.

    :param model: the classifier.
    :param examples: B examples.
    :param poolings: ways to read them.
    :return: for each pooling, B lists of at least one piece, each with the reading of
        the piece of knowledge that most supports it.
    """
    asked = [
        [pooling.pairs(e.knowledge.lower(), e.response.lower()) for e in examples]
        for pooling in poolings
    ]
    flat = [
        pair
        for of_pooling in asked
        for of_example in of_pooling
        for of_piece in of_example
        for pair in of_piece
    ]
    answers: Iterator[NliProbabilities] = iter(model.classify(flat))
    return [
        [
            [
                Piece(of_piece[0][1], best([next(answers) for _ in of_piece]))
                for of_piece in of_example
            ]
            for of_example in of_pooling
        ]
        for of_pooling in asked
    ]


def support(reading: NliProbabilities) -> float:
    """
    P(entailed), given that something is stated: what is unsupported counts as little
    as what is contradicted, and the chance that it is chit-chat does not count.

    :return: in [0, 1]; 0 where nothing can be stated.
    """
    stated = reading.entailment + reading.neutral + reading.contradiction
    return min(1.0, reading.entailment / stated) if stated > 0 else 0.0


def best(readings: Sequence[NliProbabilities]) -> NliProbabilities:
    """
    The piece of knowledge that most supports a piece of response.
    """
    return max(readings, key=support)


def is_generic(reading: NliProbabilities) -> bool:
    """
    Whether generic is the likeliest class.
    """
    return reading.generic > max(reading[:3])


def statements(pieces: Sequence[Piece]) -> list[Piece]:
    """
    The pieces of a response that state anything; perhaps none.
    """
    return [piece for piece in pieces if not is_generic(piece.reading)]


def deciding(pieces: Sequence[Piece]) -> NliProbabilities:
    """
    The reading that speaks for a response: of its least supported statement, or, where
    it states nothing, of its least generic piece.

    :param pieces: at least one.
    """
    stating = [piece.reading for piece in statements(pieces)]
    if stating:
        return min(stating, key=support)
    return min((piece.reading for piece in pieces), key=lambda r: r.generic)


class ConsistencyScorer(Scorer):
    """
    The detector's support for a response, in [0, 1]; see :func:`support`.

    ``Score.parts`` has the classes' probabilities of what decided. A response of
    nothing but generic pieces ("that's cool!") has the label ``generic`` and a value of
    at most :data:`~parlai_q2.records.NOT_VERIFIABLE_VALUE`.

    :param model: the classifier.
    :param preset: the preset's name, for signatures.
    :param threshold: a value of at most this, in [0, 1], is inconsistent.
    :param pooling: what is read a sentence at a time.
    """

    name = 'consistency'

    def __init__(
        self,
        model: NliModel,
        preset: str = 'custom',
        threshold: float = Scorer.threshold,
        pooling: Pooling = DEFAULT_POOLING,
    ):
        self.model, self.preset, self.threshold = model, preset, threshold
        self.pooling = pooling

    @property
    def settings(self) -> dict[str, Any]:
        return {
            'preset': self.preset,
            **self.model.settings,
            'knowledge_words': self.pooling.knowledge_words,
            'split_response': self.pooling.split_response,
        }

    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        signature = str(self.signature)
        (read_of,) = read(self.model, examples, self.pooling)
        return [self._score(deciding(pieces), signature) for pieces in read_of]

    def _score(self, reading: NliProbabilities, signature: str) -> Score:
        value = support(reading)
        if is_generic(reading):
            value, label = min(value, NOT_VERIFIABLE_VALUE), Label.GENERIC
        else:
            label = label_of(value, self.threshold)
        return Score(value, label, parts=reading._asdict(), signature=signature)
