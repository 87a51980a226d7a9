"""
Shared code of the ParlAI agents that classify responses: finds the knowledge and the
response in a message, maps outputs to classes, and computes metrics. Metrics have the
names of ParlAI's own classifiers; ``macro_f1`` is added, which BEGIN (Dziri et al.
2022) reports.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from parlai.core.metrics import Metric
from parlai.core.torch_classifier_agent import (
    ClassificationF1Metric,
    ConfusionMatrixMetric,
    WeightedF1Metric,
)

from parlai_q2.errors import InputError
from parlai_q2.io.knowledge import as_text, find_knowledge
from parlai_q2.options import OptionGroup

HOW_TO_ASK = (
    'A response is classified against its knowledge. Give the knowledge, a line break '
    r'(typed as \n), and the response, e.g.: Sephora was founded in 1969.\nIt opened '
    'in 1854.'
)


def add_class_map(group: OptionGroup) -> None:
    """Add ``--class-map``."""
    group.add_argument(
        '--class-map',
        type=str,
        default=None,
        help='comma-separated output=class pairs, for class names that are not '
        'recognised, e.g. "entailment=Fully attributable,generic="; an output '
        'with an empty class is never used',
    )


class Pair(NamedTuple):
    """The knowledge and the response to classify; both may be empty."""

    knowledge: str
    response: str


def find_pair(message: Mapping[str, object]) -> Pair | None:
    """
    Find the knowledge and the response to classify, in a message's fields or both in
    ``text``, the response after the last line break; None without a response.
    """
    text = str(message.get('text') or '').rstrip('\n')
    if 'response' in message:
        response = as_text(message['response'])
        knowledge = find_knowledge(message)
        if knowledge is None and text.endswith(response):
            knowledge = text[: len(text) - len(response)].strip()
        return Pair(knowledge or '', response)
    before, line_break, response = text.rpartition('\n')
    if not line_break:
        return None
    fields = {k: v for k, v in message.items() if k != 'text'}
    return Pair(find_knowledge(fields) or before.strip(), response.strip())


def need_pair(message: Mapping[str, object]) -> Pair:
    """As :func:`find_pair`; an InputError when the message has no response."""
    pair = find_pair(message)
    if pair is None:
        fields = ', '.join(sorted(map(str, message)))
        raise InputError(
            'There is no response to classify in this message: it has no "response" '
            f'field, and no line break in its text (fields: {fields}). Evaluate on a '
            "task's ClassificationTeacher, e.g. -t "
            'parlai_q2.tasks.grounded_sample.agents:ClassificationTeacher.'
        )
    return pair


class MacroF1Metric(WeightedF1Metric):
    """The unweighted mean of the classes' F1; 0 without classes."""

    def __add__(self, other: WeightedF1Metric | None) -> 'MacroF1Metric':
        if other is None:
            return self
        return MacroF1Metric(super().__add__(other)._values)

    def value(self) -> float:
        values = [metric.value() for metric in self._values.values()]
        return sum(values) / len(values) if values else 0.0


def class_metrics(
    predicted: Sequence[str], true: Sequence[str], classes: Sequence[str]
) -> dict[str, list[Metric]]:
    """Compute the metrics, B values each, of B predicted and B true ``classes``."""
    metrics: dict[str, list[Metric]] = {}
    f1s: dict[str, list[ClassificationF1Metric]] = {}
    for name in classes:
        precision, recall, f1 = ConfusionMatrixMetric.compute_metrics(
            list(predicted), list(true), name
        )
        metrics[f'class_{name}_prec'] = precision
        metrics[f'class_{name}_recall'] = recall
        metrics[f'class_{name}_f1'] = f1
        f1s[name] = f1
    metrics['weighted_f1'] = WeightedF1Metric.compute_many(f1s)
    rows = zip(*f1s.values(), strict=True)
    metrics['macro_f1'] = [MacroF1Metric(dict(zip(f1s, row))) for row in rows]
    return metrics
