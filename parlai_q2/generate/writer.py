"""
Finds the candidates of contexts by several strategies, side by side.

A context's candidates depend on it, the strategies, the numbers and the seed alone:
neither on its batch and the order in it, nor on the number of cores. So only contexts
of the same length share a call (padding changes the last bits of what a model
computes), and each strategy draws for each context with a seed of its own.

The library reads a context once for all samples or beams of a strategy, but not once
for all strategies: what it has read cannot be handed on.
"""

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Optional

from parlai_q2.errors import ModelError
from parlai_q2.generate.decoding import NUCLEUS_AMONG, Decoding
from parlai_q2.generate.library import Found, Searches
from parlai_q2.generate.strategies import Search, Strategy

# Contexts of the same length that share a call at most.
MOST_ROWS = 8
Context = Sequence[str]


@dataclass(frozen=True)
class Written:
    """
    A candidate's tokens.

    :param score: the log probability in nats, divided by the length to the power of the
        length penalty, as ParlAI's searches have it.
    :param logprob: of a token, on average, the end included.
    """

    tokens: tuple[str, ...]
    strategy: str
    score: float
    logprob: float


class Writer:
    """
    A model and how it searches.

    :param at_once: searches that are computed at a time: the number of cores, or 1 on a
        GPU.
    """

    def __init__(self, searches: Searches, decoding: Decoding, at_once: int):
        self.searches, self.decoding = searches, decoding
        self._threads = ThreadPoolExecutor(at_once, 'generate')
        self._alone = searches.decoder_alone
        self._rows = 1 if searches.has_map else MOST_ROWS

    def write(
        self,
        contexts: Sequence[Context],
        strategies: Sequence[Sequence[Strategy]],
        seed: int,
    ) -> list[list[Written]]:
        """
        Find candidates.

        :param contexts: B contexts, as the model's tokens.
        :param strategies: the strategies for each context, in the order of the result.
        :return: B lists, each in the order of its strategies.
        """
        under_way = [
            (
                strategy,
                examples,
                self._threads.submit(self._search, rows, strategy, seed),
            )
            for strategy, examples in _calls(contexts, strategies, self._rows)
            for rows in [[contexts[i] for i in examples]]
        ]
        found: list[dict[Strategy, list[Written]]] = [{} for _ in contexts]
        for strategy, examples, future in under_way:
            for i, written in zip(examples, future.result(), strict=True):
                found[i][strategy] = written
        return [
            [one for strategy in asked for one in of_context[strategy]]
            for asked, of_context in zip(strategies, found, strict=True)
        ]

    def begun(
        self,
        contexts: Sequence[Context],
        beginnings: Sequence[Sequence[str]],
        number: int,
    ) -> list[list[Written]]:
        """
        Find candidates by a beam whose replies begin with given tokens.

        :param beginnings: the tokens for each of B contexts. They count as certain in
            the log probabilities.
        :param number: how many candidates to find for each context.
        :return: B lists; none for a beginning that leaves no room.
        """
        strategy = Strategy(Search.BEAM, number)
        under_way = [
            self._threads.submit(self._begun, context, beginning, strategy)
            for context, beginning in zip(contexts, beginnings, strict=True)
        ]
        return [one.result() for one in under_way]

    def _begun(
        self, context: Context, beginning: Sequence[str], strategy: Strategy
    ) -> list[Written]:
        if len(beginning) >= self.decoding.label_truncate:
            return []
        (found,) = self.searches.plain(
            [context], prefix=beginning, **self._beam(strategy), **self._limits()
        )
        return self._written(found, strategy, Found(tuple(beginning), 0.0, False))

    def _search(
        self, rows: Sequence[Context], strategy: Strategy, seed: int
    ) -> list[list[Written]]:
        if strategy.name == Search.BEAM:
            found = self.searches.plain(rows, **self._beam(strategy), **self._limits())
            return [self._written(f, strategy) for f in found]
        if strategy.name == Search.GREEDY:
            found = self.searches.plain(
                rows, beam_size=1, length_penalty=0, **self._limits()
            )
            return [self._written(f, strategy) for f in found]
        (row,) = rows
        number = seed_of(seed, strategy.name, row)
        if strategy.name in (Search.NUCLEUS, Search.TOPK):
            samples = self.searches.sampled(
                row,
                number,
                num_hypotheses=strategy.number,
                **self._drawing(strategy),
                **self._limits(),
            )
            return [self._written(samples, strategy)]
        return [self._delayed(row, strategy, number)]

    def _delayed(self, row: Context, strategy: Strategy, number: int) -> list[Written]:
        """Tokens that are sampled, and a beam that goes on from them."""
        most = self.decoding.label_truncate
        delay = min(strategy.delay, most)
        limits = {**self._limits(), 'most': delay}
        limits['least'] = min(delay, limits['least'])
        (start,) = self.searches.sampled(
            row, number, **self._drawing(strategy), **limits
        )
        if start.ended or delay == most:
            return self._written([start], strategy)
        (found,) = self.searches.plain(
            [row], prefix=start.tokens, **self._beam(strategy), **self._limits()
        )
        return self._written(found, strategy, start)

    def _written(
        self, found: Sequence[Found], strategy: Strategy, start: Optional[Found] = None
    ) -> list[Written]:
        """
        :param start: what a beam went on from; its tokens are those of ``found``, too,
            but its score is not in theirs.
        """
        penalty = self.decoding.beam_length_penalty
        written = []
        for one in found:
            length = max(len(one.tokens) + one.ended, 1)
            whole = one.score
            if strategy.name == Search.BEAM or start:
                # The library divided it by the length of what it searched for.
                own = length - (len(start.tokens) if start and self._alone else 0)
                whole = one.score * max(own, 1) ** penalty + (
                    start.score if start else 0
                )
            if not math.isfinite(whole):
                raise ModelError(
                    f'{self.searches.place.folder} computes values that are not '
                    'numbers (NaN or infinity). Its weights are damaged, or '
                    '--compute-type is too narrow for it.'
                )
            score = whole / length**penalty
            written.append(Written(one.tokens, strategy.name, score, whole / length))
        return written

    def _limits(self) -> dict[str, Any]:
        return {
            'least': self.decoding.beam_min_length,
            'most': self.decoding.label_truncate,
            'no_repeat_ngram_size': max(self.decoding.beam_block_ngram, 0),
        }

    def _beam(self, strategy: Strategy) -> dict[str, Any]:
        return {
            'beam_size': strategy.width,
            'num_hypotheses': strategy.number,
            'length_penalty': self.decoding.beam_length_penalty,
        }

    def _drawing(self, strategy: Strategy) -> dict[str, Any]:
        nucleus = strategy.name == Search.NUCLEUS
        among = NUCLEUS_AMONG if nucleus else strategy.k
        return {
            'beam_size': 1,
            'length_penalty': 0,
            'sampling_topk': min(among, self.searches.vocabulary),
            'sampling_topp': strategy.p if nucleus else 1,
            'sampling_temperature': self.decoding.temperature,
        }


def seed_of(seed: int, strategy: str, context: Context) -> int:
    """The seed of a strategy's draws for a context, in [0, 2**32)."""
    text = '\0'.join([str(seed), strategy, *context])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), 'big')


def _calls(
    contexts: Sequence[Context], strategies: Sequence[Sequence[Strategy]], rows: int
) -> Iterator[tuple[Strategy, Sequence[int]]]:
    """
    The calls to make, longest first: a strategy, and the contexts that share its call,
    so many at most where nothing is drawn.
    """
    groups: dict[tuple[Strategy, int], list[int]] = defaultdict(list)
    for i, (context, asked) in enumerate(zip(contexts, strategies, strict=True)):
        for strategy in asked:
            groups[strategy, len(context)].append(i)

    def work(group: tuple[Strategy, int]) -> tuple[bool, int, int]:
        strategy, length = group
        return strategy.name == Search.DELAYED, strategy.width, length

    for strategy, length in sorted(groups, key=work, reverse=True):
        examples = groups[strategy, length]
        size = rows if strategy.name in (Search.BEAM, Search.GREEDY) else 1
        for start in range(0, len(examples), size):
            yield strategy, examples[start : start + size]
