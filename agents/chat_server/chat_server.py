"""
A ParlAI generator whose model runs behind a server that speaks the chat-completions
protocol (vLLM, llama.cpp, Ollama, TGI and the like).

Alone it says the server's first reply. Under the reranking agent it asks for
``--server-samples`` replies, in one request where the server allows that.
"""

from collections.abc import Sequence
from typing import Any, Optional

from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.torch_agent import Batch, History, Output, TorchAgent

from parlai_q2.agents.chat_server.client import Reply
from parlai_q2.agents.chat_server.history import ChatHistory
from parlai_q2.agents.chat_server.options import (
    add_options,
    needs_logprobs,
    server_from_opt,
)
from parlai_q2.agents.grounded_rerank.search import RankedBeam
from parlai_q2.errors import ConfigError, ServerError
from parlai_q2.generate.chat import messages_of
from parlai_q2.io.knowledge import find_knowledge
from parlai_q2.models.prompts import Prompt
from parlai_q2.options import line_ends
from parlai_q2.parlai.readable import readable
from parlai_q2.rerank import Candidate

# The field that carries an observation's messages, and a batch's.
MESSAGES = 'chat_messages'
STRATEGY = ('server',)


class ChatServerAgent(TorchAgent):
    """Replies with what a server's model says; it cannot be trained."""

    # ParlAI's own.
    opt: Any

    @classmethod
    def add_cmdline_args(
        cls, parser: ParlaiParser, partial_opt: Optional[Opt] = None
    ) -> ParlaiParser:
        super().add_cmdline_args(parser, partial_opt=partial_opt)
        return add_options(parser)

    @classmethod
    def history_class(cls):
        return ChatHistory

    def __init__(self, opt: Opt, shared: Optional[dict[str, Any]] = None):
        if shared:
            self.server, self.prompt = shared['server']
        else:
            self.server = server_from_opt(opt)
            self.prompt = Prompt(line_ends(opt['prompt_template']))
            self.model = self.criterion = None
        super().__init__(opt, shared)

    def build_model(self) -> None:
        """There is none here."""

    def share(self) -> dict[str, Any]:
        return {**super().share(), 'server': (self.server, self.prompt)}

    def observe(self, observation: Message) -> Message:
        return super().observe(readable(observation))

    def vectorize(
        self, obs: Message, history: History, *args: Any, **kwargs: Any
    ) -> Message:
        """Put the messages to send into the observation."""
        knowledge = find_knowledge(obs) or ''
        if obs.get('text') or knowledge:
            obs.force_set(MESSAGES, messages_of(self.prompt, history.said(), knowledge))
        return obs

    def is_valid(self, obs: Message) -> bool:
        return super().is_valid(obs) and MESSAGES in obs

    def batchify(self, obs_batch: list[Message], *args: Any, **kwargs: Any) -> Batch:
        batch = super().batchify(obs_batch, *args, **kwargs)
        if batch.valid_indices is not None:
            batch[MESSAGES] = [obs_batch[i][MESSAGES] for i in batch.valid_indices]
        return batch

    def train_step(self, batch: Batch) -> None:
        raise ConfigError(
            'A model behind a server cannot be trained here. Evaluate it: eval_model, '
            'or --datatype valid.'
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
        """The server's first replies, in the form of ParlAI's finished searches."""
        pools = self.candidate_pools(batch, [False] * batch.batchsize)
        beams = [RankedBeam([c.source for c in pool]) for pool in pools]
        return [beam.hypotheses[0] for beam in beams], beams

    def candidate_pools(
        self, batch: Batch, grounded: Sequence[bool]
    ) -> list[list[Candidate]]:
        """
        Ask for the candidates of a batch.

        :param grounded: B truth values: whether there is knowledge to choose by; where
            there is none, one reply is asked for.
        :return: B pools, in the server's order. An empty reply is kept only where there
            is no other.
        :raises ServerError: when the server fails, or gives no log probabilities where
            they are needed.
        """
        samples = self.opt['server_samples']
        numbers = [samples if known else 1 for known in grounded]
        pools = self.server.replies(batch[MESSAGES], numbers)
        if needs_logprobs(self.opt):
            if any(reply.logprob is None for pool in pools for reply in pool):
                raise ServerError(
                    f'{self.server.url} gives no log probabilities. Leave out '
                    '--rerank-by score_plus_generator.'
                )
        return [[_candidate(r) for r in pool if r.text] for pool in pools]


def _candidate(reply: Reply) -> Candidate:
    score = reply.logprob or 0.0
    return Candidate(
        reply.text,
        STRATEGY,
        score,
        score / max(reply.tokens, 1),
        source=(reply.text, score),
    )
