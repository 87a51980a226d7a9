"""
Natural language inference with a sequence classifier.

A premise that is too long for the model is read in windows of whole sentences. The
result is that of the window that most entails the hypothesis or, if none entails it, of
the window that most contradicts it.
"""

from functools import partial
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence

from parlai_q2.errors import ConfigError
from parlai_q2.models.classifier import ORDER, PairInput, check_labels, find_labels
from parlai_q2.models.engine.batching import (
    batch_size_on,
    length_step,
    map_unique,
    padded_batches,
)
from parlai_q2.models.lazy import Lazy
from parlai_q2.models.loading import FLOAT32, effective_arithmetic, load_tokenizer
from parlai_q2.models.protocols import NliProbabilities
from parlai_q2.models.references import identified
from parlai_q2.presets import ModelConfig
from parlai_q2.signature import unusual
from parlai_q2.text.sentences import windows

if TYPE_CHECKING:
    from parlai_q2.models.encoders import PairEncoder

# Whether a preset's model is already a classifier, or is still to be trained as one.
TRAINED, NEW = 'trained', 'new'
HEADS = (TRAINED, NEW)
# What the model is for; the names of its settings in signatures start with it.
NLI, DETECTOR = 'nli', 'detector'
# Usual values, which signatures leave out.
USUAL: Mapping[str, tuple[Any, ...]] = {
    'labels': (
        'entailment,neutral,contradiction',
        'entailment,neutral,contradiction,generic',
    ),
    'order': (','.join(ORDER),),
    'separator': (None,),
    'max_tokens': (384,),
    'lower_case': (False,),
}


class SequenceNliModel:
    """
    Classifies pairs with any Hugging Face sequence classifier.

    :param config: the preset's section. Its settings are ``labels`` (maps class names
        to the model's output indices; without them, the names in the model's
        configuration are used), ``order``, ``separator``, ``max_tokens`` (of both texts
        together) and ``lower_case`` (see
        :class:`~parlai_q2.models.classifier.PairInput`), ``batch_size``,
        ``gpu_batch_size`` (used on a GPU), ``arithmetic`` and ``head``.
    :param device: a torch device name.
    :param role: ``nli`` or ``detector``.
    """

    def __init__(
        self,
        config: ModelConfig,
        device: str = 'cpu',
        labels: Optional[Mapping[str, int]] = None,
        max_tokens: int = 384,
        lower_case: bool = False,
        batch_size: int = 32,
        gpu_batch_size: Optional[int] = None,
        arithmetic: str = FLOAT32,
        order: Sequence[str] = ORDER,
        separator: Optional[str] = None,
        head: str = TRAINED,
        role: str = NLI,
    ):
        if labels is not None:
            check_labels(labels)
        check_trained(config.model, head)
        self.config, self.device, self.labels = config, device, labels
        self.role = role
        self.input = PairInput(tuple(order), separator, max_tokens, lower_case)
        self.max_tokens, self.lower_case = max_tokens, lower_case
        self.batch_size = batch_size_on(device, batch_size, gpu_batch_size)
        self.arithmetic = effective_arithmetic(arithmetic, device)
        # A loaded model keeps its identity even if the folder's weights change later.
        self._identity = Lazy(partial(identified, config))
        self._loaded = Lazy(self._load)

    @property
    def settings(self) -> dict[str, Any]:
        return {
            self.role: self._identity(),
            f'{self.role}_arithmetic': self.arithmetic,
            **{
                f'{self.role}_{name}': value
                for name, value in unusual(self._details, USUAL).items()
            },
        }

    def classify(self, pairs: Sequence[tuple[str, str]]) -> list[NliProbabilities]:
        return map_unique(pairs, self._classify_long)

    @property
    def _details(self) -> dict[str, Any]:
        labels = self.config.settings.get('labels')
        return {
            'labels': 'model' if labels is None else _listed(labels),
            'order': ','.join(self.input.order),
            'separator': self.input.separator,
            'max_tokens': self.max_tokens,
            'lower_case': self.lower_case,
        }

    def _load(self) -> tuple['PairEncoder', Any, Mapping[str, int]]:
        from parlai_q2.models.encoders import load_encoder

        model = load_encoder(
            self.config.model,
            'AutoModelForSequenceClassification',
            self.device,
            self.config.revision,
            self.arithmetic,
        )
        labels = find_labels(self.labels, model.config, self.config.model)
        tokenizer = load_tokenizer(self.config.model, self.config.revision)
        # Load everything here, since backends with other batch sizes share the result.
        return model, tokenizer, labels

    def _classify_long(self, pairs: list[tuple[str, str]]) -> list[NliProbabilities]:
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
        # A text with no more characters than allowed tokens cannot be too long.
        if len(premise) + len(hypothesis) <= self.max_tokens:
            return [premise]
        _, tokenizer, _ = self._loaded()
        count = self.input.count(tokenizer, premise, hypothesis)
        if count <= self.max_tokens:
            return [premise]
        words = max(1, len(premise.split()))
        per_word = count / (words + len(hypothesis.split()))
        room = max(32, int(self.max_tokens / per_word) - len(hypothesis.split()) - 8)
        return [w.text for w in windows(premise, room)] or [premise]

    def _classify(self, pairs: list[tuple[str, str]]) -> list[NliProbabilities]:
        model, tokenizer, _ = self._loaded()
        encoded = self.input.encode(tokenizer, pairs)
        results: list[NliProbabilities] = [NliProbabilities(0, 1, 0)] * len(pairs)
        batches, tensors = padded_batches(
            tokenizer, encoded, self.batch_size, length_step(self.device)
        )
        for batch, logits in zip(batches, model.logits(tensors), strict=True):
            for i, row in zip(batch, logits.softmax(-1).tolist(), strict=True):
                results[i] = self.by_class(row)
        return results

    def by_class(self, probabilities: Sequence[float]) -> NliProbabilities:
        """
        Name a model's output probabilities according to its labels.

        :param probabilities: one per output of the model, summing to 1.
        :return: the probabilities by class; 0 for a class that the model lacks.
        """
        labels = self._loaded()[2] if self.labels is None else self.labels
        found = {n: probabilities[index] for n, index in labels.items()}
        return NliProbabilities(
            **{n: found.get(n, 0.0) for n in NliProbabilities._fields}
        )


def check_trained(model: str, head: str) -> None:
    """
    Check that a preset's model can be used without further training.

    :param model: its reference.
    :param head: one of :data:`HEADS`.
    :raises ConfigError: if the model has to be trained first.
    """
    if head not in HEADS:
        raise ConfigError(f'head must be one of {", ".join(HEADS)}, not {head!r}.')
    if head == NEW:
        raise ConfigError(
            f'The preset names {model} as a base to train a classifier from; it '
            'does not classify yet. Train it (parlai_q2 train_model -m '
            'q2:hf_classifier --save-hf-weights true; see '
            'docs/agents/hf_classifier.md), then put the resulting folder in its '
            'place.'
        )


def speak_for(parts: Sequence[NliProbabilities]) -> NliProbabilities:
    """
    The result for a premise, from the results of its windows.

    :param parts: the probabilities of each window, at least one.
    :return: those of the window that most entails the hypothesis or, if none entails
        it, that most contradicts it.
    """
    best = max(parts, key=lambda p: p.entailment)
    if best.label == 'entailment':
        return best
    return max(parts, key=lambda p: p.contradiction)


def _listed(labels: Mapping[str, int]) -> str:
    """
    The labels in the order of their outputs, for signatures.
    """
    return ','.join(sorted(labels, key=lambda name: labels[name]))
