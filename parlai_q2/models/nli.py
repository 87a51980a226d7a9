"""
Natural language inference with a sequence classifier.

A premise that is too long for the model is read in windows of whole sentences. The
window that most entails the hypothesis counts or, if none entails it, the one that most
contradicts it. A hypothesis longer than half of the model's input is read in windows,
too; its least entailed window counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, repeat
from typing import Any

import numpy as np

from parlai_q2.errors import ConfigError
from parlai_q2.json_values import JsonObject
from parlai_q2.models.backend import Backend, Encoder, not_finite
from parlai_q2.models.batches import map_unique
from parlai_q2.models.lazy import Lazy
from parlai_q2.models.nli_types import NliModel, NliProbabilities
from parlai_q2.models.tokens import most_tokens
from parlai_q2.options import Word
from parlai_q2.presets import ModelConfig, Section
from parlai_q2.signature import unusual
from parlai_q2.text.class_map import Finding, is_unnamed, match_finding
from parlai_q2.text.sentences import count_words, cut_to_fit, windows

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
        return tokenizer(
            list(first),
            list(second),
            truncation='longest_first',
            max_length=self.max_tokens,
            return_token_type_ids=True,
        )

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
    labels: Mapping[str, int] | None, config: JsonObject, model: str
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
        named = match_finding(names[index])
        if named is not None and named != label:
            raise ConfigError(
                f"The preset's labels say that output {index} of {model} is "
                f'{label}, but its configuration calls it {names[index]!r}, which '
                f'means {named}. Correct the preset, or leave out "labels" to use '
                'the configuration.'
            )
    return dict(labels)


def check_classifier(config: JsonObject, model: str) -> None:
    """
    Raise ConfigError unless a model is a classifier: transformers would give any other
    a random head.
    """
    names = config.get('architectures') or []
    if not names or any(name.endswith('ForSequenceClassification') for name in names):
        return
    remedy = (
        'Name a classifier, or train one from it: parlai_q2 train_model -m '
        f'q2:hf_classifier --classifier bert_conv_fever --hf-model {model}'
    )
    if any(name.endswith('ForConditionalGeneration') for name in names):
        remedy = (
            'A model that answers with a word needs a preset with its prompt and that '
            'word; see minicheck.yaml in parlai_q2/presets.'
        )
    raise ConfigError(
        f'{model} is not a sequence classifier but a {", ".join(names)}. {remedy}'
    )


def output_names(config: JsonObject) -> list[str]:
    """The names of a model's outputs, in order, as its configuration has them."""
    by_id = config.get('id2label') or {}
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
        finding = match_finding(name)
        if finding is None or finding in labels:
            raise ConfigError(
                f'{model} calls its outputs {", ".join(names)}, of which {name!r} '
                'is unknown here or means the same as another. Give "labels" in '
                'its section of the preset.'
            )
        labels[finding] = index
    if Finding.CONTRADICTION not in labels and Finding.NEUTRAL in labels:
        # With two classes, the unsupported one also counts as contradicted.
        labels[Finding.CONTRADICTION] = labels.pop(Finding.NEUTRAL)
    check_labels(labels)
    return labels


# The share of the model's input for a hypothesis, which leaves room for a premise.
MOST_FOR_HYPOTHESIS = 0.75
# Usual values, which signatures leave out.
USUAL: Mapping[str, tuple[object, ...]] = {
    'labels': (
        'entailment,neutral,contradiction',
        'entailment,neutral,contradiction,generic',
    ),
    'order': (','.join(ORDER),),
    'max_tokens': (384,),
}


class Head(Word):
    """Whether a model is a classifier already, or is still to be trained as one."""

    TRAINED = 'trained'
    NEW = 'new'


class SequenceNliModel(Backend, NliModel):
    """
    Classifies pairs with a converted or any Hugging Face sequence classifier.

    :param config: the preset's section. Its settings are ``labels`` (maps class names
        to the model's output indices; without them, the names in the model's
        configuration are used), those of
        :class:`~parlai_q2.models.nli.PairInput`, ``head``, and those of
        :class:`~parlai_q2.models.backend.Backend`.
    :param role: the section that it is for, ``nli`` or ``detector``; the names of its
        settings in signatures start with it.
    """

    def __init__(
        self,
        config: ModelConfig,
        labels: Mapping[str, int] | None = None,
        max_tokens: int = 384,
        order: Sequence[str] = ORDER,
        head: str = Head.TRAINED,
        role: Section = Section.NLI,
        **shared: Any,
    ):
        if labels is not None:
            check_labels(labels)
        check_trained(config.model, head)
        super().__init__(config, **shared)
        self.labels, self.role = labels, role
        self.input = PairInput(tuple(order), max_tokens)
        self.max_tokens = max_tokens
        self.load_tokenizer = Lazy(self._tokens)

    @property
    def settings(self) -> JsonObject:
        labels = self.config.settings.get('labels')
        by_output = sorted(labels, key=labels.__getitem__) if labels else ['model']
        details = {
            'labels': ','.join(by_output),
            'order': ','.join(self.input.order),
            'max_tokens': self.max_tokens,
        }
        details = {'engine': self.engine, **unusual(details, USUAL)}
        named = {f'{self.role}_{name}': value for name, value in details.items()}
        return {self.role: self.identity(), **named}

    def classify(self, pairs: Sequence[tuple[str, str]]) -> list[NliProbabilities]:
        return map_unique(pairs, self._classify_long)

    def _load(self) -> tuple[Encoder, Mapping[str, int]]:
        model = self._open_encoder('AutoModelForSequenceClassification')
        labels = find_labels(self.labels, model.config, self.config.model)
        # Load everything here, since backends with other batch sizes share the result.
        return model, labels

    def _classify_long(self, pairs: list[tuple[str, str]]) -> list[NliProbabilities]:
        # The windows of the premise, for each pair and each window of its hypothesis.
        parts: list[tuple[str, str]] = []
        counts: list[list[int]] = []
        for premise, hypothesis in pairs:
            per_word = self._too_long(premise, hypothesis)
            if not per_word:
                parts.append((premise, hypothesis))
                counts.append([1])
                continue
            window_counts = []
            for part in self._hypotheses(hypothesis, per_word):
                premises = self._premises(premise, part)
                parts += zip(premises, repeat(part))
                window_counts.append(len(premises))
            counts.append(window_counts)
        results = iter(self._classify(parts))
        probabilities = []
        for window_counts in counts:
            parts_read = [speak_for([*islice(results, n)]) for n in window_counts]
            probabilities.append(min(parts_read, key=lambda p: p.entailment))
        return probabilities

    def _too_long(self, premise: str, hypothesis: str) -> float:
        """The tokens per word of a pair that is too long to be read at once, else 0."""
        if most_tokens(premise, hypothesis) <= self.max_tokens:
            return 0.0
        count = self._count(premise, hypothesis)
        if count <= self.max_tokens:
            return 0.0
        return count / max(1, count_words(premise) + count_words(hypothesis))

    def _hypotheses(self, hypothesis: str, per_word: float) -> list[str]:
        """The windows of a pair's hypothesis, given its tokens per word."""
        parts = [hypothesis]
        if per_word * count_words(hypothesis) > self.max_tokens / 2:
            room = max(1, int(self.max_tokens / per_word / 4))
            parts = [w.text for w in windows(hypothesis, room)] or parts
        # Words may have more tokens here than in the rest of the pair.
        most = self.max_tokens * MOST_FOR_HYPOTHESIS
        return cut_to_fit(parts, lambda part: self._count('', part) <= most)

    def _premises(self, premise: str, hypothesis: str) -> list[str]:
        per_word = self._too_long(premise, hypothesis)
        if not per_word:
            return [premise]
        words = count_words(hypothesis)
        room = max(8, int(self.max_tokens / per_word) - words - 8)
        parts = [w.text for w in windows(premise, room)] or [premise]
        return cut_to_fit(
            parts, lambda part: self._count(part, hypothesis) <= self.max_tokens
        )

    def _count(self, premise: str, hypothesis: str) -> int:
        model, _ = self._loaded()
        return int(model.tokens.count(*self.input.ordered(premise, hypothesis)))

    def _classify(self, pairs: list[tuple[str, str]]) -> list[NliProbabilities]:
        model, _ = self._loaded()
        first, second = zip(*(self.input.ordered(*pair) for pair in pairs))
        inputs = model.tokens.pairs(first, second, self.max_tokens)
        rows = probabilities(model.classes(inputs), self.config.model)
        return [self.by_class(row) for row in rows.tolist()]

    def by_class(self, probabilities: Sequence[float]) -> NliProbabilities:
        """The probabilities of a model's outputs by class; 0 for one that it lacks."""
        labels = self._loaded()[1] if self.labels is None else self.labels
        none = dict.fromkeys(NliProbabilities._fields, 0.0)
        values = {n: probabilities[index] for n, index in labels.items()}
        return NliProbabilities(**{**none, **values})


def probabilities(logits: Sequence[np.ndarray], model: str) -> np.ndarray:
    """
    The softmax of B logits, [B, classes].

    :raises ModelError: if one is not finite; names the model.
    """
    values = np.stack(logits).astype(np.float64)
    if not np.isfinite(values).all():
        raise not_finite(model)
    values = np.exp(values - values.max(1, keepdims=True))
    probabilities: np.ndarray = values / values.sum(1, keepdims=True)
    return probabilities


def check_trained(model: str, head: str) -> None:
    """Raise ConfigError if a model's ``head`` is still to be trained."""
    Head.check('head', head)
    if head == Head.NEW:
        raise ConfigError(
            f'The preset names {model} as a base to train a classifier from; it '
            'does not classify yet. Train it (parlai_q2 train_model -m '
            'q2:hf_classifier; see docs/agents/classifiers.md), then put the '
            'resulting folder in its place.'
        )


def speak_for(parts: Sequence[NliProbabilities]) -> NliProbabilities:
    """
    Choose the result for a premise from those of its windows, at least one: that of the
    window that most entails the hypothesis or, if none does, most contradicts it.
    """
    best = max(parts, key=lambda p: p.entailment)
    if best.label == Finding.ENTAILMENT:
        return best
    return max(parts, key=lambda p: p.contradiction)
