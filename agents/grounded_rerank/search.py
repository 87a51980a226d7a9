"""Runs a generator's searches and pools their candidates."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Optional

import torch
from parlai.core.torch_agent import Batch
from parlai.core.torch_generator_agent import TorchGeneratorAgent

from parlai_q2.agents.grounded_rerank.decoding import decoding
from parlai_q2.agents.grounded_rerank.seeds import own_random_numbers, seeded
from parlai_q2.agents.grounded_rerank.side_by_side import (
    Asked,
    few_rows,
    search_side_by_side,
)
from parlai_q2.errors import ConfigError
from parlai_q2.generate.strategies import Strategy
from parlai_q2.rerank.candidate import Candidate, merge

# What ParlAI's searches return: tokens, score, details of each token (or None).
Hypothesis = tuple[Any, Any, Any]

# These generators search with another library's generate(), which keeps only the best.
# ParlAI's own search can run their encoder and decoder instead, as RAG does.
NOT_PARLAI_SEARCH = ('parlai.agents.hugging_face.t5',)

# TorchGeneratorAgent's default for --beam-length-penalty.
PARLAI_LENGTH_PENALTY = 0.65

# What a generator that found no text at all has said.
NOTHING = Candidate('', source=('', 0.0))


class RankedBeam:
    """Ranked hypotheses, best first, with the interface of a finished ParlAI search."""

    def __init__(self, hypotheses: Sequence[Hypothesis]):
        self.hypotheses = list(hypotheses)

    def get_rescored_finished(self, n_best: Optional[int] = None) -> list[Hypothesis]:
        """The best hypotheses, all if None, with the generator's own scores."""
        return self.hypotheses[:n_best]


def find_candidates(
    agent: Any,
    generator: type[TorchGeneratorAgent],
    inherited: Callable[..., tuple[Any, Sequence[Any]]],
    batch: Batch,
    strategies: Sequence[Strategy],
    grounded: Sequence[bool],
    seed: int,
    max_ts: int,
    prefix_tokens: Optional[torch.Tensor] = None,
    **kwargs: Any,
) -> list[list[Candidate]]:
    """
    Find the candidates of a batch.

    :param agent: its ``opt`` and ``search_seeds`` are set for each search.
    :param inherited: the ``_generate`` that the agent inherits from its generator's
        class.
    :param strategies: the searches, in the order that decides ties.
    :param grounded: B truth values: whether the example has knowledge to choose by.
        Without knowledge only the first strategy searches.
    :param seed: the seed for sampling.
    :param prefix_tokens: [B, P], the tokens that outputs begin with; None for none.
    :param kwargs: further arguments of ``inherited``.
    :return: B pools of distinct candidates, in the generator's order. An empty reply is
        kept only where there is no other.
    :raises ConfigError: when the generator does not return a list of candidates.
    """
    if hasattr(agent, 'candidate_pools'):
        # It knows how to find several by itself (as a model behind a server does).
        given = agent.candidate_pools(batch, grounded)
        return [merge(pool) or [NOTHING] for pool in given]
    asked = _asked(strategies, grounded)
    generate = inherited
    if generator._generate.__module__ in NOT_PARLAI_SEARCH:
        generate = TorchGeneratorAgent._generate.__get__(agent)
    loop = getattr(generate, '__func__', None)
    parlai_searches = loop is TorchGeneratorAgent._generate
    if parlai_searches and not kwargs and few_rows(batch, asked):
        found = search_side_by_side(agent, batch, asked, seed, max_ts, prefix_tokens)
    else:
        found = search_one_by_one(
            agent,
            lambda own, width: generate(
                own, width, max_ts, prefix_tokens=prefix_tokens, **kwargs
            ),
            batch,
            asked,
            seed,
        )
    pools: list[list[Candidate]] = [[] for _ in range(batch.batchsize)]
    for (strategy, examples), searches in zip(asked, found, strict=True):
        for example, own in zip(examples, searches, strict=True):
            pools[example] += collect(agent, own, strategy)
    return [merge([c for c in pool if c.text.strip()] or pool) for pool in pools]


def search_one_by_one(
    agent: Any,
    generate: Callable[[Batch, int], tuple[Any, Sequence[Any]]],
    batch: Batch,
    asked: Asked,
    seed: int,
) -> list[list[list[Any]]]:
    """
    Search with the generator's own loop, one strategy after another.

    :param generate: searches a batch with a given width; returns ParlAI's pair of best
        hypotheses (unused) and searches.
    :return: for each strategy and each of its examples, the finished searches.
    """
    found = []
    with own_random_numbers(batch):
        for strategy, examples in asked:
            # A generator may write into its batch (RAG does), so each search gets a
            # copy.
            copy = type(batch)(**batch)
            with decoding(agent, strategy), seeded(agent, batch, strategy.name, seed):
                _, searches = generate(copy, strategy.width)
            # One for each example, or one for each of its documents (RAG-Sequence).
            each, rest = divmod(len(searches), batch.batchsize)
            if not each or rest:
                raise ConfigError(
                    f'{type(agent).__name__} cannot be reranked: for {batch.batchsize} '
                    f'examples its _generate returned {len(searches)} searches to take '
                    'candidates from.'
                )
            found.append([list(searches[i * each :][:each]) for i in examples])
    return found


def _asked(strategies: Sequence[Strategy], grounded: Sequence[bool]) -> Asked:
    first, *more = strategies
    chosen_by_knowledge = [i for i, known in enumerate(grounded) if known]
    asked: Asked = [(first, range(len(grounded)))]
    if chosen_by_knowledge:
        asked += [(strategy, chosen_by_knowledge) for strategy in more]
    return asked


def collect(agent: Any, searches: Sequence[Any], strategy: Strategy) -> list[Candidate]:
    """
    The candidates that a strategy found for one example, at most as many as were asked
    for; a beam often finishes more.

    :param searches: finished searches: one, or one for each document.
    """
    finished = [h for search in searches for h in search.get_rescored_finished()]
    if len(searches) > 1:
        finished.sort(key=lambda hypothesis: -float(hypothesis[1]))
    length_penalty = agent.opt.get('beam_length_penalty', PARLAI_LENGTH_PENALTY)
    found: list[Candidate] = []
    for hypothesis in finished:
        if len(found) == strategy.number:
            break
        tokens, score, _ = hypothesis
        try:
            text = agent._v2t(tokens)
        except KeyError:
            # A token that the dictionary does not know; ParlAI skips these as well.
            continue
        mean = mean_logprob(float(score), len(tokens), length_penalty)
        found.append(Candidate(text, (strategy.name,), float(score), mean, hypothesis))
    return found


def mean_logprob(score: float, length: int, length_penalty: float) -> float:
    """
    The mean log probability of a token, from a score with ParlAI's length penalty.

    :param score: log probability over ((1 + length) / 6) ** length_penalty
        (``TreeSearch.get_rescored_finished``; Wu et al. 2016, section 7).
    :param length: the number of tokens, including the start token, which costs nothing.
    """
    return score * math.pow((1 + length) / 6, length_penalty) / max(length - 1, 1)
