"""
Measures how much of a pipeline's time is spent in its model.

The pipeline reads, scores and writes files, with or without a score cache; the model
alone reads the same pairs. The two take turns in one run, so that any other load on the
machine affects both.

The model alone is the code that you would write if you wanted nothing but its
probabilities: it tokenizes the pairs of a whole turn at once, batches them by padded
length, and runs the model. It has no files, no records and no scores. Its batches are
at least as full as the pipeline's, because a turn is longer than what a pipeline scores
at once.
"""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from parlai_q2.models.engine.batching import padded_batches
from parlai_q2.models.protocols import NliProbabilities
from parlai_q2.records import Example, Score
from parlai_q2.scorers.consistency import ConsistencyScorer
from parlai_q2.scorers.stand_in import StandInScorer

# Pairs in one turn of the pipeline, after which the model alone has its turn.
TURN = 1000


class Seconds(NamedTuple):
    """
    CPU time of this process, and wall-clock time, in seconds.
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
    A stopwatch that starts when it is created.
    """

    def __init__(self) -> None:
        self._began = now()

    def lap(self) -> Seconds:
        """
        The time since it was created or since the last lap.
        """
        then, self._began = self._began, now()
        return Seconds(*(b - a for a, b in zip(then, self._began)))


def now() -> Seconds:
    """
    Read both clocks.
    """
    return Seconds(time.process_time(), time.perf_counter())


class Turn(NamedTuple):
    """
    The times of one turn.

    :param pairs: how many pairs were scored.
    :param pipeline: time of the pipeline, with all that it does besides scoring.
    :param tokenizing: time of the model alone, from texts to tensors.
    :param model: time of the model alone, from tensors to probabilities; on a GPU it
        includes the transfers to and from it.
    """

    pairs: int
    pipeline: Seconds
    tokenizing: Seconds
    model: Seconds


class InTurns(StandInScorer[ConsistencyScorer]):
    """
    A scorer for a pipeline. After every ``turn`` pairs, the pipeline waits while the
    model alone reads the same pairs. Call :meth:`start` before the pipeline runs, and
    :meth:`finish` when it has ended.

    :param scorer: the detector, with its model loaded.
    :param turn: pairs after which the model alone has its turn, at least one.
    """

    def __init__(self, scorer: ConsistencyScorer, turn: int = TURN):
        super().__init__(scorer)
        self.turn = turn
        self.turns: list[Turn] = []
        # How many scores are not exactly equal to those of the model alone.
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
        End the last turn. It includes what the pipeline did after the last pause. The
        first turn, in which tasks are created and files opened, is left out unless it
        is the only one.
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
    Run the model on what it reads of these examples, and do nothing else.

    :param scorer: the detector, whose model is a
        :class:`~parlai_q2.models.nli.SequenceNliModel`.
    :param examples: at least one, no two with the same texts.
    :return: the scores that follow from the probabilities, for comparison (computed
        after the clocks have stopped); the time of tokenizing; the time of the model.
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
    The pairs that the model reads of examples, each once.
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
    A model that looks up the probabilities that another has computed.
    """

    def __init__(
        self, read: dict[tuple[str, str], NliProbabilities], settings: dict[str, Any]
    ):
        self._read, self.settings = read, settings

    def classify(self, pairs: Sequence[tuple[str, str]]) -> list[NliProbabilities]:
        return [self._read[pair] for pair in pairs]
