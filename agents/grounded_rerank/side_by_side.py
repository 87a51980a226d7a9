"""
Runs the searches of all strategies over a batch side by side, with one decoder call a
step, which takes about as long for ten rows as for four.

What a search does in a step is ParlAI's code; this is the loop of
``TorchGeneratorAgent._generate`` for searches of different kinds and widths.
"""

from collections.abc import Sequence
from typing import Any, Optional

import torch
from parlai.core.torch_agent import Batch
from parlai.utils.torch import neginf

from parlai_q2.agents.grounded_rerank.decoding import decoding
from parlai_q2.agents.grounded_rerank.seeds import own_random_numbers, seeded
from parlai_q2.generate.strategies import Strategy

# The strategies, and the examples of a batch that each is to search for.
Asked = list[tuple[Strategy, Sequence[int]]]

# With more rows than this, decoding time grows with them and memory starts to matter.
MOST_ROWS = 64


def few_rows(batch: Batch, asked: Asked) -> bool:
    """Whether a batch is small enough for searching side by side to pay off."""
    rows = sum(strategy.width * len(examples) for strategy, examples in asked)
    return batch.text_vec is not None and rows <= MOST_ROWS


def search_side_by_side(
    agent: Any,
    batch: Batch,
    asked: Asked,
    seed: int,
    max_ts: int,
    prefix_tokens: Optional[torch.Tensor] = None,
) -> list[list[list[Any]]]:
    """
    Search as ``TorchGeneratorAgent._generate`` does, with all strategies together.

    :param asked: the strategies, and the examples that each is to search for.
    :param seed: the seed for sampling.
    :param max_ts: the maximum number of steps.
    :param prefix_tokens: [B, P], the tokens that outputs begin with; None for none.
    :return: for each strategy and each of its examples, the one finished search.
    """
    model = getattr(agent.model, 'module', agent.model)
    states = model.encoder(*agent._encoder_input(batch))
    found = [_searches(agent, batch, strategy, own, seed) for strategy, own in asked]
    # A search, its example, and how many rows it reads a step.
    running = [
        (search, example, strategy.width)
        for (strategy, own), searches in zip(asked, found, strict=True)
        for example, search in zip(own, searches, strict=True)
    ]
    device = batch.text_vec.device
    examples = _rows(running, device)
    inputs = agent._get_initial_decoder_input(len(examples), 1, device)
    encoded = model.reorder_encoder_states(states, examples)
    past = None
    with own_random_numbers(batch):
        for step in range(max_ts):
            hidden, past = model.decoder(inputs, encoded, past)
            scores = model.output(hidden[:, -1:, :]).transpose(0, 1)
            if agent.temperature != 1.0:
                scores = scores / agent.temperature
            scores = agent._generation_activation(scores)
            if prefix_tokens is not None and step < prefix_tokens.size(1):
                _only(scores, prefix_tokens[_rows(running, device), step])
            # The searches that go on, and the rows that their next step continues.
            going_on, rows, first = [], [], 0
            for search, example, width in running:
                search.advance(scores[0, first : first + width], step)
                if not search.is_done():
                    going_on.append((search, example, width))
                    rows.append(first + search.get_backtrack_from_current_step())
                first += width
            if not going_on or step + 1 == max_ts:
                break
            kept = torch.cat(rows)
            past = model.reorder_decoder_incremental_state(past, kept)
            chosen = torch.cat([s.get_output_from_current_step() for s, *_ in going_on])
            inputs = agent._get_next_decoder_input(inputs, chosen.unsqueeze(-1), kept)
            if len(going_on) < len(running):
                running = going_on
                encoded = model.reorder_encoder_states(states, _rows(running, device))
    return [[[search] for search in searches] for searches in found]


def _searches(
    agent: Any, batch: Batch, strategy: Strategy, examples: Sequence[int], seed: int
) -> list[Any]:
    context = agent._get_batch_context(batch)
    blocking_on_gpu = agent.opt.get('gpu_beam_blocking', False)
    with decoding(agent, strategy), seeded(agent, batch, strategy.name, seed):
        return [
            agent._treesearch_factory(
                batch.text_vec.device, verbose=agent.show_token_details
            )
            .set_batch_context(context, example, blocking_on_gpu)
            .set_block_list(agent.beam_block_list)
            for example in examples
        ]


def _rows(running: Sequence[tuple[Any, int, int]], device: torch.device) -> Any:
    """The example that each row belongs to, [R]."""
    examples = [example for _, example, width in running for _ in range(width)]
    return torch.tensor(examples, dtype=torch.long, device=device)


def _only(scores: torch.Tensor, tokens: torch.Tensor) -> None:
    """
    Leave each row of scores [1, R, V] one possible token, of tokens [R]; in place.
    """
    others = torch.ones_like(scores[0], dtype=torch.bool)
    others[torch.arange(len(tokens)), tokens] = False
    scores[0][others] = neginf(scores.dtype)
