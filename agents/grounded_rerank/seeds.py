"""
Makes sampled candidates reproducible without touching the global random numbers.

Each step of each search gets its own seed, derived from the given seed, the strategy,
the context and the step. A turn's candidates therefore depend neither on earlier turns
nor on the other examples in the batch.
"""

import hashlib
from collections.abc import Sequence
from contextlib import contextmanager
from typing import Any, Iterator, Optional

import torch


class SearchSeeds:
    """
    Seeds the searches of one batch, in the order of the batch's rows.

    :param contexts: B rows of tokens, right- or left-padded; None for a batch without
        text.
    """

    def __init__(
        self,
        seed: int,
        strategy: str,
        contexts: Optional[torch.Tensor],
        padding: int,
    ):
        rows = [] if contexts is None else contexts.tolist()
        self._keys: list[str] = [
            f'{seed}|{strategy}|{[token for token in row if token != padding]}'
            for row in rows
        ]
        self._rest = f'{seed}|{strategy}'
        # How many searches have been seeded, and whether one has taken a step since.
        self._given = 0
        self._begun = False

    def give(self, search: Any) -> Any:
        """Seed one of ParlAI's searches, whose ``select_paths`` is replaced."""
        if self._begun:
            # A new search begins: some models search twice (RAG with ReGReT).
            self._given, self._begun = 0, False
        place, self._given = self._given, self._given + 1
        select = search.select_paths
        key: list[str] = []

        def select_paths(logprobs, prior_scores, current_length):
            if not key:
                # Only now is the number of searches known.
                key.append(self._key(place))
            self._begun = True
            _reseed(logprobs.device, f'{key[0]}|{current_length}')
            return select(logprobs, prior_scores, current_length)

        search.select_paths = select_paths
        return search

    def _key(self, place: int) -> str:
        each, rest = divmod(self._given, max(len(self._keys), 1))
        if not each or rest:
            return f'{self._rest}|search {place}'
        # Some models run several searches for an example, one for each document.
        example, document = divmod(place, each)
        return self._keys[example] + (f'|document {document}' if each > 1 else '')


@contextmanager
def seeded(
    agent: Any,
    batch: Any,
    strategy: Any,
    seed: int,
    examples: Optional[Sequence[int]] = None,
) -> Iterator[None]:
    """
    Seed the searches that an agent makes while the context lasts, if the strategy
    samples.

    :param agent: it reads ``search_seeds`` when it makes a search.
    :param examples: the examples that searches are made for, in that order; None for
        all.
    """
    if not strategy.samples:
        yield
        return
    contexts = batch.text_vec
    if contexts is not None and examples is not None:
        contexts = contexts[list(examples)]
    agent.search_seeds = SearchSeeds(seed, strategy.name, contexts, agent.NULL_IDX)
    try:
        yield
    finally:
        agent.search_seeds = None


@contextmanager
def own_random_numbers(batch: Any) -> Iterator[None]:
    """
    Restore torch's random numbers when the context ends, whatever seeded searches drew
    from them.
    """
    vectors = batch.text_vec if batch.text_vec is not None else batch.label_vec
    on_gpu = [vectors.device] if vectors is not None and vectors.is_cuda else []
    with torch.random.fork_rng(devices=on_gpu):
        yield


def _reseed(device: torch.device, key: str) -> None:
    digest = hashlib.blake2b(key.encode(), digest_size=7).digest()
    number = int.from_bytes(digest, 'big')
    if device.type == 'cuda':
        index = torch.cuda.current_device() if device.index is None else device.index
        torch.cuda.default_generators[index].manual_seed(number)
    else:
        torch.default_generator.manual_seed(number)
