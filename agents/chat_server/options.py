"""The agent's options, and the server that they describe."""

import os
import re
from collections.abc import Mapping
from typing import Any

from parlai.core.params import ParlaiParser

from parlai_q2.agents.chat_server.client import ChatServer
from parlai_q2.agents.chat_server.prompt import DEFAULT_PROMPT
from parlai_q2.errors import ConfigError

# Not the variable of any one service: its key is for that service alone.
KEY_VARIABLE = 'PARLAI_Q2_SERVER_KEY'
DEFAULT_SAMPLES = 10


def add_options(parser: ParlaiParser) -> ParlaiParser:
    """Add the options to a parser with those of TorchAgent."""
    group = parser.add_argument_group('ChatServer Agent')
    group.add_argument(
        '--server-url',
        type=str,
        default=None,
        help='where the protocol starts, such as http://localhost:8000/v1; no other '
        'host is contacted',
    )
    group.add_argument(
        '--server-model', type=str, default=None, help="the model's name there"
    )
    group.add_argument(
        '--prompt-template',
        type=str,
        default=DEFAULT_PROMPT,
        help="the system's message, a format string with {knowledge}; with {history} "
        'as well, all turns are written into this one message',
    )
    group.add_argument(
        '--server-samples',
        type=int,
        default=DEFAULT_SAMPLES,
        help='how many replies to ask for when they are reranked; otherwise one',
    )
    group.add_argument(
        '--server-temperature', type=float, default=0.9, help='0 for no sampling'
    )
    group.add_argument(
        '--server-topp',
        type=float,
        default=0.95,
        help='probability mass that is sampled from, in (0, 1]',
    )
    group.add_argument(
        '--server-max-tokens',
        type=int,
        default=128,
        help='the most tokens of a reply',
    )
    group.add_argument(
        '--server-logprobs',
        type='bool',
        default=False,
        help='ask for log probabilities; --rerank-by score_plus_generator always does',
    )
    group.add_argument(
        '--server-timeout', type=float, default=60.0, help='seconds for one try'
    )
    group.add_argument(
        '--server-retries',
        type=int,
        default=4,
        help='how often to ask again, after longer and longer waits, where the server '
        'is busy, fails or breaks off',
    )
    group.add_argument(
        '--server-concurrency', type=int, default=4, help='requests at a time'
    )
    group.add_argument(
        '--server-key-variable',
        type=str,
        default=KEY_VARIABLE,
        help="the environment variable that holds the server's key, if it needs one; "
        'the key itself is never saved or shown',
    )
    return parser


def server_from_opt(opt: Mapping[str, Any]) -> ChatServer:
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
    for name, lowest in (
        ('server_samples', 1),
        ('server_temperature', 0),
        ('server_max_tokens', 1),
        ('server_retries', 0),
        ('server_concurrency', 1),
    ):
        if not opt[name] >= lowest:
            raise ConfigError(f'{_flag(name)} is {opt[name]}; the least is {lowest}.')
    if not 0 < opt['server_topp'] <= 1:
        raise ConfigError(f'--server-topp is {opt["server_topp"]}, not in (0, 1].')
    if not opt['server_timeout'] > 0:
        raise ConfigError(f'--server-timeout is {opt["server_timeout"]}, not above 0.')
    settings = {
        'model': opt['server_model'],
        'temperature': opt['server_temperature'],
        'top_p': opt['server_topp'],
        'max_tokens': opt['server_max_tokens'],
    }
    if needs_logprobs(opt):
        # llama-cpp-python gives none without the second field.
        settings |= {'logprobs': True, 'top_logprobs': 1}
    return ChatServer(
        opt['server_url'],
        settings,
        key_from(opt['server_key_variable']),
        opt['server_timeout'],
        opt['server_retries'],
        opt['server_concurrency'],
    )


def needs_logprobs(opt: Mapping[str, Any]) -> bool:
    """Whether replies must come with their log probabilities."""
    by = opt.get('rerank_by')
    return bool(opt['server_logprobs']) or by == 'score_plus_generator'


def key_from(variable: str) -> str:
    """
    The key that an environment variable holds; empty if the default one is not set.

    :raises ConfigError: when another one is named and not set.
    """
    if not re.fullmatch(r'[A-Z_][A-Z0-9_]*', variable):
        # It may be the key itself, so it is not repeated.
        raise ConfigError(
            '--server-key-variable must name an environment variable, in capitals; the '
            'key itself belongs into that variable.'
        )
    key = os.environ.get(variable, '').strip()
    if not key and variable != KEY_VARIABLE:
        raise ConfigError(f'{variable} is not set. Run: export {variable}=...')
    return key


def _flag(name: str) -> str:
    return '--' + name.replace('_', '-')
