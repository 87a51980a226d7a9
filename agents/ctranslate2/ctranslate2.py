"""
A ParlAI generator around any model that CTranslate2 runs: encoder-decoders and, with
their chat templates, the decoders that people chat with.

Alone it returns the first reply that ``--inference`` finds. Under the reranking agent
it finds the candidates of ``--candidate-strategies``.
"""

from collections.abc import Sequence
from typing import Any

from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.utils.misc import warn_once

from parlai_q2.agents.ctranslate2.options import (
    add_options,
    generator_from_opt,
    strategy_from_opt,
)
from parlai_q2.generate.chat import SpokenTurn
from parlai_q2.generate.generator import Generator
from parlai_q2.generate.strategies import NAMED_CANDIDATES, Strategy, parse_strategies
from parlai_q2.generate.writer import GeneratedReply
from parlai_q2.parlai.generator.agent import CandidateAgent
from parlai_q2.parlai.generator.candidates import Searches
from parlai_q2.rerank.candidate import Candidate, first_distinct


class Ctranslate2Agent(CandidateAgent):
    """Replies with what a converted model generates."""

    what = 'A converted model'
    loaded: Generator

    @classmethod
    def add_cmdline_args(
        cls, parser: ParlaiParser, partial_opt: Opt | None = None
    ) -> ParlaiParser:
        super().add_cmdline_args(parser, partial_opt=partial_opt)
        return add_options(parser, partial_opt)

    def __init__(self, opt: Opt, shared: dict[str, Any] | None = None):
        single = strategy_from_opt(opt)
        text = opt.get('candidate_strategies')
        self.searches = parse_strategies(text) if text else [single]
        super().__init__(opt, shared)

    @property
    def has_more_searches(self) -> bool:
        return len(self.searches) > 1

    def load(self, opt: Opt) -> Generator:
        seed = opt.get('candidate_seed') or 0
        is_sampling = any(strategy.is_sampling for strategy in self.searches)
        return generator_from_opt(opt, seed if is_sampling else None)

    def read(self, dialogue: Sequence[SpokenTurn], knowledge: str) -> list[str]:
        """The model's tokens for a turn; warns once if they were cut."""
        context, fitted = self.loaded.context(dialogue, knowledge)
        if fitted.length > len(context):
            warn_once(
                f'A context of {fitted.length} tokens was cut to the {len(context)} '
                'that the model reads, the oldest turns first.'
            )
        if fitted.knowledge_cut:
            warn_once(
                'Knowledge that alone is longer than the model can read was cut at its '
                'end. Give shorter knowledge, or a higher --text-truncate.'
            )
        return context

    def find(
        self, contexts: Sequence[list[str]], searches: Sequence[Searches]
    ) -> list[list[Candidate]]:
        """Find candidates, in the order of the strategies."""
        strategies = [flags.select(self.searches) for flags in searches]
        wider = [list(map(Strategy.with_spares, selected)) for selected in strategies]
        written = self.loaded.writer.write(contexts, wider)
        pools = self._make_candidates(written, contexts)
        return list(map(_select_distinct, strategies, pools))

    def complete(
        self, contexts: Sequence[list[str]], beginnings: Sequence[str]
    ) -> list[list[Candidate]]:
        """Find candidates that begin with given texts, with a beam."""
        pools = self.loaded.complete(contexts, beginnings, NAMED_CANDIDATES)
        return self._make_candidates(pools, contexts)

    def _make_candidates(
        self,
        pools: Sequence[Sequence[GeneratedReply]],
        contexts: Sequence[Sequence[str]],
    ) -> list[list[Candidate]]:
        candidates = []
        for pool, context in zip(pools, contexts, strict=True):
            of_context = []
            for reply in pool:
                text = self.loaded.text(reply.tokens, context)
                of_context.append(
                    Candidate(
                        text,
                        (reply.strategy,),
                        reply.score,
                        reply.logprob,
                        source=(text, reply.score),
                    )
                )
            candidates.append(of_context)
        return candidates


def _select_distinct(
    strategies: Sequence[Strategy], pool: Sequence[Candidate]
) -> list[Candidate]:
    """As many different candidates of each strategy as it asks for, in their order."""
    selected: list[Candidate] = []
    for strategy in strategies:
        matching = (c for c in pool if c.strategies == (strategy.name,))
        selected += first_distinct(matching, strategy.number)
    return selected
