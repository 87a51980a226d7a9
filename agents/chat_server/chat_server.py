"""
A ParlAI generator whose model runs behind a server that speaks the chat-completions
protocol (vLLM, llama.cpp, Ollama, TGI and the like).

Alone it says the server's first reply. Under the reranking agent it asks for
``--server-samples`` replies, in one request where the server allows that.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Any

from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_q2.agents.chat_server.options import add_options, server_from_opt
from parlai_q2.errors import ServerError
from parlai_q2.generate.chat import SpokenTurn, messages_of
from parlai_q2.generate.protocol import ServerReply
from parlai_q2.generate.server import ChatServer
from parlai_q2.models.prompts import Prompt
from parlai_q2.options import line_ends
from parlai_q2.parlai.generator.agent import CandidateAgent
from parlai_q2.parlai.generator.candidates import Searches
from parlai_q2.rerank.candidate import Candidate

STRATEGY = ('server',)


class ChatServerAgent(CandidateAgent):
    """Replies with what a server's model says."""

    what = 'A model behind a server'

    @classmethod
    def add_cmdline_args(
        cls, parser: ParlaiParser, partial_opt: Opt | None = None
    ) -> ParlaiParser:
        super().add_cmdline_args(parser, partial_opt=partial_opt)
        return add_options(parser)

    @property
    def has_more_searches(self) -> bool:
        return bool(self.opt['server_samples'] > 1)

    def load(self, opt: Opt) -> tuple[ChatServer, Prompt]:
        return server_from_opt(opt), Prompt(line_ends(opt['prompt_template']))

    @property
    def server(self) -> ChatServer:
        server: ChatServer = self.loaded[0]
        return server

    def read(
        self, dialogue: Sequence[SpokenTurn], knowledge: str
    ) -> list[dict[str, str]]:
        """The messages to send."""
        return messages_of(self.loaded[1], dialogue, knowledge)

    def find(
        self, contexts: Sequence[Any], searches: Sequence[Searches]
    ) -> list[list[Candidate]]:
        """
        The replies in the server's order.

        :raises ServerError: when the server fails, or gives no log probabilities where
            they were asked for.
        """
        rest = self.opt['server_samples'] - 1
        numbers = [
            (Searches.FIRST in flags) + rest * (Searches.REST in flags)
            for flags in searches
        ]
        pools = self.server.replies(contexts, numbers)
        replies = chain.from_iterable(pools)
        if self.opt['server_logprobs'] and any(r.logprob is None for r in replies):
            raise ServerError(
                f'{self.server.url} gives no log probabilities. Leave out '
                '--server-logprobs.'
            )
        return [list(map(_candidate, pool)) for pool in pools]


def _candidate(reply: ServerReply) -> Candidate:
    score = reply.logprob or 0.0
    return Candidate(
        reply.text,
        STRATEGY,
        score,
        score / max(reply.tokens, 1),
        source=(reply.text, score),
    )
