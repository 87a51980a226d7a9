"""
Natural language inference with a sequence classifier.

A premise that is too long for the model is read in windows of whole sentences. The
window that most entails the hypothesis speaks for the premise, unless none entails it;
then the one that most contradicts it does.
"""

from types import MappingProxyType
from typing import Any, Mapping, Sequence

from parlai_q2.errors import ConfigError
from parlai_q2.models.batching import length_batches, map_unique, model_inputs, pad
from parlai_q2.models.lazy import Lazy
from parlai_q2.models.loading import (
    FLOAT32,
    effective_arithmetic,
    load_model,
    load_tokenizer,
)
from parlai_q2.models.protocols import NliProbabilities
from parlai_q2.presets import ModelConfig
from parlai_q2.text.sentences import windows

CLASSES = NliProbabilities._fields
REQUIRED = ('entailment', 'neutral', 'contradiction')
# What most published NLI models use.
LABELS: Mapping[str, int] = MappingProxyType(
    {'entailment': 0, 'neutral': 1, 'contradiction': 2}
)


class SequenceNliModel:
    """
    Classifies pairs with any Hugging Face sequence classifier.

    :param config: the preset's section. Settings: ``labels`` (class name to the model's
        output index), ``max_tokens`` (of both texts together), ``lower_case`` (before
        tokenizing), ``batch_size``.
    :param device: a torch device name.
    """

    def __init__(
        self,
        config: ModelConfig,
        device: str = 'cpu',
        labels: Mapping[str, int] = LABELS,
        max_tokens: int = 384,
        lower_case: bool = False,
        batch_size: int = 32,
        arithmetic: str = FLOAT32,
    ):
        unknown = sorted(set(labels) - set(CLASSES))
        missing = [c for c in REQUIRED if c not in labels]
        if unknown or missing:
            raise ConfigError(
                f'labels maps {", ".join(CLASSES)} to output indices; unknown: '
                f'{unknown}, '
                f'missing: {missing}.'
            )
        self.config, self.device, self.labels = config, device, dict(labels)
        self.max_tokens, self.lower_case = max_tokens, lower_case
        self.batch_size = batch_size
        self.arithmetic = effective_arithmetic(arithmetic, device)
        self._loaded = Lazy(self._load)

    @property
    def settings(self) -> dict[str, Any]:
        return {'nli': self.config.reference, 'nli_arithmetic': self.arithmetic}

    def classify(self, pairs: Sequence[tuple[str, str]]) -> list[NliProbabilities]:
        return map_unique(pairs, self._classify_long)

    def _load(self) -> tuple[Any, Any]:
        from transformers import AutoModelForSequenceClassification

        model = load_model(
            self.config.model,
            AutoModelForSequenceClassification,
            self.device,
            self.config.revision,
            self.arithmetic,
        )
        highest = max(self.labels.values())
        if model.config.num_labels <= highest:
            raise ConfigError(
                f'{self.config.model} has {model.config.num_labels} classes, but the '
                f'preset maps a label to index {highest}.'
            )
        return model, load_tokenizer(self.config.model, self.config.revision)

    def _classify_long(self, pairs: list[tuple[str, str]]) -> list[NliProbabilities]:
        if self.lower_case:
            pairs = [(p.lower(), h.lower()) for p, h in pairs]
        pieces: list[tuple[str, str]] = []
        owners: list[int] = []
        for i, (premise, hypothesis) in enumerate(pairs):
            parts = self._split(premise, hypothesis)
            pieces += [(part, hypothesis) for part in parts]
            owners += [i] * len(parts)
        found: list[list[NliProbabilities]] = [[] for _ in pairs]
        for owner, probabilities in zip(owners, self._classify(pieces), strict=True):
            found[owner].append(probabilities)
        return [speak_for(parts) for parts in found]

    def _split(self, premise: str, hypothesis: str) -> list[str]:
        # Fewer characters than tokens allowed cannot be too long.
        if len(premise) + len(hypothesis) <= self.max_tokens:
            return [premise]
        _, tokenizer = self._loaded()
        count = len(tokenizer(premise, hypothesis)['input_ids'])
        if count <= self.max_tokens:
            return [premise]
        words = max(1, len(premise.split()))
        per_word = count / (words + len(hypothesis.split()))
        room = max(32, int(self.max_tokens / per_word) - len(hypothesis.split()) - 8)
        return [w.text for w in windows(premise, room)] or [premise]

    def _classify(self, pairs: list[tuple[str, str]]) -> list[NliProbabilities]:
        import torch

        model, tokenizer = self._loaded()
        encoded = tokenizer(
            [p for p, _ in pairs],
            [h for _, h in pairs],
            truncation='longest_first',
            max_length=self.max_tokens,
        )
        results: list[NliProbabilities] = [NliProbabilities(0, 1, 0)] * len(pairs)
        inputs = model_inputs(tokenizer, encoded)
        lengths = [len(i) for i in encoded['input_ids']]
        for batch in length_batches(lengths, self.batch_size):
            tensors = pad(inputs, batch, {'input_ids': tokenizer.pad_token_id})
            tensors = {k: t.to(self.device) for k, t in tensors.items()}
            with torch.inference_mode():
                logits = model(**tensors).logits.float()  # [B, classes]
            for i, row in zip(batch, logits.softmax(-1).tolist(), strict=True):
                results[i] = self.by_class(row)
        return results

    def by_class(self, probabilities: Sequence[float]) -> NliProbabilities:
        """
        A model's output probabilities under the preset's label map.

        :param probabilities: one a class of the model, summing to 1.
        :return: the same, by name.
        """
        return NliProbabilities(
            **{name: probabilities[index] for name, index in self.labels.items()}
        )


def speak_for(parts: Sequence[NliProbabilities]) -> NliProbabilities:
    """
    What a premise in windows says of a hypothesis.

    :param parts: one a window, at least one.
    :return: the window that most entails it, or, where none does, most contradicts it.
    """
    best = max(parts, key=lambda p: p.entailment)
    if best.label == 'entailment':
        return best
    return max(parts, key=lambda p: p.contradiction)
