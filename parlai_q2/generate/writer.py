"""
Finds candidates with several strategies.

A beam finds the same candidates for a context whatever its batch, since only contexts
of the same length share a call (padding changes the last bits of what a model
computes). Samples are reproducible, but depend on the batch and on the samples before:
CTranslate2 draws from one sequence of random numbers for each worker thread, which it
seeds once.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from parlai_q2.errors import ModelError
from parlai_q2.generate.model import GenerationModel, Hypothesis
from parlai_q2.generate.strategies import Decoding, Search, Strategy

# The maximum number of contexts in a call.
MAX_CONTEXTS = 8
# Nucleus sampling considers this many of the likeliest tokens: CTranslate2 sorts the
# whole vocabulary for each token otherwise, which takes as long as the model. The rest
# has next to no probability if the model is sure enough to be useful.
NUCLEUS_TOKENS = 1000
Context = Sequence[str]


@dataclass(frozen=True)
class GeneratedReply:
    """
    A candidate's tokens.

    :param strategy: the name of the search that found it.
    :param score: the log probability in nats, divided by the length to the power of the
        length penalty, as in ParlAI's searches.
    :param logprob: the mean log probability of a token, with the end token.
    """

    tokens: tuple[str, ...]
    strategy: str
    score: float
    logprob: float


class Writer:
    """A model and how it searches."""

    def __init__(self, model: GenerationModel, decoding: Decoding):
        self.model, self.decoding = model, decoding

    def write(
        self, contexts: Sequence[Context], strategies: Sequence[Sequence[Strategy]]
    ) -> list[list[GeneratedReply]]:
        """
        Find candidates.

        :param contexts: B contexts, as the model's tokens.
        :param strategies: B lists of different strategies.
        :return: B lists of candidates, each in the order of its strategies.
        """
        examples_of: dict[Strategy, list[int]] = {}
        for example, of_example in enumerate(strategies):
            for strategy in of_example:
                examples_of.setdefault(strategy, []).append(example)
        # All searches start before the first is waited for.
        started: dict[tuple[int, Strategy], Any] = {}
        for strategy, examples in examples_of.items():
            for group in self._group(contexts, examples, strategy):
                results = self._start([contexts[i] for i in group], strategy)
                for example, result in zip(group, results, strict=True):
                    started[example, strategy] = result
        beams: dict[tuple[int, Strategy], tuple[Any, Hypothesis]] = {}
        for (example, strategy), result in started.items():
            if strategy.name == Search.DELAYED:
                (start,) = self.model.finish(result)
                beam = self._continue(contexts[example], start, strategy)
                beams[example, strategy] = beam, start
        pools: list[list[GeneratedReply]] = [[] for _ in contexts]
        for example, of_example in enumerate(strategies):
            for strategy in of_example:
                key = example, strategy
                if key in beams:
                    replies = self._finish(*beams[key], strategy)
                else:
                    hypotheses = self.model.finish(started[key])
                    replies = self._score(hypotheses, strategy)
                pools[example] += replies
        return pools

    def write_with_prefixes(
        self,
        contexts: Sequence[Context],
        prefixes: Sequence[Sequence[str]],
        number: int,
    ) -> list[list[GeneratedReply]]:
        """
        Find candidates with a beam that is forced to begin with some tokens.

        :param prefixes: the tokens for each of B contexts. They count as certain in the
            log probabilities.
        :param number: how many candidates to find for each context.
        :return: B lists; empty for a prefix that leaves no room.
        """
        beam = Strategy(Search.BEAM, number)
        started = []
        for context, prefix in zip(contexts, prefixes, strict=True):
            start = Hypothesis(tuple(prefix), 0.0, False)
            has_room = len(prefix) < self.decoding.label_truncate
            started.append(
                (self._continue(context, start, beam), start) if has_room else None
            )
        return [self._finish(*entry, beam) if entry else [] for entry in started]

    def _group(
        self, contexts: Sequence[Context], examples: Sequence[int], strategy: Strategy
    ) -> list[list[int]]:
        """The examples that share a call; in a beam, they have the same length."""
        size = 1 if self.model.has_map and not strategy.is_sampling else MAX_CONTEXTS
        groups: dict[int, list[list[int]]] = {}
        for example in examples:
            # An encoder-decoder may read samples' contexts with padding.
            is_padded = strategy.is_sampling and not self.model.is_decoder
            length = 0 if is_padded else len(contexts[example])
            of_length = groups.setdefault(length, [])
            if not of_length or len(of_length[-1]) == size:
                of_length.append([])
            of_length[-1].append(example)
        return [*chain.from_iterable(groups.values())]

    def _start(self, contexts: Sequence[Context], strategy: Strategy) -> list[Any]:
        limits = self._limits()
        if strategy.name == Search.BEAM:
            return self.model.start(contexts, **self._beam(strategy), **limits)
        if strategy.name == Search.GREEDY:
            return self.model.start(contexts, beam_size=1, length_penalty=0, **limits)
        is_nucleus, number = strategy.name == Search.NUCLEUS, strategy.number
        if strategy.name == Search.DELAYED:
            number = 1
            limits['max_length'] = min(strategy.delay, limits['max_length'])
            limits['min_length'] = min(limits['max_length'], limits['min_length'])
        tokens = NUCLEUS_TOKENS if is_nucleus else strategy.k
        return self.model.start_samples(
            contexts,
            num_hypotheses=number,
            sampling_topk=min(tokens, self.model.vocabulary_size),
            sampling_topp=strategy.p if is_nucleus else 1,
            sampling_temperature=self.decoding.temperature,
            **limits,
        )

    def _continue(self, context: Context, start: Hypothesis, strategy: Strategy) -> Any:
        """Start a beam that goes on from a hypothesis; None if that is complete."""
        if start.ended or len(start.tokens) == self.decoding.label_truncate:
            return None
        prefixes = [start.tokens] if start.tokens else None
        (result,) = self.model.start(
            [context], prefixes, **self._beam(strategy), **self._limits()
        )
        return result

    def _finish(
        self, result: object, start: Hypothesis, strategy: Strategy
    ) -> list[GeneratedReply]:
        if result is None:
            return self._score([start], strategy)
        hypotheses = self.model.finish(result, start.tokens)
        return self._score(hypotheses, strategy, start)

    def _score(
        self,
        hypotheses: Sequence[Hypothesis],
        strategy: Strategy,
        start: Hypothesis | None = None,
    ) -> list[GeneratedReply]:
        """
        :param start: what a beam continued; the hypotheses have its tokens, but not its
            score.
        """
        penalty = self.decoding.beam_length_penalty
        replies = []
        for hypothesis in hypotheses:
            length = max(len(hypothesis.tokens) + hypothesis.ended, 1)
            logprob = hypothesis.score
            if strategy.name == Search.BEAM or start:
                # CTranslate2 divided it by the length of what it searched for.
                searched = length
                if start and self.model.is_decoder:
                    searched -= len(start.tokens)
                logprob *= max(searched, 1) ** penalty
            if start:
                logprob += start.score
            if not math.isfinite(logprob):
                raise ModelError(
                    f'{self.model.place.folder} computes values that are not numbers '
                    '(NaN or infinity). Its weights are damaged, or --compute-type is '
                    'too narrow for it.'
                )
            replies.append(
                GeneratedReply(
                    tokens=hypothesis.tokens,
                    strategy=strategy.name,
                    score=logprob / length**penalty,
                    logprob=logprob / length,
                )
            )
        return replies

    def _limits(self) -> dict[str, Any]:
        return {
            'min_length': self.decoding.beam_min_length,
            'max_length': self.decoding.label_truncate,
            'no_repeat_ngram_size': max(self.decoding.beam_block_ngram, 0),
        }

    def _beam(self, strategy: Strategy) -> dict[str, Any]:
        return {
            'beam_size': strategy.width,
            'num_hypotheses': strategy.number,
            'length_penalty': self.decoding.beam_length_penalty,
        }
