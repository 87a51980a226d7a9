"""
T5's decoder for many beams, which reads one token at a time.

Spans that start together, with inputs of the same padded length, form a lane. Lanes at
different steps share every product with weights; attention is computed lane by lane, in
shapes that depend only on the lane's length and step. So a span's results do not depend
on what else is decoded (bit for bit with int8 weights). On a CPU, attention is computed
one row at a time, as the model does, so that it rounds the same way; on a GPU, where
calls cost more than products, all rows at once.

A span's K beams share the keys and values of its input. Those of decoded tokens stay
where they were written: a table says which rows a beam descends from.
"""

from typing import Any, Sequence

import torch

from parlai_q2.models.device import is_cpu
from parlai_q2.models.engine.t5.layers import Attention, FeedForward


class Lane:
    """
    The decoder's state for S spans that started together.

    :param cross: keys and values of the inputs, [layers, 2, S, H, L, D].
    :param mask: additive mask of the inputs, [S, L].
    """

    def __init__(self, cross: torch.Tensor, mask: torch.Tensor, beams: int, steps: int):
        layers, _, size, heads, _, width = cross.shape
        self.size, self.beams, self.step = size, beams, 0
        self._cross, self._mask = cross, mask
        self._by_row = is_cpu(cross.device.type)
        # Keys and values of decoded tokens: those of row k at step t are at [t, k].
        self._past = cross.new_empty(layers, size, heads, steps, beams, 2 * width)
        # For each beam and step, the row that wrote the keys and values.
        self._ancestors = torch.zeros(
            (size, beams, steps), dtype=torch.long, device=cross.device
        )

    @property
    def beams_now(self) -> int:
        """Rows per span in the next step: one at the start, then one per beam."""
        return self.beams if self.step else 1

    @property
    def rows(self) -> int:
        """Rows of all spans in the next step."""
        return self.size * self.beams_now

    def begin_step(self, position_bias: torch.Tensor) -> None:
        """
        Prepare what the attention of all layers shares, given the bias of the current
        token to all tokens so far, [H, step + 1].
        """
        now, (size, heads, steps, beams) = self.beams_now, self._past.shape[1:5]
        device = self._ancestors.device
        rows = torch.arange(now, device=device)
        self._ancestors[: self.size, :now, self.step] = rows
        seen = self._ancestors[: self.size, None, :now, : self.step + 1]
        # Indices into the past for each span, head, row and step:
        # [S, H, rows per span, T].
        first = torch.arange(size * heads, device=device).view(size, heads, 1, 1)
        step = torch.arange(self.step + 1, device=device)
        places = (first[: self.size] * steps + step) * beams + seen
        self._places, self._bias = places.flatten(), position_bias[:, None]

    def attend_past(self, layer: int, qkv: torch.Tensor) -> torch.Tensor:
        """Attention to decoded tokens and the new one: [rows, 3 H D] to [rows, H D]."""
        past, now, length = self._past[layer], self.beams_now, self.step + 1
        heads, width = past.shape[1], past.shape[4] // 2
        split = qkv.view(self.size, now, 3, heads, width).permute(2, 0, 3, 1, 4)
        new = past[: self.size, :, self.step, :now]  # [S, H, rows per span, 2 * D]
        new[..., :width], new[..., width:] = split[1], split[2]
        # The ancestors of each row, one matrix per row and head:
        # [S * H * rows, T, 2 * D].
        seen = past.view(-1, 2 * width).index_select(0, self._places)
        keys, values = seen.view(-1, length, 2 * width).split(width, 2)
        q = split[0].reshape(-1, 1, width)
        scores = torch.bmm(q, keys.transpose(1, 2)).view(-1, heads, now, length)
        weights = scores.add_(self._bias).softmax(-1).view(-1, 1, length)
        out = torch.bmm(weights, values).view(self.size, heads, now, width)
        return out.transpose(1, 2).reshape(-1, heads * width)

    def attend_input(self, layer: int, q: torch.Tensor) -> torch.Tensor:
        """Attention to the input: [rows, H * D] to the same."""
        keys, values = self._cross[layer, :, : self.size].flatten(1, 2)  # [S * H, L, D]
        now, heads, length = self.beams_now, self._cross.shape[3], keys.shape[1]
        mask = self._mask[: self.size, None]  # [S, 1, L]
        split = q.view(self.size, now, heads, -1)
        if not self._by_row:
            q = split.transpose(1, 2).flatten(0, 1)  # [S * H, rows per span, D]
            scores = torch.bmm(q, keys.transpose(1, 2)).view(-1, heads, now, length)
            weights = scores.add_(mask[:, None]).softmax(-1).flatten(0, 1)
            out = torch.bmm(weights, values).view(self.size, heads, now, -1)
            return out.transpose(1, 2).reshape(-1, q.shape[2] * heads)
        split = split.transpose(0, 1).flatten(1, 2)
        scores = q.new_empty(now, len(keys), 1, length)
        for n in range(now):
            torch.bmm(split[n, :, None], keys.transpose(1, 2), out=scores[n])
        scores.view(now, self.size, heads, length).add_(mask)
        return self._read_by_row(scores.softmax(-1), values)

    def _read_by_row(self, weights: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        # [K, S * H, 1, N] and [S * H, N, D] to [S * K, H * D]
        out = torch.stack([torch.bmm(part, values) for part in weights])
        split = out.view(len(weights), self.size, -1, values.shape[2])
        return split.transpose(0, 1).flatten(2).flatten(0, 1)

    def end_step(self, parents: torch.Tensor) -> None:
        """Give each beam the ancestors of the beam that it continues, [S, K]."""
        self.step += 1
        seen = self._ancestors[: self.size, :, : self.step]
        index = parents[:, :, None].expand(-1, -1, self.step)
        self._ancestors[: self.size, :, : self.step] = seen.gather(1, index)

    def keep(self, order: Sequence[int]) -> None:
        """Keep the spans at these places, in order; only those that move are moved."""
        used = self.step
        for to, source in enumerate(order):
            if to != source:
                for kept in (self._mask, self._ancestors):
                    kept[to] = kept[source]
                self._cross[:, :, to] = self._cross[:, :, source]
                self._past[:, to, :, :used] = self._past[:, source, :, :used]
        self.size = len(order)


class Decoder:
    """
    Reads the last token of each row and returns the hidden states for scoring the
    output vocabulary.

    :param stack: the decoder of a T5; its parts are named as in transformers.
    :param scale: a factor for the last hidden states.
    """

    def __init__(self, stack: Any, scale: float):
        self.embed, self.norm = stack.embed_tokens, stack.final_layer_norm
        self.scale = scale
        first = stack.block[0].layer[0].SelfAttention
        self.heads, self._compute_bias = first.n_heads, first.compute_bias
        self.layers = [
            (
                Attention(past.SelfAttention, past.layer_norm, 'qkv'),
                Attention(read.EncDecAttention, read.layer_norm, 'q', 'kv'),
                FeedForward(last),
            )
            for past, read, last in (block.layer for block in stack.block)
        ]

    def lane(
        self, hidden: torch.Tensor, mask: torch.Tensor, beams: int, steps: int
    ) -> Lane:
        """A lane for inputs: hidden states [S, L, M] and an additive mask [S, L]."""
        size, length, _ = hidden.shape
        cross = torch.stack(
            [
                attention.projections[1](hidden)
                .view(size, length, 2, self.heads, -1)
                .permute(2, 0, 3, 1, 4)
                for _, attention, _ in self.layers
            ]
        )  # [layers, 2, S, H, L, D]
        return Lane(cross, mask.clone(), beams, steps)

    def position_bias(self, steps: int) -> torch.Tensor:
        """The attention bias for the distance between two tokens, [H, steps, steps]."""
        return self._compute_bias(steps, steps)[0]

    def step(
        self, lanes: Sequence[Lane], tokens: torch.Tensor, bias: torch.Tensor
    ) -> torch.Tensor:
        """Read one token per row, [rows]; returns hidden states [rows, M]."""
        for lane in lanes:
            lane.begin_step(bias[:, lane.step, : lane.step + 1])
        rows = [lane.rows for lane in lanes]
        x = self.embed(tokens)
        for n, (to_past, to_input, feed_forward) in enumerate(self.layers):
            qkv = to_past.projections[0](to_past.norm(x)).split(rows)
            seen = [
                lane.attend_past(n, part) for lane, part in zip(lanes, qkv, strict=True)
            ]
            x = x.add_(to_past.out(torch.cat(seen)))
            q = to_input.projections[0](to_input.norm(x)).split(rows)
            read = [
                lane.attend_input(n, part) for lane, part in zip(lanes, q, strict=True)
            ]
            x = x.add_(to_input.out(torch.cat(read)))
            x = feed_forward(x)
        x = self.norm(x)
        return x if self.scale == 1 else x.mul_(self.scale)
