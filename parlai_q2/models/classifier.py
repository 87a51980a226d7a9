"""
Reads pairs of texts with a sequence classifier. The preset's ``labels`` or the model's
configuration define its outputs. The meaning is never guessed: default names such as
``LABEL_0`` are an error, and so is a contradiction of the two.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parlai_q2.errors import ConfigError
from parlai_q2.text.class_map import Finding, finding_of, is_unnamed

PREMISE, HYPOTHESIS = 'premise', 'hypothesis'
ORDER = (PREMISE, HYPOTHESIS)
# A model needs at least these two (FactCC has only these); missing ones count as 0.
REQUIRED = (Finding.ENTAILMENT, Finding.CONTRADICTION)


@dataclass(frozen=True)
class PairInput:
    """
    The form in which a classifier reads pairs.

    :param order: premise and hypothesis, in the order in which they are read.
    :param max_tokens: the maximum number of tokens of an input, including special ones.
    """

    order: tuple[str, ...] = ORDER
    max_tokens: int = 384

    def __post_init__(self) -> None:
        object.__setattr__(self, 'order', tuple(map(str, self.order)))
        if sorted(self.order) != sorted(ORDER):
            raise ConfigError(
                'order must be [premise, hypothesis] or [hypothesis, premise], '
                f'not {list(self.order)}.'
            )
        if self.max_tokens < 8:
            raise ConfigError(
                f'max_tokens is {self.max_tokens}; a pair needs at least 8.'
            )

    def encode(self, tokenizer: Any, pairs: Sequence[tuple[str, str]]) -> Any:
        """Pairs for transformers. If one is too long, its longer text is truncated."""
        first, second = zip(*(self.ordered(*pair) for pair in pairs))
        options = {
            'truncation': 'longest_first',
            'max_length': self.max_tokens,
            'return_token_type_ids': True,
        }
        return tokenizer(list(first), list(second), **options)

    def ordered(self, premise: str, hypothesis: str) -> tuple[str, str]:
        """A pair in the order in which it is read."""
        if self.order[0] == HYPOTHESIS:
            return hypothesis, premise
        return premise, hypothesis


def check_labels(labels: Mapping[str, int]) -> None:
    """Raise ConfigError if ``labels`` has unknown names, or lacks a required one."""
    if not isinstance(labels, Mapping) or not all(
        type(index) is int and index >= 0 for index in labels.values()
    ):
        raise ConfigError(f'labels maps class names to output indices, not {labels!r}.')
    unknown = sorted(map(str, set(labels) - set(Finding)))
    missing = [c for c in REQUIRED if c not in labels]
    if unknown or missing:
        raise ConfigError(
            f'labels maps {", ".join(Finding)} to output indices; unknown: '
            f'{unknown}, missing: {missing}.'
        )


def find_labels(
    labels: Mapping[str, int] | None, config: Any, model: str
) -> dict[str, int]:
    """
    The labels of a loaded model: class names and the indices of their outputs.

    :param labels: the labels of the preset; None to use the configuration's names.
    :param model: the model's reference, for messages.
    :raises ConfigError: if the meaning of an output is unknown, or preset and
        configuration contradict each other.
    """
    check_classifier(config, model)
    names = output_names(config)
    if labels is None:
        return _named_labels(names, model)
    highest = max(labels.values())
    if len(names) <= highest:
        raise ConfigError(
            f'{model} has {len(names)} classes, but the preset maps a label to index '
            f'{highest}.'
        )
    for label, index in labels.items():
        named = finding_of(names[index])
        if named is not None and named != label:
            raise ConfigError(
                f"The preset's labels say that output {index} of {model} is "
                f'{label}, but its configuration calls it {names[index]!r}, which '
                f'means {named}. Correct the preset, or leave out "labels" to use '
                'the configuration.'
            )
    return dict(labels)


def check_classifier(config: Any, model: str) -> None:
    """
    Raise ConfigError unless a model is a classifier: transformers would give any other
    a random head.
    """
    names = read_field(config, 'architectures') or []
    if not names or any(name.endswith('ForSequenceClassification') for name in names):
        return
    remedy = (
        'Name a classifier, or train one from it: parlai_q2 train_model -m '
        f'q2:hf_classifier --classifier bert_conv_fever --hf-model {model}'
    )
    if any(name.endswith('ForConditionalGeneration') for name in names):
        remedy = (
            'A judge that answers with a word needs a preset with its prompt and that '
            'word; see minicheck.yaml in parlai_q2/presets.'
        )
    raise ConfigError(
        f'{model} is not a sequence classifier but a {", ".join(names)}. {remedy}'
    )


def read_field(config: Any, name: str) -> Any:
    """A field of a configuration, an object or a mapping; None if it has none."""
    if isinstance(config, Mapping):
        return config.get(name)
    return getattr(config, name, None)


def output_names(config: Any) -> list[str]:
    """The names of a model's outputs, in order, as its configuration has them."""
    by_id = read_field(config, 'id2label')
    if not isinstance(by_id, Mapping):
        return []
    names = {int(index): str(name) for index, name in by_id.items()}
    return [names[index] for index in sorted(names)]


def _named_labels(names: list[str], model: str) -> dict[str, int]:
    if any(map(is_unnamed, names)):
        raise ConfigError(
            f'{model} does not say what its outputs mean: its configuration calls them '
            f'{", ".join(names)}. Give "labels" in its section of the preset, e.g. '
            'labels: {entailment: 0, neutral: 1, contradiction: 2}.'
        )
    labels: dict[str, int] = {}
    for index, name in enumerate(names):
        finding = finding_of(name)
        if finding is None or finding in labels:
            raise ConfigError(
                f'{model} calls its outputs {", ".join(names)}, of which {name!r} '
                'is unknown here or means the same as another. Give "labels" in '
                'its section of the preset.'
            )
        labels[finding] = index
    if Finding.CONTRADICTION not in labels and Finding.NEUTRAL in labels:
        # Of two classes, the one that is not supported is also what is contradicted.
        labels[Finding.CONTRADICTION] = labels.pop(Finding.NEUTRAL)
    check_labels(labels)
    return labels
