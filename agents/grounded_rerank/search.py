"""
Runs a generator's searches, one strategy after another, and pools what they find.
"""

from collections.abc import Callable, Sequence
from typing import Any, Optional

from parlai.core.torch_agent import Batch
from parlai.core.torch_generator_agent import TorchGeneratorAgent

from parlai_q2.agents.grounded_rerank.candidates import (
    Candidate,
    Hypothesis,
    collect,
    merge,
)
from parlai_q2.agents.grounded_rerank.encode_once import encode_once
from parlai_q2.agents.grounded_rerank.seeds import seeded
from parlai_q2.agents.grounded_rerank.strategies import Strategy, decoding
from parlai_q2.errors import ConfigError

# Generators that search with another library's generate(), which keeps only the best:
# ParlAI's own search runs their encoder and decoder as well (RAG does the same).
NOT_PARLAI_SEARCH = ('parlai.agents.hugging_face.t5',)

# TorchGeneratorAgent's own default of --beam-length-penalty.
PARLAI_LENGTH_PENALTY = 0.65


class RankedBeam:
    """
    Hypotheses in their new order, where ParlAI expects a finished search.

    :param hypotheses: N hypotheses, best first.
    """

    def __init__(self, hypotheses: Sequence[Hypothesis]):
        self.hypotheses = list(hypotheses)

    def get_rescored_finished(self, n_best: Optional[int] = None) -> list[Hypothesis]:
        """
        The best hypotheses, with the generator's own scores.

        :param n_best: how many; None for all.
        """
        return self.hypotheses[:n_best]


def pool_candidates(
    agent: Any,
    generate: Callable[[Batch, int], tuple[Any, Sequence[Any]]],
    batch: Batch,
    strategies: Sequence[Strategy],
    grounded: Sequence[bool],
    seed: int,
) -> list[list[Candidate]]:
    """
    The candidates of a batch.

    :param agent: the agent; its ``opt`` and ``search_seeds`` are set for each search.
    :param generate: searches over a batch with a given width; gives ParlAI's pair of
        best hypotheses (unused) and searches.
    :param batch: B examples.
    :param strategies: the searches, in the order that decides ties.
    :param grounded: B truth values: whether there is knowledge to choose by. Without,
        an example has the candidates of the first strategy only.
    :param seed: of what is sampled; below 0 for the global random numbers.
    :return: B pools of distinct candidates, in the generator's order; an empty reply is
        none of them unless there is no other.
    :raises ConfigError: when the generator gives no list of candidates.
    """
    found: list[list[Candidate]] = [[] for _ in range(batch.batchsize)]
    with encode_once(agent.model):
        for strategy in strategies if any(grounded) else strategies[:1]:
            # A generator may write into its batch (RAG does), so each search has a
            # copy.
            copy = type(batch)(**batch)
            with decoding(agent, strategy), seeded(agent, batch, strategy, seed):
                _, searches = generate(copy, strategy.number)
            by_example = _by_example(agent, searches, len(found))
            for pool, own, wanted in zip(found, by_example, grounded, strict=True):
                if wanted or strategy is strategies[0]:
                    pool += _collect(agent, own, strategy)
    return [merge(_speaking(pool)) for pool in found]


def _collect(
    agent: Any, searches: Sequence[Any], strategy: Strategy
) -> list[Candidate]:
    finished = [h for search in searches for h in search.get_rescored_finished()]
    if len(searches) > 1:
        finished.sort(key=lambda hypothesis: -float(hypothesis[1]))
    return collect(
        finished,
        strategy.name,
        strategy.number,
        agent._v2t,
        agent.opt.get('beam_length_penalty', PARLAI_LENGTH_PENALTY),
    )


def generate_function(agent: Any, generator: Any, inherited: Any) -> Any:
    """
    The function that searches for a generator.

    :param agent: the agent.
    :param generator: the generator's class.
    :param inherited: the ``_generate`` it has.
    """
    if generator._generate.__module__ in NOT_PARLAI_SEARCH:
        return TorchGeneratorAgent._generate.__get__(agent)
    return inherited


def _by_example(agent: Any, beams: Sequence[Any], examples: int) -> list[list[Any]]:
    """
    The searches of each example: one, or (RAG-Sequence) one for each document.
    """
    each, rest = divmod(len(beams), examples)
    if not each or rest:
        raise ConfigError(
            f'{type(agent).__name__} cannot be reranked: for {examples} examples its '
            f'_generate gave {len(beams)} searches to take candidates from.'
        )
    return [list(beams[i * each : (i + 1) * each]) for i in range(examples)]


def _speaking(pool: list[Candidate]) -> list[Candidate]:
    """
    Without empty replies, unless there are no others.
    """
    return [c for c in pool if c.text.strip()] or pool
