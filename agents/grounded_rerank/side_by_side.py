"""
Runs the searches of all strategies over a batch side by side, with one decoder call per
step. A call takes about as long for ten rows as for four.

ParlAI's code performs each step of a search. This module extends the loop of
``TorchGeneratorAgent._generate`` to searches of different kinds and widths.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from parlai.core.torch_agent import Batch
from parlai.utils.torch import neginf

from parlai_q2.agents.grounded_rerank.decoding import decoding
from parlai_q2.agents.grounded_rerank.seeds import preserve_random_state, seed_searches
from parlai_q2.generate.strategies import Strategy

# The strategies, each with the examples of a batch to search for.
SearchPlan = list[tuple[Strategy, Sequence[int]]]

# With more rows than this, decoding time grows with them and memory starts to matter.
MAX_ROWS = 64


class _RunningSearch(NamedTuple):
    """
    :param example: the index of its example in the batch.
    :param width: the number of rows that it reads in a step.
    """

    search: Any
    example: int
    width: int


def is_small_enough(batch: Batch, plan: SearchPlan) -> bool:
    """Whether a batch is small enough for searching side by side to pay off."""
    rows = sum(strategy.width * len(examples) for strategy, examples in plan)
    return batch.text_vec is not None and rows <= MAX_ROWS


def search_side_by_side(
    agent: Any,
    batch: Batch,
    plan: SearchPlan,
    seed: int,
    max_ts: int,
    prefix_tokens: torch.Tensor | None = None,
) -> list[list[list[Any]]]:
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
    finished: list[list[list[Any]]] = []
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
                tokens = prefix_tokens[_examples_of_rows(running, device), step]
                _force_tokens(scores, tokens)
            # The searches that are not done, and the rows that they continue.
            unfinished, backtracks, first_row = [], [], 0
            for entry in running:
                search, next_row = entry.search, first_row + entry.width
                search.advance(scores[0, first_row:next_row], step)
                if not search.is_done():
                    unfinished.append(entry)
                    backtrack = search.get_backtrack_from_current_step()
                    backtracks.append(first_row + backtrack)
                first_row = next_row
            if not unfinished or step + 1 == max_ts:
                break
            rows = torch.cat(backtracks)
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


def _make_searches(
    agent: Any, batch: Batch, strategy: Strategy, examples: Sequence[int], seed: int
) -> list[Any]:
    context = agent._get_batch_context(batch)
    blocking_on_gpu = agent.opt.get('gpu_beam_blocking', False)
    with decoding(agent, strategy), seed_searches(agent, batch, strategy.name, seed):
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
    """The example that each row belongs to, [R]."""
    examples: list[int] = []
    for entry in running:
        examples += [entry.example] * entry.width
    return torch.tensor(examples, dtype=torch.long, device=device)


def _force_tokens(scores: torch.Tensor, tokens: torch.Tensor) -> None:
    """
    Rule out, in place, all but one token per row.

    :param scores: [1, R, V].
    :param tokens: [R], the tokens that remain possible.
    """
    excluded = torch.ones_like(scores[0], dtype=torch.bool)
    excluded[torch.arange(len(tokens)), tokens] = False
    scores[0][excluded] = neginf(scores.dtype)
