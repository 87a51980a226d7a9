"""
Adds Q2 to any knowledge-grounded teacher, in one line::

    class DefaultTeacher(Q2TeacherMixin, WizardDialogKnowledgeTeacher):
        pass

Each response of a model is scored against the knowledge of its turn, a batch in one
call. The metrics are added to ParlAI's own in the report and in the field ``metrics``
of the model's message, and so appear in ``--world-logs``. Training turns are not
scored.

The metrics follow Table 2 of Honovich et al. 2021: the mean score, the share of
responses with a question, the share of questions that the knowledge does not answer,
and the number of questions.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from parlai.core.message import Message
from parlai.core.metrics import (
    ALL_METRICS,
    AverageMetric,
    GlobalAverageMetric,
    Metric,
    Metrics,
)
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.utils import logging
from parlai.utils.data import DatatypeHelper
from parlai.utils.misc import warn_once
from parlai.utils.typing import TShared

from parlai_q2.claims import GENERIC_PART, Comparison, Label, Score
from parlai_q2.cli.knowledge_options import add_knowledge_options, source_from_opt
from parlai_q2.cli.scorer_options import add_scorer_options, scorer_from_opt
from parlai_q2.intervals import share_interval
from parlai_q2.io.knowledge import EpisodeKnowledge, passages_in
from parlai_q2.options import Options
from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.roles import Role
from parlai_q2.turns import Example, Passage

# Further parts of scorers that ask questions: Q2 without NLI, and end-to-end NLI.
Q2_PARTS = ('q2_f1', 'nli')
# Metrics that are reported for every response, scored or not.
UNVERIFIABLE = 'unverifiable'
# The metrics that score_metrics may return for scored responses, besides the score.
OF_SCORED = (
    *(*Q2_PARTS, 'generic', 'coverage', 'questions', 'no_answer'),
    *('consistent_rate', 'consistent_rate_low', 'consistent_rate_high'),
)
# ParlAI's own metrics of a response against its label, including some it does not list.
PARLAI_METRICS = ALL_METRICS | {'precision', 'recall', 'exs'}
BOUNDS = ('consistent_rate_low', 'consistent_rate_high')
EVIDENCE = 'q2_evidence'
# The metric of a reranking agent's evaluation that is 1 if its replies are measured by
# the scores that chose them, else 0.
CIRCULAR = 'circular'
# The metric by which published work measures models.
DEFAULT_MEASURE = 'q2'
SHARED_WARNING = (
    '{} and {} read replies with the same detector, so gains by the choice are '
    'overstated. Also measure with q2_f1 or precision.'
)
CIRCULAR_WARNING = (
    '{} both chose the replies and measures them: the number is circular, and higher '
    'than the replies are good. Give --measure another scorer than --choose.'
)


def metric_name(scorer: str) -> str:
    """A scorer's metric; ``knowledge_<name>`` if ParlAI has a metric of this name."""
    return f'knowledge_{scorer}' if scorer in PARLAI_METRICS else scorer


class LowerBound(AverageMetric):
    """The lower end of the 95 % interval of a share; 0 without a response."""

    end = 'low'

    def value(self) -> float:
        total, count = round(float(self._denom)), round(float(self._numer))
        return float(getattr(share_interval(count, total), self.end)) if total else 0.0


class UpperBound(LowerBound):
    """The upper end of the 95 % interval of a share."""

    end = 'high'


# The share of consistent responses among the verifiable ones, with its interval.
RATE: Mapping[str, type[AverageMetric]] = {
    'consistent_rate': AverageMetric,
    **dict(zip(BOUNDS, (LowerBound, UpperBound))),
}


class _Nothing(GlobalAverageMetric):
    # Distributed runs add up the reports of their processes. Another process may have a
    # MacroAverageMetric of the same name, which reads _values of what is added to it.
    _values: Mapping[str, Metric] = {}

    def __add__(self, other: Metric | None) -> Metric:
        return self if other is None else other


def of_nothing() -> GlobalAverageMetric:
    """
    A metric without any value: reported as 0, because train_model fails at a validation
    without its ``--validation-metric``, but left out of means and sums.
    """
    return _Nothing(0, 0)


def validated_by(opt: Options, names: Iterable[str]) -> str | None:
    """The ``--validation-metric`` if it is one of ``names``, perhaps of one task."""
    validation_metric = opt.get('validation_metric') or ''
    return (
        validation_metric
        if any(f'/{validation_metric}'.endswith(f'/{name}') for name in names)
        else None
    )


def score_metrics(
    scorer: str, example: Example, score: Score, asks: bool
) -> dict[str, AverageMetric]:
    """
    Compute the metrics of one response, by name. An example without knowledge or with a
    blank response has no value to average; it only counts as unverifiable.
    """
    metrics: dict[str, AverageMetric] = {
        UNVERIFIABLE: AverageMetric(int(not score.verifiable))
    }
    if score.verifiable:
        consistent = int(score.label == Label.CONSISTENT)
        for name, metric in RATE.items():
            metrics[name] = metric(consistent)
    if example.knowledge_text.strip() and example.response.strip():
        if asks:
            for part in Q2_PARTS:
                if part in score.parts:
                    metrics[part] = AverageMetric(score.parts[part])
        if GENERIC_PART in score.parts:
            metrics['generic'] = AverageMetric(int(score.label == Label.GENERIC))
        metrics[metric_name(scorer)] = AverageMetric(score.value)
        if asks:
            question_count = len(score.question_claims)
            metrics['coverage'] = AverageMetric(int(question_count > 0))
            metrics['questions'] = AverageMetric(question_count)
            if question_count:
                comparisons = [claim.comparison for claim in score.question_claims]
                unanswered = comparisons.count(Comparison.NO_ANSWER)
                metrics['no_answer'] = AverageMetric(unanswered, question_count)
    return metrics


if TYPE_CHECKING:
    from parlai.core.teachers import Teacher as _Base
else:
    # The subclass has the teacher as another base class.
    _Base = object


@dataclass(frozen=True)
class Waiting:
    """A response that waits for its score, and the places to write the score to."""

    example: Example
    # The teacher's accumulated metrics.
    totals: Metrics
    # The dicts in the model's message.
    metrics: dict[str, Any]
    evidence: dict[str, Any]


def share_detector(scorer: Scorer, other: Scorer) -> bool:
    """Whether two scorers read responses with the same detector."""
    texts, others = (s.signature.texts() for s in (scorer, other))
    # Q2's detector counts if it judges claims in context.
    in_context = texts.get('in_context') != 'None' and texts.get('nli')
    return (texts.get('detector') or in_context) == others.get('detector', '')


def _gives_same_values(scorer: Scorer, other: Scorer) -> bool:
    """Whether two scorers differ at most in the threshold of their labels."""
    settings, others = (
        {**s.signature.texts(), 'threshold': ''} for s in (scorer, other)
    )
    return scorer.name == other.name and settings == others


class ResponseQueue:
    """
    The responses of a batch, which one call scores. All copies of a teacher share it.

    ParlAI shows a batch's responses to its teachers one at a time. Each teacher adds
    its response, along with two dicts that are already in the model's message. The
    queue fills those dicts once the batch is complete. Loggers that have copied the
    message by then hold the same dicts, so nothing is lost.

    A batch is complete when every teacher that sent a turn has received its response.
    With dynamic batching some teachers are always waiting; then the world's next call
    of ``epoch_done``, a report or a reset completes the batch.

    :param chooser: the scorer that chose the responses; None if none did.
    """

    def __init__(self, scorer: Scorer, name: str, chooser: Scorer | None = None):
        self.scorer, self.name, self.chooser = scorer, name, chooser
        # Whether the scores that chose the responses also measure them.
        self.circular = chooser is not None and _gives_same_values(chooser, scorer)
        self.waiting: list[Waiting] = []
        # Weak references, so that a deleted copy does not hold up the batch.
        self._speaking: WeakSet[Any] = WeakSet()
        self._announced = False

    def spoke(self, teacher: object) -> None:
        """Record that a teacher has sent a turn and expects a response."""
        self._speaking.add(teacher)

    def heard(self, teacher: object) -> None:
        """
        Record that a teacher has its response, or will get none; the last one completes
        the batch.
        """
        self._speaking.discard(teacher)
        if not self._speaking:
            self.flush()

    def _announce(self) -> None:
        """Log what measures the responses, and whether it also chose them."""
        # Some of ParlAI's commands only display data, by repeating the labels, and no
        # option distinguishes them from an evaluation.
        logging.info(
            f'Scoring each response with {self.name}. To skip this, give '
            '--q2-metrics false.'
        )
        logging.info(f'Responses are measured by {self.scorer.signature}')
        if self.circular:
            logging.warning(CIRCULAR_WARNING.format(self.name))
        elif self.chooser is not None:
            logging.info(
                f'{self.name}, which measures them, did not choose them: '
                f'{self.chooser.name} did.'
            )
            if share_detector(self.scorer, self.chooser):
                logging.warning(SHARED_WARNING.format(self.name, self.chooser.name))

    def flush(self) -> None:
        """Score all waiting responses in one call, and hand out the results."""
        if not self.waiting:
            return
        if not self._announced:
            self._announce()
            self._announced = True
        batch, self.waiting = self.waiting, []
        scores = self.scorer.score([response.example for response in batch])
        asks = self.scorer.asks_questions
        for response, score in zip(batch, scores):
            metrics = score_metrics(self.name, response.example, score, asks)
            for name, metric in metrics.items():
                response.totals.add(name, metric)
            # The bounds of an interval depend on many responses.
            response.metrics.update(
                {name: m for name, m in metrics.items() if name not in BOUNDS}
            )
            response.evidence.update(score.to_dict())


class Q2TeacherMixin(_Base):
    """
    A mixin that scores the responses a teacher observes. List it before the teacher
    class.
    """

    @classmethod
    def add_cmdline_args(
        cls, parser: ParlaiParser, partial_opt: Opt | None = None
    ) -> ParlaiParser:
        """Add the scorer's options and ``--q2-metrics``."""
        super().add_cmdline_args(parser, partial_opt)
        # The default of a command that judges chosen replies stays.
        measure = parser.get_default(Role.MEASURE.value) or DEFAULT_MEASURE
        add_scorer_options(parser, Role.MEASURE, default=measure)
        add_knowledge_options(parser.add_argument_group('Knowledge'))
        group = parser.add_argument_group('Q2 teacher')
        group.add_argument(
            '--q2-metrics',
            type='bool',
            default=True,
            help="score the model's responses against their knowledge; never done for "
            'the training turns of train_model',
        )
        return parser

    def __init__(self, opt: Opt, shared: TShared | None = None):
        # This comes first, because some teachers call reset() in their __init__.
        evaluating = not DatatypeHelper.is_training(opt['datatype'])
        self._q2_turn: Message | None = None
        self._q2_queue: ResponseQueue | None = None
        if shared:
            self._q2_queue = shared['q2_queue']
        elif evaluating and opt.get('q2_metrics', True):
            self._q2_queue = ResponseQueue(
                scorer_from_opt(opt, Role.MEASURE, default=DEFAULT_MEASURE),
                opt.get(Role.MEASURE.value) or DEFAULT_MEASURE,
                # Only the reranking agent's options have strategies.
                scorer_from_opt(opt, Role.CHOOSE)
                if opt.get('candidate_strategies')
                else None,
            )
        self._q2_knowledge = EpisodeKnowledge(
            shared['q2_knowledge'] if shared else source_from_opt(opt)
        )
        super().__init__(opt, shared)

    def share(self) -> TShared:
        return {
            **super().share(),
            'q2_queue': self._q2_queue,
            'q2_knowledge': self._q2_knowledge.source,
        }

    def act(self) -> Message:
        turn = super().act()
        if self._q2_queue and not turn.get('batch_padding'):
            self._q2_turn = turn
            self._q2_queue.spoke(self)
        return turn

    def observe(self, observation: Message) -> Message:
        turn, self._q2_turn = self._q2_turn, None
        observation = super().observe(observation)
        if self._q2_queue and turn is not None:
            passages = self._q2_knowledge.find(turn).passages
            if turn.get('episode_done'):
                self._q2_knowledge.end_episode()
            self._q2_add(self._q2_queue, passages, observation)
            self._q2_queue.heard(self)
        return observation

    def epoch_done(self) -> bool:
        # Worlds call this between two batches, and before they write their logs.
        self._q2_flush()
        return bool(super().epoch_done())

    def report(self) -> dict[str, Any]:
        self._q2_flush()
        report: dict[str, Any] = super().report()
        if self._q2_queue and self._q2_queue.chooser is not None:
            report[CIRCULAR] = AverageMetric(int(self._q2_queue.circular))
        name = metric_name(self._q2_queue.name) if self._q2_queue else None
        if name and UNVERIFIABLE in report and name not in report:
            report[name] = of_nothing()
            # The metric of one task is replaced by a value of that task only.
            by = validated_by(self.opt, (name, *OF_SCORED))
            if by is not None:
                report.setdefault(by, of_nothing())
            # train_model calls this after every batch, so scores may still follow.
            warn_once(
                f'No response so far has a score: each is blank, or its turn has no '
                f'knowledge. Until one has, {name} is reported as 0.'
            )
        return report

    def reset_metrics(self) -> None:
        self._q2_flush()
        super().reset_metrics()

    def reset(self) -> None:
        super().reset()
        self._q2_turn = None
        self._q2_knowledge.end_episode()
        if self._q2_queue:
            self._q2_queue.heard(self)

    def _q2_flush(self) -> None:
        if self._q2_queue:
            self._q2_queue.flush()

    def _q2_add(
        self, queue: ResponseQueue, passages: tuple[Passage, ...], observation: Message
    ) -> None:
        text = observation.get('text')
        if text is None:
            # ParlAI's display_data deliberately answers with text=None.
            if 'text' not in observation:
                warn_once(
                    'The model gave no text for some turns, so they have no Q2 '
                    'score. To score them, evaluate without --skip-generation.'
                )
            return
        # Only the model knows its own retrieved knowledge, or what a person typed.
        passages = passages or passages_in(observation.get('rerank_knowledge'))
        example = Example(passages, str(text))
        evidence = _dict_in(observation, EVIDENCE)
        metrics = _dict_in(observation, 'metrics')
        queue.waiting.append(Waiting(example, self.metrics, metrics, evidence))


def _dict_in(observation: dict[str, Any], name: str) -> dict[str, Any]:
    """The dict of this name in a message, created if it is missing."""
    if not isinstance(observation.get(name), dict):
        # This bypasses Message's check of its keys, and also works for a plain dict.
        dict.__setitem__(observation, name, {})
    value: dict[str, Any] = observation[name]
    return value
