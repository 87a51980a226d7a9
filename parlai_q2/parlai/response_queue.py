"""
Collects the responses of a batch, so that one call scores them all.

ParlAI shows a batch's responses to its teachers one at a time. Each teacher adds its
response to the queue, along with two dicts that are already in the model's message. The
queue fills those dicts once the batch is complete. Loggers that have copied the message
by then hold the same dicts, so nothing is lost.

A batch is complete when every teacher that sent a turn has received its response. With
dynamic batching some teachers are always waiting; then the world's next call of
``epoch_done``, a report or a reset completes the batch.
"""

from dataclasses import dataclass
from typing import Any, Optional
from weakref import WeakSet

from parlai.core.metrics import Metrics
from parlai.utils import logging

from parlai_q2.parlai.q2_metrics import score_metrics
from parlai_q2.records import Example
from parlai_q2.scorers.base import Scorer


@dataclass(frozen=True)
class Waiting:
    """
    A response that waits for its score.

    :param example: the example to score.
    :param totals: where the teacher accumulates its metrics.
    :param metrics: the ``metrics`` in the model's message, filled when scored.
    :param evidence: the evidence in the model's message, filled when scored; or None.
    """

    example: Example
    totals: Metrics
    metrics: dict[str, Any]
    evidence: Optional[dict[str, Any]]


class ResponseQueue:
    """
    The queue that all copies of a teacher share.

    :param scorer: the scorer; its models are loaded when it first scores.
    :param name: the name under which its value is reported.
    """

    def __init__(self, scorer: Scorer, name: str):
        self.scorer, self.name = scorer, name
        self.waiting: list[Waiting] = []
        # Weak, so that a copy which is no longer used does not hold up the batch.
        self._speaking: WeakSet = WeakSet()
        self._announced = False

    def spoke(self, teacher: object) -> None:
        """Record that a teacher has sent a turn and expects a response."""
        self._speaking.add(teacher)

    def heard(self, teacher: object) -> None:
        """
        Record that a teacher has its response, or will get none. The last one completes
        the batch.
        """
        self._speaking.discard(teacher)
        if not self._speaking:
            self.flush()

    def add(self, response: Waiting) -> None:
        """Add a response to be scored."""
        self.waiting.append(response)

    def flush(self) -> None:
        """
        Score all waiting responses in one call, and hand out the results. Does nothing
        if none is waiting.
        """
        if not self.waiting:
            return
        batch, self.waiting = self.waiting, []
        if not self._announced:
            self._announced = True
            # Some of ParlAI's commands only display data, by repeating the labels, and
            # no option distinguishes them from an evaluation.
            logging.info(
                f'Scoring each response with {self.name}. To skip this, give '
                '--q2-metrics false.'
            )
            logging.info(f'Responses are scored with {self.scorer.signature}')
        scores = self.scorer.score([w.example for w in batch])
        asks = self.scorer.asks_questions
        for response, score in zip(batch, scores):
            metrics = score_metrics(self.name, response.example, score, asks)
            for name, metric in metrics.items():
                response.totals.add(name, metric)
            response.metrics.update(metrics)
            if response.evidence is not None:
                response.evidence.update(score.to_dict())
