"""
A ParlAI generator around any model that CTranslate2 runs: encoder-decoders and, with
their chat templates, the decoders that people chat with.

Alone it says the first reply that ``--inference`` finds. Under the reranking agent it
gives the candidates of ``--candidate-strategies``.
"""

from collections.abc import Sequence
from typing import Any, Optional

from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.torch_agent import Batch, History, Output, TorchAgent
from parlai.utils.misc import warn_once

from parlai_q2.agents.chat_server.history import ChatHistory
from parlai_q2.agents.ctranslate2.options import (
    add_options,
    generator_from_opt,
    strategy_from_opt,
)
from parlai_q2.agents.grounded_rerank.search import RankedBeam
from parlai_q2.errors import ConfigError
from parlai_q2.generate.open import Generator
from parlai_q2.generate.strategies import Strategy, parse_strategies
from parlai_q2.generate.writer import Written
from parlai_q2.io.knowledge import find_knowledge
from parlai_q2.parlai.readable import readable
from parlai_q2.rerank import Candidate

# The field that carries an observation's context, and a batch's.
CONTEXT = 'ctranslate2_context'


class Ctranslate2Agent(TorchAgent):
    """Replies with what a converted model writes; it cannot be trained."""

    # ParlAI's own.
    opt: Any

    @classmethod
    def add_cmdline_args(
        cls, parser: ParlaiParser, partial_opt: Optional[Opt] = None
    ) -> ParlaiParser:
        super().add_cmdline_args(parser, partial_opt=partial_opt)
        return add_options(parser, partial_opt)

    @classmethod
    def history_class(cls):
        return ChatHistory

    def __init__(self, opt: Opt, shared: Optional[dict[str, Any]] = None):
        self.alone = strategy_from_opt(opt)
        asked = opt.get('candidate_strategies')
        self.asked = parse_strategies(asked) if asked else [self.alone]
        if shared:
            self.generator: Generator = shared['generator']
        else:
            self.generator = generator_from_opt(opt)
            self.model = self.criterion = None
        super().__init__(opt, shared)

    def build_model(self) -> None:
        """ParlAI is not to build one: CTranslate2 has it."""

    def share(self) -> dict[str, Any]:
        return {**super().share(), 'generator': self.generator}

    def observe(self, observation: Message) -> Message:
        return super().observe(readable(observation))

    def vectorize(
        self, obs: Message, history: History, *args: Any, **kwargs: Any
    ) -> Message:
        """Put what the model reads into the observation."""
        knowledge = find_knowledge(obs) or ''
        if not obs.get('text') and not knowledge:
            return obs
        context, fitted = self.generator.context(history.said(), knowledge)
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
        obs.force_set(CONTEXT, context)
        return obs

    def is_valid(self, obs: Message) -> bool:
        return super().is_valid(obs) and CONTEXT in obs

    def batchify(self, obs_batch: list[Message], *args: Any, **kwargs: Any) -> Batch:
        batch = super().batchify(obs_batch, *args, **kwargs)
        if batch.valid_indices is not None:
            batch[CONTEXT] = [obs_batch[i][CONTEXT] for i in batch.valid_indices]
        return batch

    def train_step(self, batch: Batch) -> None:
        raise ConfigError(
            'A converted model cannot be trained. Evaluate it: eval_model, or '
            '--datatype valid. To train a Hugging Face model, use -m q2:hf_seq2seq.'
        )

    def eval_step(self, batch: Batch) -> Optional[Output]:
        if batch.valid_indices is None:
            return None
        _, beams = self._generate(batch, 1, None)
        found = [beam.get_rescored_finished() for beam in beams]
        return Output([beam[0][0] for beam in found], beam_texts=found)

    def _generate(
        self, batch: Batch, beam_size: int, max_ts: Any, prefix_tokens: Any = None
    ) -> tuple[list, list]:
        """The first replies, in the form of ParlAI's finished searches."""
        pools = self._pools(batch, [[self.alone]] * batch.batchsize)
        found: list[list[Any]] = [[c.source for c in pool] for pool in pools]
        beams = [RankedBeam(own or [('', 0.0)]) for own in found]
        return [beam.hypotheses[0] for beam in beams], beams

    def candidate_pools(
        self, batch: Batch, grounded: Sequence[bool]
    ) -> list[list[Candidate]]:
        """
        Find the candidates of a batch.

        :param grounded: B truth values: whether there is knowledge to choose by; where
            there is none, only the first strategy searches.
        :return: B pools, in the order of the strategies. A reply without text is no
            candidate.
        """
        asked = [self.asked if known else self.asked[:1] for known in grounded]
        return self._pools(batch, asked)

    def _pools(
        self, batch: Batch, asked: Sequence[Sequence[Strategy]]
    ) -> list[list[Candidate]]:
        seed = self.opt.get('candidate_seed') or 0
        pools = self.generator.writer.write(batch[CONTEXT], asked, seed)
        found = [[self._candidate(one) for one in pool] for pool in pools]
        return [[one for one in pool if one.text] for pool in found]

    def _candidate(self, one: Written) -> Candidate:
        text = self.generator.text(one.tokens)
        source = (text, one.score)
        return Candidate(text, (one.strategy,), one.score, one.logprob, source=source)
