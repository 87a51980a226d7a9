"""
Beam search with T5: the same sequences and scores as ``model.generate``, but faster.

Inputs are encoded in batches of one padded length, and decoded together. On a CPU, a
span that is done gives its place to a waiting one, so that the products with weights
stay large. On a GPU, waiting spans start when all others are done.

A pass over the scores of the vocabulary costs as much as the product that computes
them. So log-probabilities are computed in one pass (on a CPU, for a few rows at a
time), and the k best words are looked for in the k blocks with the best maxima.
"""

from typing import Any, Iterator, Optional, Sequence

import torch
from torch import nn

from parlai_q2.models.device import inference, is_cpu
from parlai_q2.models.engine.batching import length_batches, length_step, padded_length
from parlai_q2.models.engine.t5.beams import NEVER, Beams, BeamSettings, Finished
from parlai_q2.models.engine.t5.decoder import Decoder, Lane
from parlai_q2.models.engine.t5.layers import Encoder, Layer

ARCHITECTURES = ('T5ForConditionalGeneration', 'MT5ForConditionalGeneration')
# Settings of a generation config that the search supports, or that do not affect it. A
# model with other settings is left to its own generate.
KNOWN = (
    'bos_token_id',
    'decoder_start_token_id',
    'early_stopping',
    'eos_token_id',
    'length_penalty',
    'max_length',
    'max_new_tokens',
    'no_repeat_ngram_size',
    'num_beams',
    'num_return_sequences',
    'pad_token_id',
    'transformers_version',
    'use_cache',
)
# A lane with fewer spans costs more in attention than it saves elsewhere.
MIN_LANE = 8
ROWS_AT_ONCE = 16
BLOCK = 64


class T5Search:
    """
    A T5 model, prepared for beam search.

    :param model: a Hugging Face model that :func:`searchable` accepts, or a model from
        :func:`~parlai_q2.models.engine.t5.stored.stored_t5`. Its weights are
        rearranged, which does not change its results.
    """

    def __init__(self, model: Any):
        self.encoder = Encoder(model.encoder)
        config = model.config
        # In transformers 5 every T5 says that it ties its embeddings; this setting has
        # what used to follow from that.
        tied = getattr(config, 'scale_decoder_outputs', config.tie_word_embeddings)
        scale = config.d_model**-0.5 if tied else 1.0
        self.decoder = Decoder(model.decoder, scale)
        self.output, self.device = model.lm_head, model.device
        self.step = length_step(self.device.type)
        # On a GPU, each lane costs calls at every step and keeps its memory to the end.
        self.refills = is_cpu(self.device.type)
        self.generation = model.generation_config

    def search(
        self, inputs: Sequence[list[int]], settings: BeamSettings, spans_at_once: int
    ) -> list[list[Finished]]:
        """The K best sequences of each input, best first."""
        results: list[list[Finished]] = [[] for _ in inputs]
        waiting = _Waiting(inputs, self.step)
        bias = self.decoder.position_bias(settings.max_new_tokens)
        running: list[tuple[Lane, Beams]] = []
        with inference(self.device):
            while running or waiting:
                room = spans_at_once - sum(lane.size for lane, _ in running)
                if running and not self.refills:
                    room = 0
                for spans in waiting.take(room, urgent=not running):
                    running.append(self._begin(inputs, spans, settings))
                running = list(self._step(running, settings, bias, results))
        return results

    def _begin(
        self, inputs: Sequence[list[int]], spans: list[int], settings: BeamSettings
    ) -> tuple[Lane, Beams]:
        length = padded_length(len(inputs[spans[0]]), self.step)
        ids = torch.zeros(len(spans), length, dtype=torch.long)
        low = torch.finfo(torch.float32).min
        mask = torch.full((len(spans), length), low, dtype=torch.float32)
        for row, span in enumerate(spans):
            size = len(inputs[span])
            ids[row, :size] = torch.tensor(inputs[span])
            mask[row, :size] = 0
        mask = mask.to(self.device)
        hidden = self.encoder(ids.to(self.device), mask)
        lane = self.decoder.lane(
            hidden, mask, settings.num_beams, settings.max_new_tokens
        )
        return lane, Beams.begin(settings, spans, hidden.device)

    def _step(
        self,
        running: Sequence[tuple[Lane, Beams]],
        settings: BeamSettings,
        bias: torch.Tensor,
        results: list[list[Finished]],
    ) -> Iterator[tuple[Lane, Beams]]:
        lanes = [lane for lane, _ in running]
        tokens = torch.cat([beams.tokens[:, :, -1].flatten() for _, beams in running])
        rows = [lane.rows for lane in lanes]
        hidden = self.decoder.step(lanes, tokens, bias)
        banned, start = [], 0
        for (_, beams), count in zip(running, rows, strict=True):
            pairs = beams.banned()
            if pairs is not None:
                banned.append(pairs + pairs.new_tensor([start, 0]))
            start += count
        values, words = likeliest(
            self.output,
            hidden,
            2 * settings.num_beams,
            torch.cat(banned) if banned else None,
        )
        for (lane, beams), value, word in zip(
            running, values.split(rows), words.split(rows), strict=True
        ):
            lane.end_step(beams.advance(value, word))
            done = set(beams.done())
            for place in done:
                results[beams.spans[place]] = beams.finished[place]
            if done:
                order = closed_up(lane.size, done)
                lane.keep(order)
                beams.keep(order)
            if lane.size:
                yield lane, beams


def closed_up(size: int, gone: set[int]) -> list[int]:
    """The old places in their new order; the last ones fill the gaps of those gone."""
    left = size - len(gone)
    movers = iter(s for s in range(left, size) if s not in gone)
    return [next(movers) if s in gone else s for s in range(left)]


class _Waiting:
    """Inputs that wait to be decoded, in groups of one padded length, longest first."""

    def __init__(self, inputs: Sequence[list[int]], step: int):
        lengths = [len(i) for i in inputs]
        self.groups = length_batches(lengths, max(1, len(inputs)), step)

    def __bool__(self) -> bool:
        return bool(self.groups)

    def take(self, room: int, urgent: bool) -> Iterator[list[int]]:
        """Take groups until the room is filled; unless urgent, none of only a few."""
        while self.groups and room > 0:
            group = self.groups[0]
            if len(group) > room < MIN_LANE and not urgent:
                return
            taken, rest = group[:room], group[room:]
            self.groups[:1] = [rest] if rest else []
            room -= len(taken)
            urgent = False
            yield taken


def searchable(model: Any) -> bool:
    """Whether :class:`T5Search` finds what the model's ``generate`` would find."""
    return (
        type(model).__name__ in ARCHITECTURES
        and model.dtype == torch.float32
        and known_settings(model.generation_config)
    )


def known_settings(generation: Any) -> bool:
    """Whether the search supports all settings of a ``GenerationConfig``."""
    changed = generation.to_diff_dict()
    unknown = {k for k in changed if not k.startswith('_')} - set(KNOWN)
    return (
        not unknown
        and isinstance(generation.eos_token_id, int)
        and isinstance(generation.decoder_start_token_id, int)
    )


def likeliest(
    layer: Layer, x: torch.Tensor, k: int, banned: Optional[torch.Tensor]
) -> tuple[torch.Tensor, torch.Tensor]:
    """
    The log-probabilities (among all words) of the k likeliest words of each row, best
    first, and these words: each [rows, k].

    :param layer: the output layer, which maps [rows, M] to [rows, V].
    :param x: hidden states [rows, M].
    :param banned: pairs (row, word) that may not come next, [banned, 2], or None.
    """
    values: list[torch.Tensor] = []
    words: list[torch.Tensor] = []
    logits = layer(x).float()
    at_once = ROWS_AT_ONCE if is_cpu(x.device.type) else len(x)
    for start in range(0, len(x), at_once):
        logs = logits[start : start + at_once].log_softmax(-1)  # [r, V]
        if banned is not None:
            inside = (banned[:, 0] >= start) & (banned[:, 0] < start + len(logs))
            row, word = banned[inside].unbind(1)
            logs[row - start, word] = NEVER
        value, index = top(logs, k)
        values.append(value)
        words.append(index)
    return torch.cat(values), torch.cat(words)


def top(scores: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """
    The k greatest values of each row [rows, V], the greatest first, and their indices,
    as from ``torch.topk``, but faster for long rows.
    """
    rows, size = scores.shape
    if size < k * BLOCK:
        return scores.topk(k)
    spare = -size % BLOCK
    if spare:
        scores = nn.functional.pad(scores, (0, spare), value=NEVER)
    blocks = scores.view(rows, -1, BLOCK)
    best = blocks.amax(-1).topk(k).indices  # [rows, k] blocks
    chosen = blocks.gather(1, best[:, :, None].expand(-1, -1, BLOCK))
    values, at = chosen.flatten(1).topk(k)  # among k * BLOCK
    block = best.gather(1, at // BLOCK)
    return values, block * BLOCK + at % BLOCK
