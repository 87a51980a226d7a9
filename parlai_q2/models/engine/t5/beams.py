"""
The bookkeeping of beam search as transformers 4.57 defines it
(``GenerationMixin._beam_search``): the same tokens, and scores up to rounding.

At each step, the 2 K best continuations of a span's K beams are considered. Those among
the first K that end become finished sequences, of which the K best are kept; the first
K that do not end continue. A span is done when K sequences are finished (early
stopping), or at the length limit.
"""

from dataclasses import dataclass, field
from typing import NamedTuple, Optional

import torch

NEVER = float('-inf')


@dataclass(frozen=True)
class BeamSettings:
    """
    How to search; the names are those of transformers' ``GenerationConfig``.

    :param num_beams: K, at least 1.
    :param max_new_tokens: at least 1.
    :param no_repeat_ngram_size: no n-gram of this size may occur twice; 0 for no limit.
    """

    start: int
    end: int
    num_beams: int = 5
    max_new_tokens: int = 40
    no_repeat_ngram_size: int = 0
    length_penalty: float = 1.0


class Finished(NamedTuple):
    """
    A finished sequence: its score, and its tokens without the start token and, unless
    the length limit was reached, with the end token.
    """

    score: float
    tokens: list[int]


@dataclass
class Beams:
    """
    The beams of S spans, all of the same length.

    :param tokens: [S, K, T + 1], including the start token.
    :param scores: sums of log-probabilities [S, K].
    """

    settings: BeamSettings
    spans: list[int]
    tokens: torch.Tensor
    scores: torch.Tensor
    finished: list[list[Finished]] = field(default_factory=list)

    @classmethod
    def begin(
        cls, settings: BeamSettings, spans: list[int], device: torch.device
    ) -> 'Beams':
        """One row per span, with nothing but the start token."""
        tokens = torch.full((len(spans), 1, 1), settings.start, device=device)
        scores = torch.zeros(len(spans), 1, dtype=torch.float32, device=device)
        return cls(settings, spans, tokens, scores, [[] for _ in spans])

    @property
    def length(self) -> int:
        """T, the number of decoded tokens."""
        return self.tokens.shape[2] - 1

    def banned(self) -> Optional[torch.Tensor]:
        """The words that may not come next: pairs (row, word) [banned, 2], or None."""
        flat = self.tokens.flatten(0, 1)  # [rows, T + 1]
        return repeating(flat, self.settings.no_repeat_ngram_size)

    def advance(self, values: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        """
        Extend the beams by one token; returns the row that each beam continues, [S, K].

        :param values: log-probabilities of each row's 2 K likeliest words, [rows, 2 K].
        :param words: these words, [rows, 2 K].
        """
        size, beams = len(self.spans), self.settings.num_beams
        total = (values.view(size, -1, 2 * beams) + self.scores[:, :, None]).flatten(1)
        total, at = total.topk(2 * beams)  # [S, 2 K]
        parents, words = at // (2 * beams), words.view(size, -1).gather(1, at)
        stops = words == self.settings.end
        if self.length + 1 == self.settings.max_new_tokens:
            stops = torch.ones_like(stops)
        self._finish(total, parents, words, stops)
        # The first K that continue, in order. If all of them stop, the span is done.
        going = stops.to(torch.uint8).argsort(dim=1, stable=True)[:, :beams]
        self.scores = total.gather(1, going)
        parents, words = parents.gather(1, going), words.gather(1, going)
        index = parents[:, :, None].expand(-1, -1, self.tokens.shape[2])
        self.tokens = torch.cat(
            [self.tokens.gather(1, index), words[:, :, None]], 2
        )  # [S, K, T + 1]
        return parents

    def _finish(
        self,
        total: torch.Tensor,
        parents: torch.Tensor,
        words: torch.Tensor,
        stops: torch.Tensor,
    ) -> None:
        beams = self.settings.num_beams
        span, place = stops[:, :beams].nonzero(as_tuple=True)  # each [F]
        if not len(span):
            return
        length = self.length + 1
        worth = total[span, place] / length**self.settings.length_penalty
        before = self.tokens[span, parents[span, place], 1:]  # [F, T]
        whole = torch.cat([before, words[span, place, None]], 1)
        # Few large transfers: on a GPU, each waits for all pending work.
        spans = span.tolist()
        for s, value, tokens in zip(spans, worth.tolist(), whole.tolist(), strict=True):
            self.finished[s].append(Finished(value, tokens))
        for s in set(spans):
            self.finished[s].sort(key=lambda found: -found.score)
            del self.finished[s][beams:]

    def done(self) -> list[int]:
        """The places of spans whose result no further token can change."""
        beams = self.settings.num_beams
        if self.length == self.settings.max_new_tokens:
            return list(range(len(self.spans)))
        return [s for s, found in enumerate(self.finished) if len(found) == beams]

    def keep(self, order: list[int]) -> None:
        """Keep the spans at these places, in this order."""
        index = torch.tensor(order, dtype=torch.long, device=self.tokens.device)
        self.tokens = self.tokens.index_select(0, index)
        self.scores = self.scores.index_select(0, index)
        self.spans = [self.spans[s] for s in order]
        self.finished = [self.finished[s] for s in order]


def repeating(tokens: torch.Tensor, size: int) -> Optional[torch.Tensor]:
    """
    The words that would repeat an n-gram: pairs (row, word) [banned, 2], or None.

    :param tokens: [rows, T].
    :param size: n; 0 for no limit.
    """
    length = tokens.shape[1]
    if size < 1 or length < size:
        return None
    # A place counts if the n - 1 tokens from it on are the same as the last n - 1.
    places = length - size + 1
    same = torch.ones_like(tokens[:, :places], dtype=torch.bool)
    for n in range(size - 1):
        last = tokens[:, length - size + 1 + n, None]
        same &= tokens[:, n : n + places] == last
    row, place = same.nonzero(as_tuple=True)
    if not len(row):
        return None
    return torch.stack([row, tokens[row, place + size - 1]], 1)
