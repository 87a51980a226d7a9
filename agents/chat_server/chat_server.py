"""
A ParlAI generator whose model runs behind a server that speaks the chat-completions
protocol (vLLM, llama.cpp, Ollama, TGI and the like).

Alone it returns the server's first reply. Under the reranking agent it asks for
``--server-samples`` replies, in one request where the server allows that.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Any

from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_q2.errors import ConfigError, ServerError
from parlai_q2.generate.chat import DEFAULT_PROMPT, SpokenTurn, build_messages
from parlai_q2.generate.chat_completions import ServerReply
from parlai_q2.generate.server import KEY_VARIABLE, ChatServer, read_key
from parlai_q2.generate.strategies import MOST_CANDIDATES
from parlai_q2.models.prompts import Prompt
from parlai_q2.options import Options, line_ends
from parlai_q2.parlai.generator import CandidateAgent, SearchPhase
from parlai_q2.rerank.candidate import Candidate

DEFAULT_SAMPLES = 10


# Name, default, least value (None for a text) and help of each option.
OPTIONS: Sequence[tuple[str, Any, Any, str]] = (
    (
        '--server-url',
        '',
        None,
        'the base URL of the protocol, such as http://localhost:8000/v1; no other host '
        'is contacted',
    ),
    ('--server-model', '', None, "the model's name on the server"),
    (
        '--prompt-template',
        DEFAULT_PROMPT,
        None,
        'the system message, a format string with {knowledge}; with {history}, all '
        'turns become part of this one message',
    ),
    (
        '--server-samples',
        DEFAULT_SAMPLES,
        1,
        'how many replies to ask for when reranking; otherwise one',
    ),
    ('--server-temperature', 0.9, 0, 'temperature of sampling; 0: no sampling'),
    ('--server-topp', 0.95, 0, 'probability mass to sample from, in (0, 1]'),
    ('--server-max-tokens', 128, 1, 'the most tokens of a reply'),
    ('--server-timeout', 60.0, 0.1, 'seconds for one request'),
    (
        '--server-retries',
        4,
        0,
        'how often to retry, after longer and longer waits, if the server is busy, '
        'fails or breaks off',
    ),
    ('--server-concurrency', 4, 1, 'requests at a time'),
    (
        '--server-logprobs',
        False,
        None,
        'also ask for log probabilities, so that the choice can use them; not all '
        'servers have them',
    ),
    (
        '--server-key-variable',
        KEY_VARIABLE,
        None,
        "the environment variable with the server's key, if it needs one; the key "
        'itself is never saved or shown',
    ),
)


def add_options(parser: ParlaiParser) -> ParlaiParser:
    """Add the options to a parser with those of TorchAgent."""
    group = parser.add_argument_group('ChatServer Agent')
    for name, default, _, explanation in OPTIONS:
        kind = 'bool' if default is False else type(default)
        group.add_argument(name, type=kind, default=default, help=explanation)
    return parser


def server_from_opt(opt: Options) -> ChatServer:
    """
    The server that the options describe.

    :raises ConfigError: when an option is missing or out of range.
    """
    for name in ('server_url', 'server_model'):
        if not opt.get(name):
            raise ConfigError(
                'Name the server and its model: '
                '--server-url http://localhost:8000/v1 --server-model NAME'
            )
    for name, _, least, _ in OPTIONS:
        value = opt[name[2:].replace('-', '_')]
        if least is not None and not value >= least:
            raise ConfigError(f'{name} is {value}; it must be at least {least}.')
    if opt['server_samples'] > MOST_CANDIDATES:
        raise ConfigError(
            f'--server-samples is {opt["server_samples"]}; it must be at most '
            f'{MOST_CANDIDATES}.'
        )
    if not 0 < opt['server_topp'] <= 1:
        raise ConfigError(f'--server-topp is {opt["server_topp"]}, not in (0, 1].')
    settings = {
        'model': opt['server_model'],
        'temperature': opt['server_temperature'],
        'top_p': opt['server_topp'],
        'max_tokens': opt['server_max_tokens'],
    }
    if opt['server_logprobs']:
        # llama-cpp-python returns no log probabilities without the second field.
        settings |= {'logprobs': True, 'top_logprobs': 1}
    return ChatServer(
        opt['server_url'],
        settings,
        key=read_key(opt['server_key_variable'], '--server-key-variable'),
        timeout=opt['server_timeout'],
        retries=opt['server_retries'],
        concurrency=opt['server_concurrency'],
    )


STRATEGY = ('server',)


class ChatServerAgent(CandidateAgent):
    """Replies with the text that a server's model generates."""

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
        """Return the messages to send."""
        return build_messages(self.loaded[1], dialogue, knowledge)

    def find(
        self, contexts: Sequence[Any], searches: Sequence[SearchPhase]
    ) -> list[list[Candidate]]:
        """
        Request replies, in the server's order.

        :raises ServerError: when the server fails, or returns no log probabilities
            although they were requested.
        """
        rest = self.opt['server_samples'] - 1
        numbers = [
            (SearchPhase.FIRST in flags) + rest * (SearchPhase.REST in flags)
            for flags in searches
        ]
        pools = self.server.replies(contexts, numbers)
        replies = [reply for reply in chain.from_iterable(pools) if reply.text]
        # A server may omit the log probabilities of a single reply.
        if (
            self.opt['server_logprobs']
            and replies
            and all(reply.logprob is None for reply in replies)
        ):
            raise ServerError(
                f'{self.server.url} gives no log probabilities. Leave out '
                '--server-logprobs.'
            )
        return [list(map(_candidate, pool)) for pool in pools]


def _candidate(reply: ServerReply) -> Candidate:
    score = reply.logprob or 0.0
    mean = None if reply.logprob is None else score / max(reply.tokens, 1)
    return Candidate(reply.text, STRATEGY, score, mean, source=(reply.text, score))
