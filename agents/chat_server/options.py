"""The agent's options, and the server that they describe."""

from collections.abc import Mapping, Sequence
from typing import Any

from parlai.core.params import ParlaiParser

from parlai_q2.errors import ConfigError
from parlai_q2.generate.chat import DEFAULT_PROMPT
from parlai_q2.generate.server import KEY_VARIABLE, ChatServer, read_key
from parlai_q2.generate.strategies import MOST_CANDIDATES

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
    ('--server-temperature', 0.9, 0, '0: no sampling'),
    ('--server-topp', 0.95, 0, 'probability mass to sample from, in (0, 1]'),
    ('--server-max-tokens', 128, 1, 'the most tokens of a reply'),
    ('--server-timeout', 60.0, 0.1, 'seconds for one request'),
    (
        '--server-retries',
        4,
        0,
        'how often to ask again, after longer and longer waits, if the server is busy, '
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
    for name, _, least, _ in OPTIONS:
        value = opt[name[2:].replace('-', '_')]
        if least is not None and not value >= least:
            raise ConfigError(f'{name} is {value}; the least is {least}.')
    if opt['server_samples'] > MOST_CANDIDATES:
        raise ConfigError(
            f'--server-samples is {opt["server_samples"]}; the most is '
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
        # llama-cpp-python gives none without the second field.
        settings |= {'logprobs': True, 'top_logprobs': 1}
    return ChatServer(
        opt['server_url'],
        settings,
        key=read_key(opt['server_key_variable'], '--server-key-variable'),
        timeout=opt['server_timeout'],
        retries=opt['server_retries'],
        concurrency=opt['server_concurrency'],
    )
