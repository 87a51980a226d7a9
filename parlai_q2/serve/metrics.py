"""Counts and times for Prometheus, without any text of a conversation."""

from contextlib import AbstractContextManager
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)

from parlai_q2.options import Word

CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'
_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class ServeStep(Word):
    """The steps of an answer that are timed."""

    SEARCH = 'search'
    UPSTREAM = 'upstream'
    SCORE = 'score'
    REVISE = 'revise'


class Metrics:
    """What one app counts."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ours: dict[str, Any] = {'namespace': 'parlai_q2', 'registry': self.registry}
        self.requests = Counter(
            'requests', 'Answered requests', ('path', 'status'), **ours
        )
        self.seconds = Histogram(
            'step_seconds', 'Seconds of a step', ('step',), buckets=_BUCKETS, **ours
        )
        self.labels = Counter('labels', 'Labels of chosen replies', ('label',), **ours)
        self.abstentions = Counter('abstentions', 'Replies withheld', **ours)
        self.in_progress = Gauge('in_progress', 'Requests being answered', **ours)

    def timed(self, step: ServeStep) -> AbstractContextManager[object]:
        """Time a step: a context manager."""
        timer: AbstractContextManager[object] = self.seconds.labels(str(step)).time()
        return timer

    def render(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self.registry)
