"""Times each of Q2's stages, by wrapping its models in a clock."""

from collections.abc import Callable, Sequence
from typing import Any, Optional

from parlai_q2.benchmark.clock import StageClock
from parlai_q2.models.protocols import NliProbabilities
from parlai_q2.q2.metric import Q2Models
from parlai_q2.records import Span

SPANS, QUESTIONS, NLI = 'spans', 'questions', 'nli'
# Question answering runs twice: on the response, to see whether a question is valid,
# and on the knowledge, to answer it.
ON_RESPONSES, ON_KNOWLEDGE = 'answers in responses', 'answers in knowledge'
STAGES = (SPANS, QUESTIONS, ON_RESPONSES, ON_KNOWLEDGE, NLI)


def watch(
    models: Q2Models, clock: StageClock, pairs: Sequence[tuple[str, str]]
) -> Q2Models:
    """
    The same models, with the time of each added to a clock.

    :param models: Q2's models.
    :param clock: receives the times, under the names in :data:`STAGES`.
    :param pairs: what will be scored, as (knowledge, response).
    """
    return Q2Models(
        _Generator(models.generator, clock),
        _Answerer(models.answerer, clock, {response for _, response in pairs}),
        _Nli(models.nli, clock),
        clock.timed(SPANS, models.find_spans),
    )


class _Watched:
    def __init__(self, backend: Any, clock: StageClock):
        self.backend, self.clock = backend, clock

    @property
    def settings(self) -> dict[str, Any]:
        return self.backend.settings

    def timed(self, stage: str, function: Callable, *args: Any) -> Any:
        return self.clock.timed(stage, function)(*args)


class _Generator(_Watched):
    def generate(self, pairs: Sequence[tuple[str, str]]) -> list[list[str]]:
        return self.timed(QUESTIONS, self.backend.generate, pairs)


class _Answerer(_Watched):
    def __init__(self, backend: Any, clock: StageClock, responses: set[str]):
        super().__init__(backend, clock)
        self.responses = responses

    def answer(self, pairs: Sequence[tuple[str, str]]) -> list[Optional[Span]]:
        # One call asks about responses or about knowledge, never about both.
        about_responses = all(text in self.responses for _, text in pairs)
        stage = ON_RESPONSES if about_responses else ON_KNOWLEDGE
        return self.timed(stage, self.backend.answer, pairs)


class _Nli(_Watched):
    def classify(self, pairs: Sequence[tuple[str, str]]) -> list[NliProbabilities]:
        return self.timed(NLI, self.backend.classify, pairs)
