"""
Reads a reply in the light of the turns before it, with one sequence classifier of two
outputs:

- ``relevance``: whether the reply answers the last turn. For this the model reads turns
  and reply alone: a wrong answer is an answer. So the inputs are short.
- ``support``: whether the knowledge supports the reply as an answer to the turn. For
  this it also reads the sentences of the knowledge that match: "No, only on Mondays."
  is a claim only beside its question. With knowledge, ``relevance`` says whether the
  reply is the best possible one: it answers, and rightly.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from parlai_q2.errors import ConfigError
from parlai_q2.json_values import JsonObject
from parlai_q2.models.backend import Backend, Encoder, not_finite
from parlai_q2.models.batches import map_unique
from parlai_q2.models.nli import output_names
from parlai_q2.models.tokens import Tokens, most_tokens
from parlai_q2.presets import ModelConfig
from parlai_q2.text.selection import index_passages

# The maximum number of turns that are read, with the user's last one.
TURNS = 3
MAX_TOKENS = 224
# The shares of the tokens that turns and reply can take.
MOST_FOR_TURNS, MOST_FOR_REPLY = 0.3, 0.35
OUTPUTS = ('relevance', 'support')
# The maximum number of characters of the knowledge that are read.
KNOWLEDGE_CHARACTERS = 360
# The number of sentences whose neighbours are read. In longer knowledge (a page, or
# several passages), neighbours are often on another topic, and are not read.
CENTERS, CLOSE_CHARACTERS = 3, 1000
# The lower bound of logits, and the logit of a blank reply.
LEAST = -10.0


class AnswerLogits(NamedTuple):
    """
    The outputs of the model for a reply with its turn and knowledge.

    :param best: ``relevance``, the logit that it is the best possible reply.
    :param support: the logit that the knowledge supports it as an answer.
    """

    best: float = LEAST
    support: float = LEAST


class RelevanceModel(Backend):
    """
    Predicts with a converted or Hugging Face classifier.

    :param config: the preset's section.
    :param max_tokens: the most tokens of an input.
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
    def settings(self) -> JsonObject:
        """The settings that identify the model in signatures."""
        settings: JsonObject = {
            'relevance': self.identity(),
            'relevance_engine': self.engine,
        }
        if self.max_tokens != MAX_TOKENS:
            settings['relevance_max_tokens'] = self.max_tokens
        return settings

    def predict_relevance(
        self, inputs: Sequence[tuple[Sequence[str], str]]
    ) -> list[float]:
        """
        Predict relevance for B replies, each independently of the others.

        :param inputs: B times the turns before the reply, oldest first (may be empty),
            and the reply.
        :return: B logits; :data:`LEAST` for a blank reply.
        :raises ModelError: if the model cannot be loaded or computes no numbers.
        """
        texts = [(tuple(turns), '', reply) for turns, reply in inputs]
        rows = map_unique(texts, self._read)
        return [LEAST if row is None else max(row[0], LEAST) for row in rows]

    def predict_answers(
        self, inputs: Sequence[tuple[str, Sequence[str], str]]
    ) -> list[AnswerLogits]:
        """
        Predict whether B replies are right answers, each independently of the others.

        :param inputs: B times the knowledge as one text, the turns before the reply,
            oldest first (may be empty), and the reply.
        :return: B pairs of logits; :data:`LEAST` without knowledge and for a blank
            reply.
        :raises ModelError: if the model cannot be loaded or computes no numbers.
        """
        texts = [
            (tuple(turns), knowledge, reply if knowledge.strip() else '')
            for knowledge, turns, reply in inputs
        ]
        rows = map_unique(texts, self._read)
        return [
            AnswerLogits() if row is None else AnswerLogits(best=row[0], support=row[1])
            for row in rows
        ]

    def _read(
        self, inputs: list[tuple[tuple[str, ...], str, str]]
    ) -> list[tuple[float, ...] | None]:
        """The logits of each input, in the order of outputs; None for a blank reply."""
        logits: list[tuple[float, ...] | None] = [None] * len(inputs)
        places = [n for n, (_, _, reply) in enumerate(inputs) if reply.strip()]
        if not places:
            return logits
        model: Encoder = self._loaded()
        tokens = model.tokens
        pairs = [self._fit(tokens, *inputs[n]) for n in places]
        first, second = zip(*pairs, strict=True)
        encoded = tokens.pairs(first, second, self.max_tokens)
        rows = np.stack(model.classes(encoded)).astype(np.float64)
        if not np.isfinite(rows).all():
            raise not_finite(self.config.model)
        for n, row in zip(places, rows.tolist(), strict=True):
            logits[n] = tuple(row)
        return logits

    def _load(self) -> Encoder:
        model = self._open_encoder('AutoModelForSequenceClassification')
        names = tuple(output_names(model.config))
        if names != OUTPUTS:
            raise ConfigError(
                f'{self.config.model} has the outputs {", ".join(names) or "unnamed"}; '
                f'a model of relevance has {", ".join(OUTPUTS)}. Train one with '
                'zoo/train/train_relevance.py.'
            )
        return model

    def _fit(
        self, tokens: Tokens, turns: tuple[str, ...], known: str, reply: str
    ) -> tuple[str, str]:
        """The two texts of an input, with the end of the turns, where they ask."""
        room = int(self.max_tokens * MOST_FOR_TURNS)
        kept = list(turns[-TURNS:])
        while len(kept) > 1 and _is_longer(tokens, join_turns(kept), room):
            del kept[0]
        kept = [tokens.cut_start(turn, room) for turn in kept]
        reply = tokens.cut(reply, int(self.max_tokens * MOST_FOR_REPLY))
        context = add_knowledge(kept, known, reply) if known else join_turns(kept)
        return context, reply


def join_turns(turns: Sequence[str]) -> str:
    """
    The last turns, as the model reads them.

    >>> join_turns(['Hi!', 'When did it open?'])
    'Hi! / When did it open?'
    """
    return ' / '.join(turns[-TURNS:])


def add_knowledge(turns: Sequence[str], knowledge: str, reply: str) -> str:
    """
    The last turns with the knowledge: of long knowledge, the sentences that match turn
    and reply best, and then, unless it is very long, those that stand nearest to them.

    >>> add_knowledge(['Since when?'], 'It opened in 1969.', 'Since 1969.')
    'Since when? | It opened in 1969.'
    """
    index, left = index_passages(knowledge), KNOWLEDGE_CHARACTERS
    places = range(len(index.sentences))
    best = index.best(' '.join([*turns[-TURNS:], reply]), len(places))

    def distance(place: int) -> int:
        return min(abs(place - center) for center in best[:CENTERS])

    is_close = len(knowledge) <= CLOSE_CHARACTERS
    near = sorted(places, key=distance) if is_close else []
    kept: list[int] = []
    for place in dict.fromkeys([*best, *near]):
        text = index.sentences[place].text
        if len(text) <= left or not kept:
            kept.append(place)
            left -= len(text)
    chosen = ' '.join(index.sentences[place].text for place in sorted(kept))
    return f'{join_turns(turns)} | {chosen}'


def _is_longer(tokens: Tokens, text: str, count: int) -> bool:
    return most_tokens(text) > count and len(tokens.ids(text)) > count
