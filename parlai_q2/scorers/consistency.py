"""
The consistency detector: a classifier reads knowledge and response, and labels the
response entailed, unsupported, contradicted or generic (chit-chat).

Such a classifier is trained on one or two sentences at a time. Longer texts are split
to that size and the results are pooled, following SummaC (Laban et al. 2022, section
3.2). Long knowledge is read sentence by sentence: for each piece of the response, the
sentence that supports it most counts. A response is read sentence by sentence: it is as
consistent as its least supported sentence, not counting generic ones.
"""

from dataclasses import dataclass, replace
from typing import Any, Iterator, NamedTuple, Sequence

from parlai_q2.errors import ConfigError
from parlai_q2.models.protocols import NliModel, NliProbabilities
from parlai_q2.presets import Preset
from parlai_q2.records import NOT_VERIFIABLE_VALUE, Example, Label, Score
from parlai_q2.scorers.backends import detector
from parlai_q2.scorers.base import Scorer, label_of
from parlai_q2.text.sentences import sentences

# Chosen on development data; see docs/accuracy.md for the figures.
DEFAULT_KNOWLEDGE_WORDS = 60
LONG, ALWAYS, NEVER = 'long', 'always', 'never'
SPLITS = (LONG, ALWAYS, NEVER)


@dataclass(frozen=True)
class Pooling:
    """
    When to split knowledge and response into sentences.

    :param knowledge_words: split knowledge of more words than this; 0 never splits it.
    :param split_response: when to split the response: ``long`` (if the knowledge is
        split), ``always`` or ``never``.
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
        The pairs of texts to classify for an example.

        :return: for each piece of the response, pairs of each piece of the knowledge
            with that piece.
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
    A piece of a response, in lower case, and the detector's class probabilities for it.
    """

    text: str
    reading: NliProbabilities


def read(
    model: NliModel, examples: Sequence[Example], *poolings: Pooling
) -> list[list[list[Piece]]]:
    """
    Classify every piece of every response, in one call of the model.

    :param model: the classifier.
    :param examples: B examples.
    :param poolings: one or more ways to split the examples.
    :return: for each pooling, B lists of at least one piece, each with its
        probabilities given the piece of knowledge that supports it most.
    """
    asked = [
        [pairs_for(model, pooling, example) for example in examples]
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
                Piece(of_piece[0][1].lower(), best([next(answers) for _ in of_piece]))
                for of_piece in of_example
            ]
            for of_example in of_pooling
        ]
        for of_pooling in asked
    ]


def pairs_for(
    model: NliModel, pooling: Pooling, example: Example
) -> list[list[tuple[str, str]]]:
    """
    The pairs of texts that a model reads: in lower case, or as they are written and
    with whole knowledge if it was trained on documents.
    """
    if getattr(model, 'reads_documents', False):
        whole = replace(pooling, knowledge_words=0)
        return whole.pairs(example.knowledge, example.response)
    return pooling.pairs(example.knowledge.lower(), example.response.lower())


def support(reading: NliProbabilities) -> float:
    """
    P(entailed), given that the text is not generic. Unsupported and contradicted
    statements both count as not entailed.

    :return: in [0, 1]; 0 if the text is certainly generic.
    """
    stated = reading.entailment + reading.neutral + reading.contradiction
    return min(1.0, reading.entailment / stated) if stated > 0 else 0.0


def best(readings: Sequence[NliProbabilities]) -> NliProbabilities:
    """
    The reading with the highest support.
    """
    return max(readings, key=support)


def is_generic(reading: NliProbabilities) -> bool:
    """
    Whether generic is the likeliest class.
    """
    return reading.generic > max(reading[:3])


def statements(pieces: Sequence[Piece]) -> list[Piece]:
    """
    The pieces of a response that are not generic; may be empty.
    """
    return [piece for piece in pieces if not is_generic(piece.reading)]


def deciding(pieces: Sequence[Piece]) -> NliProbabilities:
    """
    The reading that determines a response's score: that of its least supported
    statement or, if all pieces are generic, that of its least generic piece.

    :param pieces: the pieces of the response, at least one.
    """
    stating = [piece.reading for piece in statements(pieces)]
    if stating:
        return min(stating, key=support)
    return min((piece.reading for piece in pieces), key=lambda r: r.generic)


class ConsistencyScorer(Scorer):
    """
    Scores a response by the detector's support for it, in [0, 1]; see :func:`support`.

    ``Score.parts`` has the class probabilities of the reading that determined the
    score. A response whose pieces are all generic ("that's cool!") gets the label
    ``generic`` and a value of at most
    :data:`~parlai_q2.records.NOT_VERIFIABLE_VALUE`.

    :param model: the classifier.
    :param preset: the preset's name, for signatures.
    :param threshold: a value of at most this, in [0, 1], is inconsistent.
    :param pooling: when to split knowledge and response into sentences.
    """

    name = 'consistency'
    has_models = True

    def __init__(
        self,
        model: NliModel,
        preset: str = 'custom',
        threshold: float = Scorer.threshold,
        pooling: Pooling = DEFAULT_POOLING,
    ):
        self.model, self.preset, self.threshold = model, preset, threshold
        self.pooling = pooling

    @classmethod
    def from_preset(
        cls,
        preset: Preset,
        threshold: float = Scorer.threshold,
        device: str = 'cpu',
        batch_size: Any = None,
        **pooling: Any,
    ) -> 'ConsistencyScorer':
        """
        Its further options are those of :class:`Pooling`.
        """
        model = detector(preset, device=device, batch_size=batch_size)
        return cls(model, preset.name, threshold, Pooling(**pooling))

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
