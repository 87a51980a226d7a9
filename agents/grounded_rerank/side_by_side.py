"""
Runs the searches of all strategies over a batch side by side, with one decoder call per
step. A call takes about as long for ten rows as for four.

ParlAI's code performs each step of a search. This module extends the loop of
``TorchGeneratorAgent._generate`` to searches of different kinds and widths.

Samples are reproducible: each step of each search gets its own seed, derived from
``--candidate-seed``, the strategy, the context and the step. A turn's candidates
therefore depend neither on earlier turns nor on the other examples in the batch.
"""

import hashlib
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import torch
from parlai.core.opt import Opt
from parlai.core.torch_agent import Batch
from parlai.core.torch_generator_agent import TorchGeneratorAgent, TreeSearch
from parlai.utils.torch import neginf

from parlai_q2.generate.strategies import Strategy


@contextmanager
def searching(
    agent: TorchGeneratorAgent, batch: Batch, strategy: Strategy, seed: int
) -> Iterator[None]:
    """
    Make an agent search with a strategy, seeded for a batch, while the context lasts.

    The generator's other options (block lists, n-gram blocking, length penalty,
    temperature, minimum length) stay in effect. Clones share one ``opt``, so the agent
    gets a separate copy.
    """
    opt = agent.opt
    settings = {
        'inference': strategy.name,
        'beam_size': strategy.width,
        'topk': min(strategy.k, len(agent.dict)),
        'topp': strategy.p,
        'beam_delay': strategy.delay,
    }
    agent.opt = Opt({**opt, **settings})
    rows = [] if batch.text_vec is None else batch.text_vec.tolist()
    contexts = [[token for token in row if token != agent.NULL_IDX] for row in rows]
    agent.search_seeder = SearchSeeder(f'{seed}|{strategy.name}', contexts)
    try:
        yield
    finally:
        agent.opt, agent.search_seeder = opt, None


class SearchSeeder:
    """
    Seeds the searches of one batch.

    :param recipe: the seed and the strategy.
    :param contexts: the tokens of B contexts; empty for a batch without text.
    """

    def __init__(self, recipe: str, contexts: Sequence[Sequence[int]]):
        self.recipe, self.contexts = recipe, contexts

    def apply(self, search: TreeSearch) -> TreeSearch:
        """Seed one of ParlAI's searches by wrapping two of its methods."""
        set_batch_context, select_paths = search.set_batch_context, search.select_paths
        key = self.recipe

        def set_context_and_key(
            rows: Sequence[Sequence[int]], index: int, *options: bool
        ) -> TreeSearch:
            nonlocal key
            key = self._make_key(index, len(rows))
            return set_batch_context(rows, index, *options)

        def reseed_and_select(
            logprobs: torch.Tensor, prior_scores: torch.Tensor, current_length: int
        ) -> object:
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
def preserve_random_state(batch: Batch) -> Iterator[None]:
    """
    Restore the state of torch's random number generators when the context ends, so that
    seeded searches leave no trace in it.
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


# The strategies, each with the examples of a batch to search for.
SearchPlan = list[tuple[Strategy, Sequence[int]]]

# With more rows than this, decoding time grows with them and memory starts to matter.
MAX_ROWS = 64


class _RunningSearch(NamedTuple):
    """
    :param example: the index of its example in the batch.
    :param width: the number of rows that it reads in a step.
    """

    search: TreeSearch
    example: int
    width: int


def is_small_enough(batch: Batch, plan: SearchPlan) -> bool:
    """Whether a batch is small enough for searching side by side to pay off."""
    rows = sum(strategy.width * len(examples) for strategy, examples in plan)
    return batch.text_vec is not None and rows <= MAX_ROWS


def search_side_by_side(
    agent: TorchGeneratorAgent,
    batch: Batch,
    plan: SearchPlan,
    seed: int,
    max_ts: int,
    prefix_tokens: torch.Tensor | None = None,
) -> list[list[list[TreeSearch]]]:
    """
    Search as ``TorchGeneratorAgent._generate`` does, with all strategies together.

    :param plan: the strategies, each with the examples to search for.
    :param seed: the seed for sampling.
    :param max_ts: the maximum number of steps.
    :param prefix_tokens: [B, P], the tokens that outputs must begin with, if any.
    :return: for each strategy and each of its examples, a list of its finished search.
    """
    model = getattr(agent.model, 'module', agent.model)
    states = model.encoder(*agent._encoder_input(batch))
    running: list[_RunningSearch] = []
    finished: list[list[list[TreeSearch]]] = []
    for strategy, plan_examples in plan:
        searches = _make_searches(agent, batch, strategy, plan_examples, seed)
        for search, example in zip(searches, plan_examples, strict=True):
            running.append(_RunningSearch(search, example, strategy.width))
        finished.append([[search] for search in searches])
    device = batch.text_vec.device
    examples = _examples_of_rows(running, device)
    inputs = agent._get_initial_decoder_input(len(examples), 1, device)
    encoded = model.reorder_encoder_states(states, examples)
    past = None
    with preserve_random_state(batch):
        for step in range(max_ts):
            hidden, past = model.decoder(inputs, encoded, past)
            scores = model.output(hidden[:, -1:, :]).transpose(0, 1)
            if agent.temperature != 1.0:
                scores = scores / agent.temperature
            scores = agent._generation_activation(scores)
            if prefix_tokens is not None and step < prefix_tokens.size(1):
                tokens = prefix_tokens[examples, step]
                _force_tokens(scores, tokens)
            unfinished, continued_rows = _advance(running, scores[0], step)
            if not unfinished or step + 1 == max_ts:
                break
            rows = torch.cat(continued_rows)
            past = model.reorder_decoder_incremental_state(past, rows)
            tokens = torch.cat(
                [entry.search.get_output_from_current_step() for entry in unfinished]
            )
            inputs = agent._get_next_decoder_input(inputs, tokens.unsqueeze(-1), rows)
            if len(unfinished) < len(running):
                running = unfinished
                examples = _examples_of_rows(running, device)
                encoded = model.reorder_encoder_states(states, examples)
    return finished


def _advance(
    running: Sequence[_RunningSearch], scores: torch.Tensor, step: int
) -> tuple[list[_RunningSearch], list[torch.Tensor]]:
    """
    Let all searches take a step.

    :param scores: [R, V], the log probabilities of the rows of all searches.
    :return: the searches that are not done, and for each the rows that it continues.
    """
    unfinished: list[_RunningSearch] = []
    continued_rows: list[torch.Tensor] = []
    first_row = 0
    for entry in running:
        search, next_row = entry.search, first_row + entry.width
        search.advance(scores[first_row:next_row], step)
        if not search.is_done():
            unfinished.append(entry)
            continued_rows.append(first_row + search.get_backtrack_from_current_step())
        first_row = next_row
    return unfinished, continued_rows


def _make_searches(
    agent: TorchGeneratorAgent,
    batch: Batch,
    strategy: Strategy,
    examples: Sequence[int],
    seed: int,
) -> list[TreeSearch]:
    context = agent._get_batch_context(batch)
    blocking_on_gpu = agent.opt.get('gpu_beam_blocking', False)
    with searching(agent, batch, strategy, seed):
        return [
            agent._treesearch_factory(
                batch.text_vec.device, verbose=agent.show_token_details
            )
            .set_batch_context(context, example, blocking_on_gpu)
            .set_block_list(agent.beam_block_list)
            for example in examples
        ]


def _examples_of_rows(
    running: Sequence[_RunningSearch], device: torch.device
) -> torch.Tensor:
    """Return the index of the example that each row belongs to, [R]."""
    examples: list[int] = []
    for entry in running:
        examples += [entry.example] * entry.width
    return torch.tensor(examples, dtype=torch.long, device=device)


def _force_tokens(scores: torch.Tensor, tokens: torch.Tensor) -> None:
    """Rule out, in place, all scores [1, R, V] except those of the tokens [R]."""
    excluded = torch.ones_like(scores[0], dtype=torch.bool)
    excluded[torch.arange(len(tokens)), tokens] = False
    scores[0][excluded] = neginf(scores.dtype)
