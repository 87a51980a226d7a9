"""
Runs an encoder-decoder or a decoder with CTranslate2, and finds candidates with several
strategies.

A beam finds the same candidates for a context whatever its batch, since only contexts
of the same length share a call (padding changes the last bits of what a model
computes). Samples are reproducible, but depend on the batch and on earlier samples:
CTranslate2 draws from one sequence of random numbers for each worker thread, which it
seeds once.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from parlai_q2.errors import ModelError
from parlai_q2.generate.model_place import DECODER, ModelPlace, explain_errors
from parlai_q2.generate.strategies import Decoding, SearchMethod, Strategy
from parlai_q2.models.device import gpus, load_cublas
from parlai_q2.threads import cores

# The maximum number of contexts in a call.
MAX_CONTEXTS = 8
# Nucleus sampling considers this many of the likeliest tokens: CTranslate2 sorts the
# whole vocabulary for each token otherwise, which takes as long as the model. The rest
# has next to no probability if the model is sure enough to be useful.
NUCLEUS_TOKENS = 1000
Context = Sequence[str]


@dataclass(frozen=True)
class Hypothesis:
    """A sequence of tokens, CTranslate2's score, and whether it ended."""

    tokens: tuple[str, ...]
    score: float
    ended: bool


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
    """
    A model with its search settings.

    :param kind: CTranslate2's class for the model.
    :param end_tokens: the tokens that end a reply.
    :param vocabulary_size: a lower bound on the number of tokens that the model knows.
    :param seed: seeds the samples. They then need a single worker; with None, each core
        has one, and samples differ from run to run.
    """

    def __init__(
        self,
        place: ModelPlace,
        kind: str,
        end_tokens: Sequence[str],
        vocabulary_size: int,
        decoding: Decoding,
        seed: int | None = None,
    ):
        import ctranslate2

        self.place, self.end_tokens = place, list(end_tokens)
        self.vocabulary_size = vocabulary_size
        self.decoding, self.seed = decoding, seed
        self.is_decoder = kind == DECODER
        # In a call, each reply may have the tokens of all contexts.
        self.has_map = not self.is_decoder and place.has_map
        device, _, number = place.device.partition(':')
        threads = cores() if device == 'cpu' else 1
        workers = threads if seed is None else 1
        with explain_errors(place):
            if device == 'cuda' or (device == 'auto' and gpus()):
                load_cublas()
            self._model = getattr(ctranslate2, kind)(
                str(place.folder),
                device,
                device_index=int(number or 0),
                compute_type=place.compute_type,
                inter_threads=workers,
                intra_threads=max(1, threads // workers),
                max_queued_batches=-1,
                files=None if place.files is None else dict(place.files),
            )

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
        # All searches start before any result is awaited.
        started: dict[tuple[int, Strategy], Any] = {}
        for strategy, examples in examples_of.items():
            for group in self._group(contexts, examples, strategy):
                results = self._start([contexts[i] for i in group], strategy)
                for example, result in zip(group, results, strict=True):
                    started[example, strategy] = result
        # The sampled beginnings from which the beam of a delayed search continues.
        starts: dict[tuple[int, Strategy], Hypothesis] = {}
        for (example, strategy), result in started.items():
            if strategy.name == SearchMethod.DELAYED:
                (start,) = self._wait(result)
                beam = self._continue(contexts[example], start, strategy)
                starts[example, strategy], started[example, strategy] = start, beam
        pools: list[list[GeneratedReply]] = [[] for _ in contexts]
        for example, of_example in enumerate(strategies):
            for strategy in of_example:
                key = example, strategy
                pools[example] += self._finish(started[key], strategy, starts.get(key))
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
        beam = Strategy(SearchMethod.BEAM, number)
        started = []
        for context, prefix in zip(contexts, prefixes, strict=True):
            start = Hypothesis(tuple(prefix), 0.0, False)
            started.append((self._continue(context, start, beam), beam, start))
        return [self._finish(*entry) if entry[0] else [] for entry in started]

    def _group(
        self, contexts: Sequence[Context], examples: Sequence[int], strategy: Strategy
    ) -> list[list[int]]:
        """Group examples that share a call: of one length, but for padded samples."""
        size = 1 if self.has_map and not strategy.is_sampling else MAX_CONTEXTS
        groups: dict[int, list[list[int]]] = {}
        for example in examples:
            # For samples, an encoder-decoder may read padded contexts.
            is_padded = strategy.is_sampling and not self.is_decoder
            length = 0 if is_padded else len(contexts[example])
            of_length = groups.setdefault(length, [])
            if not of_length or len(of_length[-1]) == size:
                of_length.append([])
            of_length[-1].append(example)
        return [*chain.from_iterable(groups.values())]

    def _start(self, contexts: Sequence[Context], strategy: Strategy) -> list[Any]:
        if strategy.name == SearchMethod.BEAM:
            return self._search(contexts, **self._beam(strategy))
        single: dict[str, Any] = {'beam_size': 1, 'length_penalty': 0}
        if strategy.name == SearchMethod.GREEDY:
            return self._search(contexts, **single)
        if self.seed is not None:
            import ctranslate2

            # A worker reads the seed once, before its first sample.
            ctranslate2.set_random_seed(self.seed)
        is_nucleus = strategy.name == SearchMethod.NUCLEUS
        is_delayed = strategy.name == SearchMethod.DELAYED
        tokens = NUCLEUS_TOKENS if is_nucleus else strategy.k
        return self._search(
            contexts,
            max_length=strategy.delay if is_delayed else None,
            num_hypotheses=1 if is_delayed else strategy.number,
            sampling_topk=min(tokens, self.vocabulary_size),
            sampling_topp=strategy.p if is_nucleus else 1,
            sampling_temperature=self.decoding.temperature,
            **single,
        )

    def _continue(self, context: Context, start: Hypothesis, strategy: Strategy) -> Any:
        """Start a beam that continues a hypothesis; None if it is complete."""
        if start.ended or len(start.tokens) >= self.decoding.label_truncate:
            return None
        (result,) = self._search([context], start.tokens, **self._beam(strategy))
        return result

    def _beam(self, strategy: Strategy) -> dict[str, Any]:
        return {
            'beam_size': strategy.width,
            'num_hypotheses': strategy.number,
            'length_penalty': self.decoding.beam_length_penalty,
        }

    def _search(
        self,
        contexts: Sequence[Context],
        prefix: Sequence[str] = (),
        max_length: int | None = None,
        **options: Any,
    ) -> list[Any]:
        """
        Start a search for each of B contexts.

        :param prefix: the tokens that the replies begin with, which count as length.
        :param max_length: the reply's maximum length, if less than usual.
        :param options: more arguments for CTranslate2.
        :return: B results for :meth:`_wait`.
        """
        longest = self.decoding.label_truncate
        longest = min(max_length or longest, longest)
        shortest = min(self.decoding.beam_min_length, longest)
        options |= {
            'no_repeat_ngram_size': max(self.decoding.beam_block_ngram, 0),
            'asynchronous': True,
            'return_scores': True,
            'return_end_token': True,
            'end_token': self.end_tokens,
            'max_batch_size': 0,
        }
        results: list[Any]
        with explain_errors(self.place):
            if self.is_decoder:
                results = self._model.generate_batch(
                    [[*context, *prefix] for context in contexts],
                    include_prompt_in_result=False,
                    min_length=max(shortest - len(prefix), 0),
                    max_length=max(longest - len(prefix), 1),
                    **options,
                )
            else:
                results = self._model.translate_batch(
                    [list(context) for context in contexts],
                    [list(prefix) for _ in contexts] if prefix else None,
                    max_input_length=0,
                    # With a vocabulary map, the library numbers a prefix's tokens by
                    # the map of the previous call, and so writes other tokens.
                    use_vmap=self.has_map and not prefix,
                    min_decoding_length=shortest,
                    max_decoding_length=longest,
                    **options,
                )
        return results

    def _wait(self, result: Any, prefix: Sequence[str] = ()) -> list[Hypothesis]:
        """Wait for a search, and return what it found, best first."""
        with explain_errors(self.place):
            output = result.result()
        if self.is_decoder:
            sequences = [[*prefix, *tokens] for tokens in output.sequences]
        else:
            sequences = output.hypotheses
        hypotheses = []
        for tokens, score in zip(sequences, output.scores, strict=True):
            ended = bool(tokens) and tokens[-1] in self.end_tokens
            text_tokens = tokens[:-1] if ended else tokens
            hypotheses.append(Hypothesis(tuple(text_tokens), float(score), ended))
        return hypotheses

    def _finish(
        self, result: Any, strategy: Strategy, start: Hypothesis | None
    ) -> list[GeneratedReply]:
        """
        :param result: the result of a search; None if ``start`` is complete.
        :param start: the hypothesis that a beam continued; the result has its tokens,
            but not its score.
        """
        if result is None and start:
            hypotheses, start = [start], None
        else:
            hypotheses = self._wait(result, start.tokens if start else ())
        penalty = self.decoding.beam_length_penalty
        replies = []
        for hypothesis in hypotheses:
            length = max(len(hypothesis.tokens) + hypothesis.ended, 1)
            logprob = hypothesis.score
            if strategy.name == SearchMethod.BEAM or start:
                # CTranslate2 divided it by the length, a decoder's without the start.
                searched = length
                if start and self.is_decoder:
                    searched -= len(start.tokens)
                logprob *= max(searched, 1) ** penalty
            if start:
                logprob += start.score
            if not math.isfinite(logprob):
                raise ModelError(
                    f'{self.place.folder} computes values that are not numbers '
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
