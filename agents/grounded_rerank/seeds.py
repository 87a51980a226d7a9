"""
Makes sampled candidates reproducible without touching the global random numbers.

Each step of each search gets its own seed, derived from ``--candidate-seed``, the
strategy, the context and the step. A turn's candidates therefore depend neither on
earlier turns nor on the other examples in the batch.
"""

import hashlib
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch


class SearchSeeds:
    """
    Seeds the searches of one batch.

    :param recipe: the seed and the strategy.
    :param contexts: the tokens of B contexts; empty for a batch without text.
    """

    def __init__(self, recipe: str, contexts: Sequence[Sequence[int]]):
        self.recipe, self.contexts = recipe, contexts

    def apply(self, search: Any) -> Any:
        """Seed one of ParlAI's searches by wrapping two of its methods."""
        set_batch_context, select_paths = search.set_batch_context, search.select_paths
        key = self.recipe

        def set_context_and_key(rows: Any, index: int, *args: Any) -> Any:
            nonlocal key
            key = self._make_key(index, len(rows))
            return set_batch_context(rows, index, *args)

        def reseed_and_select(
            logprobs: Any, prior_scores: Any, current_length: int
        ) -> Any:
            _reseed(logprobs.device, f'{key}|{current_length}')
            return select_paths(logprobs, prior_scores, current_length)

        search.set_batch_context = set_context_and_key
        search.select_paths = reseed_and_select
        return search

    def _make_key(self, index: int, search_count: int) -> str:
        # Some models run several searches for an example, one for each document.
        document_count = math.ceil(search_count / len(self.contexts))
        example, document = divmod(index, document_count)
        key = f'{self.recipe}|{self.contexts[example]}'
        return f'{key}|document {document}' if document_count > 1 else key


@contextmanager
def seed_searches(agent: Any, batch: Any, strategy: str, seed: int) -> Iterator[None]:
    """Seed the searches that an agent makes for a batch while the context lasts."""
    rows = [] if batch.text_vec is None else batch.text_vec.tolist()
    contexts = [_remove_padding(row, agent.NULL_IDX) for row in rows]
    agent.search_seeds = SearchSeeds(f'{seed}|{strategy}', contexts)
    try:
        yield
    finally:
        agent.search_seeds = None


@contextmanager
def preserve_random_state(batch: Any) -> Iterator[None]:
    """
    Restore the state of torch's random number generators when the context ends, so that
    seeded searches leave no trace in it.
    """
    vectors = batch.text_vec if batch.text_vec is not None else batch.label_vec
    on_gpu = [vectors.device] if vectors is not None and vectors.is_cuda else []
    with torch.random.fork_rng(devices=on_gpu):
        yield


def _remove_padding(tokens: Sequence[int], padding: int) -> list[int]:
    return [token for token in tokens if token != padding]


def _reseed(device: torch.device, key: str) -> None:
    digest = hashlib.blake2b(key.encode(), digest_size=7).digest()
    number = int.from_bytes(digest, 'big')
    if device.type == 'cuda':
        index = torch.cuda.current_device() if device.index is None else device.index
        torch.cuda.default_generators[index].manual_seed(number)
    else:
        torch.default_generator.manual_seed(number)
