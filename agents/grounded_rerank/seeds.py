"""
Makes sampled candidates reproducible without touching the global random numbers.

Every step of every search gets a seed of its own, from the seed asked for, the
strategy, the context and the step. So a turn's candidates do not depend on the turns
before it, nor on what stands in the same batch.
"""

import hashlib
from collections.abc import Sequence
from contextlib import contextmanager
from typing import Any, Iterator, Optional

import torch


class SearchSeeds:
    """
    Gives the searches of one batch their seeds, in the order of the batch's rows.

    :param seed: the seed asked for.
    :param strategy: the strategy's name.
    :param contexts: B rows of tokens, right- or left-padded; None for a batch without
        text.
    :param padding: the padding token.
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
        self._row = 0
        self._rest = f'{seed}|{strategy}'

    def give(self, search: Any) -> Any:
        """
        Seed one of ParlAI's searches.

        :param search: a TreeSearch; its ``select_paths`` is replaced.
        :return: the same search.
        """
        # Some models search over more rows than the batch has (RAG: one for each
        # document).
        row, self._row = self._row, self._row + 1
        key = self._keys[row] if row < len(self._keys) else f'{self._rest}|row {row}'
        select = search.select_paths

        def select_paths(logprobs, prior_scores, current_length):
            _reseed(logprobs.device, f'{key}|{current_length}')
            return select(logprobs, prior_scores, current_length)

        search.select_paths = select_paths
        return search


@contextmanager
def seeded(
    agent: Any,
    batch: Any,
    strategy: Any,
    seed: int,
    examples: Optional[Sequence[int]] = None,
) -> Iterator[None]:
    """
    Let the searches that an agent makes as long as the context lasts be seeded.

    :param agent: the agent; it reads ``search_seeds`` when it makes a search.
    :param batch: B examples.
    :param strategy: the strategy; nothing is done for one without chance.
    :param seed: below 0 nothing is done either.
    :param examples: those that searches are made for, in that order; None for all.
    """
    if seed < 0 or not strategy.samples:
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
def own_random_numbers(batch: Any, seed: int) -> Iterator[None]:
    """
    Leave torch's random numbers where they were, whatever seeded searches draw as long
    as the context lasts.

    :param batch: B examples.
    :param seed: below 0 nothing is done: the global numbers are asked for.
    """
    if seed < 0:
        yield
        return
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
