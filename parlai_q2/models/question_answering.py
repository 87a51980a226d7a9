"""
Extractive question answering with a span-prediction encoder (SQuAD 2 style), which
reads an answer off the start and end logits in one of two ways:

- ``argmax``: the likeliest start and the likeliest end, each on its own, as Q2's
  released code does. An end before the start, or either outside the text, means no
  answer.
- ``joint``: the best pair with start <= end and at most ``max_answer_tokens`` tokens.
  There is no answer if ``[CLS]`` beats it by more than ``no_answer_threshold`` (Devlin
  et al. 2019, on SQuAD 2.0).

A long text is read in overlapping windows; the answer with the greatest margin counts.
Of a very long text, only the windows whose sentences match the question best are read.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from parlai_q2.json_values import JsonObject
from parlai_q2.models.backend import Backend, Encoder, not_finite
from parlai_q2.models.batches import map_unique
from parlai_q2.options import Word
from parlai_q2.presets import ModelConfig
from parlai_q2.signature import unusual
from parlai_q2.text.selection import index_passages
from parlai_q2.turns import Span

if TYPE_CHECKING:
    from tokenizers import Encoding

# Neighbouring windows overlap by a third, as in BERT's SQuAD recipe (128 of 384).
OVERLAP_SHARE = 3
QUESTION_SHARE = 6  # a question may take up to a sixth of the model's tokens
# The maximum number of windows that are read of a text. At the usual window size, these
# are about 40,000 characters, which take a core one or two seconds.
MAX_WINDOWS = 32
# Usual values, which signatures leave out. ``argmax`` has no maximum answer length.
USUAL: Mapping[str, tuple[object, ...]] = {
    'qa_max_tokens': (384,),
    'qa_answer_tokens': (21, None),
}


class SpanChoice(Word):
    """The ways to read an answer off the logits; see the module."""

    ARGMAX = 'argmax'
    JOINT = 'joint'


class SpanReading(NamedTuple):
    """An answer's character offsets (None: no answer) and its margin over no answer."""

    span: tuple[int, int] | None
    margin: float


class SpanQuestionAnswerer(Backend):
    """
    Answers with a converted or any Hugging Face extractive question-answering model.

    :param config: the preset's section. Its settings are ``reading`` (``argmax`` or
        ``joint``), ``no_answer_threshold`` (in logits, 0 by default),
        ``max_answer_tokens``, ``max_tokens`` (of question and text together), and
        those of :class:`~parlai_q2.models.backend.Backend`.
    """

    def __init__(
        self,
        config: ModelConfig,
        reading: str = SpanChoice.JOINT,
        no_answer_threshold: float = 0.0,
        max_answer_tokens: int = 21,
        max_tokens: int = 384,
        **shared: Any,
    ):
        SpanChoice.check('reading', reading)
        super().__init__(config, **shared)
        self.reading, self.no_answer_threshold = reading, no_answer_threshold
        self.max_answer_tokens, self.max_tokens = max_answer_tokens, max_tokens

    @property
    def settings(self) -> JsonObject:
        is_joint = self.reading == SpanChoice.JOINT
        threshold = f'{self.no_answer_threshold:g}' if is_joint else ''
        details = {
            'qa_max_tokens': self.max_tokens,
            'qa_answer_tokens': self.max_answer_tokens if is_joint else None,
        }
        return {
            'qa': self.identity(),
            'qa_reading': f'{self.reading}{threshold}',
            'qa_engine': self.engine,
            **unusual(details, USUAL),
        }

    def answer(self, pairs: Sequence[tuple[str, str]]) -> list[Span | None]:
        """
        Answer questions by spans of their texts.

        :param pairs: Q pairs (question, text).
        :return: Q spans; None if the text has no answer.
        """
        return [span for span, _ in self.with_margins(pairs)]

    def with_margins(
        self, pairs: Sequence[tuple[str, str]]
    ) -> list[tuple[Span | None, float]]:
        """Return each answer, and its margin in logits over "no answer"."""
        return map_unique(pairs, self._answer)

    def _load(self) -> Encoder:
        return self._open_encoder('AutoModelForQuestionAnswering')

    def _answer(self, pairs: list[tuple[str, str]]) -> list[tuple[Span | None, float]]:
        model: Encoder = self._loaded()
        tokens = model.tokens
        room = self.max_tokens // QUESTION_SHARE
        windows = tokens.windows(
            [tokens.cut(question, room) for question, _ in pairs],
            [text for _, text in pairs],
            self.max_tokens,
            self.max_tokens // OVERLAP_SHARE,
        )
        windows = [
            choose_windows(of_pair, *pair)
            for of_pair, pair in zip(windows, pairs, strict=True)
        ]
        owners = [i for i, of_pair in enumerate(windows) for _ in of_pair]
        flat = [*chain.from_iterable(windows)]
        best: list[SpanReading] = [SpanReading(None, float('-inf'))] * len(pairs)
        null = tokens.id('cls_token')
        logits = model.spans(flat)
        for owner, window, row in zip(owners, flat, logits, strict=True):
            if not np.isfinite(row).all():
                raise not_finite(self.config.model)
            reading = self.read(
                row[:, 0],
                row[:, 1],
                window.ids.index(null),
                [s == 1 for s in window.sequence_ids],
                window.offsets,
            )
            if better(reading, best[owner]):
                best[owner] = reading
        return [
            (Span(text[r.span[0] : r.span[1]], *r.span) if r.span else None, r.margin)
            for (_, text), r in zip(pairs, best, strict=True)
        ]

    def read(
        self,
        start: np.ndarray,
        end: np.ndarray,
        null: int,
        in_text: list[bool],
        offsets: Sequence[tuple[int, int]],
    ) -> SpanReading:
        """
        The answer in one window.

        :param start: start logits [L], and ``end``.
        :param null: the position of ``[CLS]``.
        :param in_text: L booleans, True for the positions of the text.
        :param offsets: the characters of each of L tokens.
        """
        inside = np.array(in_text)
        none = SpanReading(None, float('-inf'))
        if not inside.any():
            return none
        null_score = start[null] + end[null]
        if self.reading == SpanChoice.ARGMAX:
            first, last = int(start.argmax()), int(end.argmax())
            if last < first or not (in_text[first] and in_text[last]):
                return none
            margin = start[first] + end[last] - null_score
            return SpanReading((offsets[first][0], offsets[last][1]), float(margin))
        size = len(start)
        # The ends at most this far from each start; positions outside never win.
        longest = min(self.max_answer_tokens, size)
        never = np.full(longest - 1, -np.inf)
        padded = np.concatenate([np.where(inside, end, -np.inf), never])
        ends = np.lib.stride_tricks.sliding_window_view(padded, longest)
        pairs = np.where(inside, start, -np.inf)[:, None] + ends  # [L, longest]
        first, beyond = divmod(int(pairs.argmax()), longest)
        last = first + beyond
        margin = float(pairs[first, beyond] - null_score)
        if margin < -self.no_answer_threshold:
            return SpanReading(None, margin)
        return SpanReading((offsets[first][0], offsets[last][1]), margin)


def choose_windows(
    windows: list['Encoding'], question: str, text: str
) -> list['Encoding']:
    """
    Choose the windows of a text to read, in order, at most :data:`MAX_WINDOWS`: first
    those with the sentences that match the question best, then the first ones.
    """
    if len(windows) <= MAX_WINDOWS:
        return windows
    # The offset of each window in the text.
    starts = [window.offsets[window.sequence_ids.index(1)][0] for window in windows]
    index = index_passages(text)
    matching = [
        max(0, bisect_right(starts, index.sentences[n].start) - 1)
        for n in index.best(question, len(index.sentences))
    ]
    in_order = dict.fromkeys([*matching, *range(len(windows))])
    return [windows[n] for n in sorted(islice(in_order, MAX_WINDOWS))]


def better(new: SpanReading, old: SpanReading) -> bool:
    """Whether a reading is better: an answer beats none, then the margin counts."""
    return (new.span is not None, new.margin) > (old.span is not None, old.margin)
