"""
How much of a pipeline's time is its model's: files read, scored, kept and written,
against the model alone on the same pairs, in turns and in one run, so that whatever
else the machine does meets both.

The model alone is what a person would write who wants nothing but its probabilities:
the pairs of a whole turn, tokenized at once, in batches of one length, through the
model. It has no files, no records, no scores. Its batches are at least as full as the
pipeline's, because a turn is longer than what a pipeline scores at once.
"""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from parlai_q2.models.batching import padded_batches
from parlai_q2.models.protocols import NliProbabilities
from parlai_q2.records import Example, Score
from parlai_q2.scorers.consistency import ConsistencyScorer
from parlai_q2.scorers.stand_in import StandInScorer

# Pairs after which the pipeline and the model alone take turns.
TURN = 1000


class Seconds(NamedTuple):
    """
    Time of this process's threads on the processor, and time that passed.
    """

    processor: float = 0.0
    clock: float = 0.0

    def plus(self, other: 'Seconds') -> 'Seconds':
        """
        The sum of both kinds of time.
        """
        return Seconds(self.processor + other.processor, self.clock + other.clock)


class Stopwatch:
    """
    Runs from when it is made.
    """

    def __init__(self) -> None:
        self._began = now()

    def lap(self) -> Seconds:
        """
        The time since it was made or last asked.
        """
        then, self._began = self._began, now()
        return Seconds(*(b - a for a, b in zip(then, self._began)))


def now() -> Seconds:
    """
    Both clocks.
    """
    return Seconds(time.process_time(), time.perf_counter())


class Turn(NamedTuple):
    """
    What one turn took.

    :param pairs: how many were scored.
    :param pipeline: the pipeline, with all that it does besides scoring.
    :param tokenizing: the model alone: from texts to tensors.
    :param model: the model alone: from tensors to probabilities, on a GPU with the way
        there and back.
    """

    pairs: int
    pipeline: Seconds
    tokenizing: Seconds
    model: Seconds


class InTurns(StandInScorer[ConsistencyScorer]):
    """
    A scorer for a pipeline; after so many pairs the pipeline waits while the model
    alone reads the same ones. To be started, and finished when the pipeline has ended.

    :param scorer: the detector, whose model is loaded.
    :param turn: pairs after which the model alone has its turn, at least one.
    """

    def __init__(self, scorer: ConsistencyScorer, turn: int = TURN):
        super().__init__(scorer)
        self.turn = turn
        self.turns: list[Turn] = []
        # Scores that are not those of the model alone, to the last bit.
        self.differing = 0
        self._held: list[tuple[Example, Score]] = []

    def start(self) -> None:
        """
        Begin the pipeline's first turn.
        """
        self._watch = Stopwatch()

    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        scores = self.scorer.score_texts(examples)
        self._held += zip(examples, scores)
        if len(self._held) >= self.turn:
            self._pause()
        return scores

    def finish(self) -> None:
        """
        End the last turn. What the pipeline did after the last pause counts for it; the
        first turn, in which tasks are made and files begun, counts only where it is the
        only one.
        """
        if self._held:
            self._pause()
        else:
            rest = self._watch.lap()
            last = self.turns.pop()
            self.turns.append(last._replace(pipeline=last.pipeline.plus(rest)))
        if len(self.turns) > 1:
            self.turns.pop(0)

    def _pause(self) -> None:
        pipeline = self._watch.lap()
        examples, scores = zip(*self._held)
        found, tokenizing, model = model_alone(self.scorer, examples)
        self.turns.append(Turn(len(examples), pipeline, tokenizing, model))
        self.differing += sum(a != b for a, b in zip(found, scores, strict=True))
        self._held = []
        self._watch = Stopwatch()


def model_alone(
    scorer: ConsistencyScorer, examples: Sequence[Example]
) -> tuple[list[Score], Seconds, Seconds]:
    """
    Let the model read what it reads of these examples, and nothing else.

    :param scorer: the detector; its model is one of
        :class:`~parlai_q2.models.nli.SequenceNliModel`.
    :param examples: at least one, no two with the same texts.
    :return: the scores that the probabilities give, for comparison, made after the
        clocks have stopped; the time of tokenizing; the time of the model.
    """
    nli: Any = scorer.model
    model, tokenizer, _ = nli._loaded()
    pairs = distinct_pairs(scorer, examples)
    watch = Stopwatch()
    encoded = nli.input.encode(tokenizer, pairs)
    rows, tensors = padded_batches(tokenizer, encoded, nli.batch_size)
    batches = list(tensors)
    tokenizing = watch.lap()
    found = [logits.softmax(-1).tolist() for logits in model.logits(batches)]
    seconds = watch.lap()
    read: dict[tuple[str, str], NliProbabilities] = {}
    for some, probabilities in zip(rows, found, strict=True):
        for row, values in zip(some, probabilities, strict=True):
            read[pairs[row]] = nli.by_class(values)
    known = Known(read, nli.settings)
    same = ConsistencyScorer(known, scorer.preset, scorer.threshold, scorer.pooling)
    return same.score(examples), tokenizing, seconds


def distinct_pairs(
    scorer: ConsistencyScorer, examples: Sequence[Example]
) -> list[tuple[str, str]]:
    """
    What the model reads of examples, each pair once.
    """
    return list(
        dict.fromkeys(
            pair
            for e in examples
            for piece in scorer.pooling.pairs(e.knowledge.lower(), e.response.lower())
            for pair in piece
        )
    )


class Known:
    """
    A model that only looks up what another has found.
    """

    def __init__(
        self, read: dict[tuple[str, str], NliProbabilities], settings: dict[str, Any]
    ):
        self._read, self.settings = read, settings

    def classify(self, pairs: Sequence[tuple[str, str]]) -> list[NliProbabilities]:
        return [self._read[pair] for pair in pairs]
