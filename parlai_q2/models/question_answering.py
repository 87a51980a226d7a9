"""
Extractive question answering with a span-prediction encoder (SQuAD 2 style), which
reads an answer off the start and end logits in one of two ways:

- ``argmax``: the likeliest start and the likeliest end, each on its own, as Q2's
  released code does. An end before the start, or either outside the text, means no
  answer.
- ``joint``: the best pair with start <= end and at most ``max_answer_tokens`` tokens.
  There is no answer if ``[CLS]`` beats it by more than ``no_answer_threshold`` (Devlin
  et al. 2019, section 4.3).

A long text is read in overlapping windows; the answer with the greatest margin counts.
"""

from typing import TYPE_CHECKING, Any, Mapping, NamedTuple, Optional, Sequence

from parlai_q2.errors import ConfigError
from parlai_q2.models.backend import Backend
from parlai_q2.models.engine.batching import map_unique
from parlai_q2.models.loading import load_tokenizer
from parlai_q2.presets import ModelConfig
from parlai_q2.signature import unusual
from parlai_q2.turns import Span

if TYPE_CHECKING:
    from parlai_q2.models.encoders import PairEncoder

READINGS = ('argmax', 'joint')
# Neighbouring windows overlap by a third, as in BERT's SQuAD recipe (128 of 384).
OVERLAP_SHARE = 3
QUESTION_SHARE = 6  # a question may take up to a sixth of the model's tokens
# Usual values, which signatures leave out. ``argmax`` has no maximum answer length.
USUAL: Mapping[str, tuple[Any, ...]] = {
    'qa_max_tokens': (384,),
    'qa_answer_tokens': (21, None),
}


class Reading(NamedTuple):
    """An answer's character offsets (None: no answer) and its margin over no answer."""

    span: Optional[tuple[int, int]]
    margin: float


class SpanQuestionAnswerer(Backend):
    """
    Answers with any Hugging Face extractive question-answering model.

    :param config: the preset's section. Its settings are ``reading`` (``argmax`` or
        ``joint``), ``no_answer_threshold`` (in logits, 0 by default),
        ``max_answer_tokens``, ``max_tokens`` (of question and text together), and
        those of :class:`~parlai_q2.models.backend.Backend`.
    """

    def __init__(
        self,
        config: ModelConfig,
        reading: str = 'joint',
        no_answer_threshold: float = 0.0,
        max_answer_tokens: int = 21,
        max_tokens: int = 384,
        **shared: Any,
    ):
        if reading not in READINGS:
            raise ConfigError(f'reading must be one of {READINGS}, not {reading!r}.')
        super().__init__(config, **shared)
        self.reading, self.no_answer_threshold = reading, no_answer_threshold
        self.max_answer_tokens, self.max_tokens = max_answer_tokens, max_tokens

    @property
    def settings(self) -> dict[str, Any]:
        threshold = f'{self.no_answer_threshold:g}' if self.reading == 'joint' else ''
        details = {
            'qa_max_tokens': self.max_tokens,
            'qa_answer_tokens': (
                self.max_answer_tokens if self.reading == 'joint' else None
            ),
        }
        return {
            'qa': self.identity(),
            'qa_reading': f'{self.reading}{threshold}',
            'qa_arithmetic': self.arithmetic,
            **unusual(details, USUAL),
        }

    def answer(self, pairs: Sequence[tuple[str, str]]) -> list[Optional[Span]]:
        return map_unique(pairs, self._answer)

    def _load(self) -> tuple['PairEncoder', Any]:
        model = self._encoder('AutoModelForQuestionAnswering')
        return model, load_tokenizer(self.config.model, self.config.revision)

    def _answer(self, pairs: list[tuple[str, str]]) -> list[Optional[Span]]:
        from parlai_q2.models.encoders import finite_logits

        model, tokenizer = self._loaded()
        room = self.max_tokens // QUESTION_SHARE
        encoded = tokenizer(
            [cut_question(tokenizer, q, room) for q, _ in pairs],
            [text for _, text in pairs],
            truncation='only_second',
            max_length=self.max_tokens,
            stride=self.max_tokens // OVERLAP_SHARE,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        ids = encoded['input_ids']  # one list per window
        owners = encoded['overflow_to_sample_mapping']
        best: list[Reading] = [Reading(None, float('-inf'))] * len(pairs)
        batches, tensors = self._batches(tokenizer, encoded)
        found = finite_logits(model, tensors, self.config.model)
        for batch, logits in zip(batches, found, strict=True):
            for row, window in zip(logits, batch, strict=True):  # [L, 2]
                start, end = row[: len(ids[window])].unbind(-1)
                reading = self.read(
                    start,
                    end,
                    ids[window].index(tokenizer.cls_token_id),
                    [s == 1 for s in encoded.sequence_ids(window)],
                    encoded['offset_mapping'][window],
                )
                if better(reading, best[owners[window]]):
                    best[owners[window]] = reading
        return [
            Span(text[r.span[0] : r.span[1]], *r.span) if r.span else None
            for (_, text), r in zip(pairs, best, strict=True)
        ]

    def read(
        self,
        start: Any,
        end: Any,
        null: int,
        in_text: list[bool],
        offsets: Sequence[tuple[int, int]],
    ) -> Reading:
        """
        The answer in one window.

        :param start: start logits [L], and ``end``.
        :param null: the position of ``[CLS]``.
        :param in_text: L booleans, True for the positions of the text.
        :param offsets: the characters of each of L tokens.
        """
        import torch

        inside = torch.tensor(in_text)
        none = Reading(None, float('-inf'))
        if not bool(inside.any()):
            return none
        null_score = start[null] + end[null]
        if self.reading == 'argmax':
            first, last = int(start.argmax()), int(end.argmax())
            if last < first or not (in_text[first] and in_text[last]):
                return none
            margin = start[first] + end[last] - null_score
            return Reading((offsets[first][0], offsets[last][1]), float(margin))
        size = len(start)
        pairs = start[:, None] + end[None, :]  # [L, L]
        allowed = torch.ones(size, size, dtype=torch.bool).triu()
        allowed &= allowed.new_ones(size, size).tril(self.max_answer_tokens - 1)
        allowed &= inside[:, None] & inside[None, :]
        flat = pairs.masked_fill(~allowed, float('-inf')).view(-1).argmax()
        first, last = divmod(int(flat), size)
        margin = float(pairs[first, last] - null_score)
        if margin < -self.no_answer_threshold:
            return Reading(None, margin)
        return Reading((offsets[first][0], offsets[last][1]), margin)


def better(new: Reading, old: Reading) -> bool:
    """Whether a window's reading is better: an answer before none, then the margin."""
    return (new.span is not None, new.margin) > (old.span is not None, old.margin)


def cut_question(tokenizer: Any, question: str, tokens: int) -> str:
    """Truncate a question to at most this many tokens, to leave room for the text."""
    if len(question) <= tokens:  # a token has at least one character
        return question
    encoded = tokenizer(question, add_special_tokens=False, return_offsets_mapping=True)
    offsets = encoded['offset_mapping'][:tokens]
    return question[: offsets[-1][1]] if offsets else question
