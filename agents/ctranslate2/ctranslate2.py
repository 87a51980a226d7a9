"""
A ParlAI generator around any model that CTranslate2 runs: encoder-decoders and, with
their chat templates, the decoders that people chat with.

Alone it says the first reply that ``--inference`` finds. Under the reranking agent it
gives the candidates of ``--candidate-strategies``.
"""

from collections.abc import Sequence
from typing import Any, Optional

from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.utils.misc import warn_once

from parlai_q2.agents.ctranslate2.options import (
    add_options,
    generator_from_opt,
    strategy_from_opt,
)
from parlai_q2.generate.chat import Said
from parlai_q2.generate.open import Generator
from parlai_q2.generate.strategies import BEGUN, parse_strategies
from parlai_q2.generate.writer import Written
from parlai_q2.parlai.generator.agent import CandidateAgent
from parlai_q2.parlai.generator.candidates import Searches
from parlai_q2.rerank.candidate import Candidate


class Ctranslate2Agent(CandidateAgent):
    """Replies with what a converted model writes."""

    what = 'A converted model'
    loaded: Generator

    @classmethod
    def add_cmdline_args(
        cls, parser: ParlaiParser, partial_opt: Optional[Opt] = None
    ) -> ParlaiParser:
        super().add_cmdline_args(parser, partial_opt=partial_opt)
        return add_options(parser, partial_opt)

    def __init__(self, opt: Opt, shared: Optional[dict[str, Any]] = None):
        alone = strategy_from_opt(opt)
        asked = opt.get('candidate_strategies')
        self.asked = parse_strategies(asked) if asked else [alone]
        super().__init__(opt, shared)

    @property
    def has_more_searches(self) -> bool:
        return len(self.asked) > 1

    def load(self, opt: Opt) -> Generator:
        return generator_from_opt(opt)

    def read(self, dialogue: Sequence[Said], knowledge: str) -> list[str]:
        """The model's tokens for a turn; what is cut of them is said once."""
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
        """The candidates in the order of the strategies."""
        strategies = [flags.select(self.asked) for flags in searches]
        seed = self.opt.get('candidate_seed') or 0
        pools = self.loaded.writer.write(contexts, strategies, seed)
        return self._candidates(pools, contexts)

    def complete(
        self, contexts: Sequence[list[str]], beginnings: Sequence[str]
    ) -> list[list[Candidate]]:
        """Find them with a beam of :data:`~parlai_q2.generate.strategies.BEGUN`."""
        pools = self.loaded.begun(contexts, beginnings, BEGUN)
        return self._candidates(pools, contexts)

    def _candidates(
        self, pools: Sequence[Sequence[Written]], contexts: Sequence[Sequence[str]]
    ) -> list[list[Candidate]]:
        return [
            [self._candidate(one, context) for one in pool]
            for pool, context in zip(pools, contexts, strict=True)
        ]

    def _candidate(self, one: Written, context: Sequence[str]) -> Candidate:
        text = self.loaded.text(one.tokens, context)
        source = (text, one.score)
        return Candidate(text, (one.strategy,), one.score, one.logprob, source=source)
