"""
The bookkeeping of beam search, in Hugging Face's reading of it.

Of the continuations of a span's K beams, the 2 K best are looked at. Those among the
first K that end are finished; the first K that do not end go on. A finished sequence is
worth the sum of its log-probabilities over its length to the power of the length
penalty, and the K best are kept. A span is done when K are finished (early stopping);
at the length limit, the first K are finished as they stand.

Reference: transformers 4.57, ``GenerationMixin._beam_search``, which these functions
equal token for token, and in scores up to rounding. Where two continuations are worth
exactly the same, either may be taken. Letters: S spans, K beams, T decoded tokens.
"""

from dataclasses import dataclass, field
from typing import NamedTuple, Optional

import torch

NEVER = float('-inf')


@dataclass(frozen=True)
class BeamSettings:
    """
    How to search; the names are those of transformers' ``GenerationConfig``.

    :param start: the token that the decoder starts with.
    :param end: the token that ends a sequence.
    :param num_beams: K, at least 1.
    :param max_new_tokens: at least 1.
    :param no_repeat_ngram_size: no n-gram of this size twice; 0 allows all.
    """

    start: int
    end: int
    num_beams: int = 5
    max_new_tokens: int = 40
    no_repeat_ngram_size: int = 0
    length_penalty: float = 1.0


class Finished(NamedTuple):
    """
    A sequence that was found.

    :param score: log-probability over length.
    :param tokens: without the start token, with the end token if it came.
    """

    score: float
    tokens: list[int]


@dataclass
class Beams:
    """
    The sequences of S spans that are equally long.

    :param settings: how to search.
    :param spans: whose they are, S numbers.
    :param tokens: [S, K, T + 1], start token included.
    :param scores: sums of log-probabilities [S, K].
    :param finished: of each span, best first.
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
        """
        One row a span, with nothing but the start token.
        """
        tokens = torch.full((len(spans), 1, 1), settings.start, device=device)
        scores = torch.zeros(len(spans), 1, dtype=torch.float32, device=device)
        return cls(settings, spans, tokens, scores, [[] for _ in spans])

    @property
    def length(self) -> int:
        """
        T, the tokens that were decoded.
        """
        return self.tokens.shape[2] - 1

    def banned(self) -> Optional[torch.Tensor]:
        """
        What may not follow.

        :return: pairs (row, word) [banned, 2], or None.
        """
        flat = self.tokens.flatten(0, 1)  # [rows, T + 1]
        return repeating(flat, self.settings.no_repeat_ngram_size)

    def advance(self, values: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        """
        Take one token more.

        :param values: log-probabilities of each row's 2 K likeliest words, [rows, 2 K].
        :param words: these words, [rows, 2 K].
        :return: the row that each beam continues, [S, K].
        """
        size, beams = len(self.spans), self.settings.num_beams
        total = (values.view(size, -1, 2 * beams) + self.scores[:, :, None]).flatten(1)
        total, at = total.topk(2 * beams)  # [S, 2 K]
        parents, words = at // (2 * beams), words.view(size, -1).gather(1, at)
        stops = words == self.settings.end
        if self.length + 1 == self.settings.max_new_tokens:
            stops = torch.ones_like(stops)
        self._finish(total, parents, words, stops)
        # The first K that go on, in order; where all stop, nothing more is read.
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
        # Few large reads: on a GPU each waits for all that was asked of it.
        spans = span.tolist()
        for s, value, tokens in zip(spans, worth.tolist(), whole.tolist(), strict=True):
            self.finished[s].append(Finished(value, tokens))
        for s in set(spans):
            self.finished[s].sort(key=lambda found: -found.score)
            del self.finished[s][beams:]

    def done(self) -> list[int]:
        """
        The places of spans that no further token can change.
        """
        beams = self.settings.num_beams
        if self.length == self.settings.max_new_tokens:
            return list(range(len(self.spans)))
        return [s for s, found in enumerate(self.finished) if len(found) == beams]

    def keep(self, order: list[int]) -> None:
        """
        Drop spans.

        :param order: the places of those that remain, in their new order.
        """
        index = torch.tensor(order, dtype=torch.long, device=self.tokens.device)
        self.tokens = self.tokens.index_select(0, index)
        self.scores = self.scores.index_select(0, index)
        self.spans = [self.spans[s] for s in order]
        self.finished = [self.finished[s] for s in order]


def repeating(tokens: torch.Tensor, size: int) -> Optional[torch.Tensor]:
    """
    The words that would repeat an n-gram.

    :param tokens: [rows, T].
    :param size: n; 0 for none.
    :return: pairs (row, word) [banned, 2], or None where there are none.
    """
    length = tokens.shape[1]
    if size < 1 or length < size:
        return None
    # A place is bad where the n - 1 tokens from it on are the last n - 1.
    places = length - size + 1
    same = torch.ones_like(tokens[:, :places], dtype=torch.bool)
    for n in range(size - 1):
        last = tokens[:, length - size + 1 + n, None]
        same &= tokens[:, n : n + places] == last
    row, place = same.nonzero(as_tuple=True)
    if not len(row):
        return None
    return torch.stack([row, tokens[row, place + size - 1]], 1)
