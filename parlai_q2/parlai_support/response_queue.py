"""
Gathers the responses of a batch, so that one call scores them all.

ParlAI shows a batch's responses to its teachers one at a time. Each teacher leaves its
response here with two dicts that already stand in the model's message, and the queue
fills those dicts once the batch is complete. Loggers that copied the message before
that hold the same dicts, so nothing is lost.

A batch is complete when every teacher that spoke has heard its answer. With dynamic
batching some teachers are always waiting; then the world's next look at ``epoch_done``,
a report or a reset completes it.
"""

from dataclasses import dataclass
from typing import Any, Optional
from weakref import WeakSet

from parlai.core.metrics import Metrics
from parlai.utils import logging

from parlai_q2.parlai_support.q2_metrics import QUESTION_SCORERS, score_metrics
from parlai_q2.records import Example
from parlai_q2.scorers.base import Scorer


@dataclass(frozen=True)
class Waiting:
    """
    One response that waits for its score.

    :param example: what is to be scored.
    :param totals: where the teacher adds up its metrics.
    :param metrics: the ``metrics`` of the model's message, filled when scored.
    :param evidence: the evidence in the model's message, filled when scored; or None.
    """

    example: Example
    totals: Metrics
    metrics: dict[str, Any]
    evidence: Optional[dict[str, Any]]


class ResponseQueue:
    """
    One for all copies of a teacher.

    :param scorer: what scores; its models are loaded when it first does.
    :param name: the name its value is reported under.
    """

    def __init__(self, scorer: Scorer, name: str):
        self.scorer, self.name = scorer, name
        self.waiting: list[Waiting] = []
        # Weak: a copy that nobody uses any more must not hold up the batch.
        self._speaking: WeakSet = WeakSet()
        self._announced = False

    def spoke(self, teacher: object) -> None:
        """
        A teacher has sent a turn: a response is to be expected.
        """
        self._speaking.add(teacher)

    def heard(self, teacher: object) -> None:
        """
        A teacher has its response, or will have none; the last one completes the batch.
        """
        self._speaking.discard(teacher)
        if not self._speaking:
            self.flush()

    def add(self, response: Waiting) -> None:
        """
        Leave a response to be scored.
        """
        self.waiting.append(response)

    def flush(self) -> None:
        """
        Score what waits, in one call, and hand out the results; nothing is a no-op.
        """
        if not self.waiting:
            return
        batch, self.waiting = self.waiting, []
        if not self._announced:
            self._announced = True
            # ParlAI has commands that only look at data and have the labels repeated,
            # and no option tells them from an evaluation.
            logging.info(
                f'Scoring each response with {self.name}. To skip this, give '
                '--q2-metrics false.'
            )
            logging.info(f'Responses are scored with {self.scorer.signature}')
        scores = self.scorer.score([w.example for w in batch])
        asks = self.scorer.name in QUESTION_SCORERS
        for response, score in zip(batch, scores):
            metrics = score_metrics(self.name, response.example, score, asks)
            for name, metric in metrics.items():
                response.totals.add(name, metric)
            response.metrics.update(metrics)
            if response.evidence is not None:
                response.evidence.update(score.to_dict())
