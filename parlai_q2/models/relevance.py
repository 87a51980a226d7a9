"""
Says of a reply whether it answers the turn before it, and whether it is free of
unsupported claims. A sequence classifier with two outputs reads knowledge, the last
turns and the reply together: "No, only at weekends." is a claim only beside its
question.
"""

from collections.abc import Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from parlai_q2.errors import ConfigError
from parlai_q2.models.backend import Backend, not_finite
from parlai_q2.models.batching import map_unique
from parlai_q2.models.classifier import output_names
from parlai_q2.models.tokens import Tokens
from parlai_q2.presets import ModelConfig, Section
from parlai_q2.text.selection import index_of

if TYPE_CHECKING:
    from parlai_q2.models.encoders import PairEncoder

# The most turns that are read, the user's last among them.
TURNS = 3
MAX_TOKENS = 384
# The shares of what the model can read that turns and reply can take up.
MOST_FOR_TURNS, MOST_FOR_REPLY = 0.25, 0.5
# Of long knowledge, so many sentences are looked at.
MOST_SENTENCES = 64
OUTPUTS = ('relevance', 'support')


class RelevancePrediction(NamedTuple):
    """
    What the model says of a reply, each in [0, 1].

    :param relevance: whether it answers the turn, or greets or declines where that is
        the right thing to do.
    :param support: whether the knowledge supports all that it claims, read in the light
        of the turns.
    """

    relevance: float
    support: float


# Of a reply that says nothing.
NOTHING = RelevancePrediction(0.0, 0.0)


class RelevanceModel(Backend):
    """
    Predicts relevance and support with a converted or Hugging Face classifier, whose
    outputs are named ``relevance`` and ``support``.

    :param config: the preset's section.
    :param max_tokens: the most tokens of an input. Of longer knowledge, the sentences
        are read that match the last turn and the reply best.
    :param shared: settings of :class:`~parlai_q2.models.backend.Backend`.
    """

    def __init__(
        self, config: ModelConfig, max_tokens: int = MAX_TOKENS, **shared: Any
    ):
        super().__init__(config, **shared)
        if max_tokens < 16:
            raise ConfigError(f'max_tokens is {max_tokens}; it must be at least 16.')
        self.max_tokens = max_tokens

    @property
    def settings(self) -> dict[str, Any]:
        """What identifies the model in signatures."""
        role = str(Section.RELEVANCE)
        settings = {role: self.identity(), f'{role}_engine': self.engine}
        if self.max_tokens == MAX_TOKENS:
            return settings
        return {**settings, f'{role}_max_tokens': self.max_tokens}

    def predict(
        self, inputs: Sequence[tuple[str, Sequence[str], str]]
    ) -> list[RelevancePrediction]:
        """
        Predict for B replies; each as if it were given alone.

        :param inputs: B times the knowledge (its passages as one text; may be empty),
            the turns before the reply, oldest first (may be empty), and the reply.
        :return: B predictions; zeros for a blank reply.
        :raises ModelError: if the model cannot be loaded or computes no numbers.
        """
        hashable = [
            (knowledge, tuple(turns), reply) for knowledge, turns, reply in inputs
        ]
        return map_unique(hashable, self._predict)

    def _predict(
        self, inputs: list[tuple[str, tuple[str, ...], str]]
    ) -> list[RelevancePrediction]:
        predictions = [NOTHING] * len(inputs)
        places = [n for n, (_, _, reply) in enumerate(inputs) if reply.strip()]
        if not places:
            return predictions
        model, tokens = self._loaded()
        pairs = [self._fitting(tokens, *inputs[n]) for n in places]
        encoded = tokens.pairs(*zip(*pairs), self.max_tokens)
        logits = np.stack(model.classes(encoded)).astype(np.float64)
        if not np.isfinite(logits).all():
            raise not_finite(self.config.model)
        for n, row in zip(places, 1 / (1 + np.exp(-logits)), strict=True):
            predictions[n] = RelevancePrediction(*row.tolist())
        return predictions

    def _load(self) -> tuple['PairEncoder', Tokens]:
        model, tokens = self._encoder('AutoModelForSequenceClassification')
        names = tuple(output_names(model.config))
        if names != OUTPUTS:
            raise ConfigError(
                f'{self.config.model} has the outputs {", ".join(names) or "unnamed"}; '
                f'a model of relevance has {", ".join(OUTPUTS)}. Train one with '
                'zoo/train/train_relevance.py.'
            )
        return model, tokens

    def _fitting(
        self, tokens: Tokens, knowledge: str, turns: Sequence[str], reply: str
    ) -> tuple[str, str]:
        """The two texts of an input, which the model can read at once."""
        context = context_of(knowledge, turns)
        # A text with no more characters than allowed tokens cannot be too long.
        if len(context) + len(reply) + 3 <= self.max_tokens:
            return context, reply
        if tokens.count(context, reply) <= self.max_tokens:
            return context, reply
        reply = tokens.cut(reply, int(self.max_tokens * MOST_FOR_REPLY))
        last = [
            tokens.cut(t, int(self.max_tokens * MOST_FOR_TURNS)) for t in turns[-1:]
        ]
        room = self.max_tokens - tokens.count(context_of('', last), reply) - 1
        index = index_of(knowledge)
        best = index.best(' '.join([*last, reply]), MOST_SENTENCES)
        rest = (n for n in range(len(index.sentences)) if n not in best)
        chosen = {}
        for n in islice(chain(best, rest), MOST_SENTENCES):
            text = index.sentences[n].text
            size = len(tokens.ids(text))
            if size <= room:
                chosen[n] = text
                room -= size
        return context_of(' '.join(chosen[n] for n in sorted(chosen)), last), reply


def context_of(knowledge: str, turns: Sequence[str]) -> str:
    """
    The last turns and the knowledge, as the model reads them.

    >>> context_of('It opened in 1969.', ['Hi!', 'When did it open?'])
    'Hi! / When did it open? | It opened in 1969.'
    """
    dialogue = ' / '.join(turns[-TURNS:])
    return ' | '.join(text for text in (dialogue, knowledge) if text)
