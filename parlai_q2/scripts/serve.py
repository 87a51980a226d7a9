"""
``parlai_q2 serve``: a proxy for a server of the chat-completions protocol, which
answers with the most grounded of several replies.
"""

import ipaddress
import logging
import os
from dataclasses import fields
from typing import Any

from parlai_q2.cli import log
from parlai_q2.cli.knowledge_options import add_index_options, grounder_from_opt
from parlai_q2.cli.scorer_options import (
    add_choice_options,
    add_scorer_options,
    reranker_from_opt,
)
from parlai_q2.cli.serve_settings import ServeSettings
from parlai_q2.errors import ConfigError
from parlai_q2.options import (
    OptionParser,
    Options,
    add_options_of,
    line_ends,
    split_names,
)
from parlai_q2.packages import check_package
from parlai_q2.scorers.roles import NONE, Role

API_KEY_VARIABLE = 'PARLAI_Q2_API_KEY'
UPSTREAM_KEY_VARIABLE = 'PARLAI_Q2_SERVER_KEY'
# With this many connections, requests get 503.
MAX_CONNECTIONS = 2000
# Seconds for which a connection is kept: longer than clients keep theirs, which could
# otherwise ask while it is being closed.
KEEP_ALIVE = 75


def add_options(parser: OptionParser) -> None:
    group = parser.add_argument_group('Server')
    group.add_argument(
        '--upstream',
        help='the server that writes the replies, such as http://localhost:8000/v1',
    )
    group.add_argument('--host', default='127.0.0.1', help='the address to listen on')
    group.add_argument(
        '--port', type=int, default=8080, help='the port to listen on; 0: any free one'
    )
    add_options_of(group, ServeSettings, 'candidates', 'revise', 'stream_sentences')
    group.add_argument(
        '--api-key',
        help='the bearer token that clients must send; default: '
        f'${API_KEY_VARIABLE}, which other users of this machine cannot '
        'see',
    )
    group.add_argument(
        '--upstream-key-variable',
        default=UPSTREAM_KEY_VARIABLE,
        help="the environment variable with the upstream server's key. If it "
        "is not set, the server gets the client's key, or no key if clients "
        'must send --api-key',
    )
    group.add_argument(
        '--upstream-timeout',
        type=float,
        default=120.0,
        help='seconds for one request to the upstream server',
    )
    group.add_argument(
        '--upstream-retries',
        type=int,
        default=2,
        help='how often to repeat each request that fails; a server that gives one '
        'reply per request gets one for each candidate',
    )
    group.add_argument(
        '--upstream-concurrency',
        type=int,
        default=64,
        help='requests to the upstream server at a time',
    )
    add_options_of(group, ServeSettings, 'max_queue', 'max_body', 'max_knowledge')
    group.add_argument(
        '--allow-host',
        default='',
        help='comma-separated names and addresses to answer to, besides localhost '
        'and --host; default with a --host that others can reach: all',
    )
    group.add_argument(
        '--shutdown-seconds',
        type=int,
        default=30,
        help='how long running requests may take after Ctrl-C or SIGTERM',
    )
    group = parser.add_argument_group('Knowledge')
    group.add_argument(
        '--knowledge-markers',
        nargs=2,
        metavar=('BEGIN', 'END'),
        help='the texts around knowledge in messages, such as "<context>" '
        '"</context>"; without them, whole system messages are knowledge',
    )
    group.add_argument(
        '--knowledge-prompt',
        help='the text that passes knowledge from the field "knowledge" or '
        'from an index to the model; contains {knowledge}',
    )
    add_index_options(group)
    add_choice_options(parser)
    add_scorer_options(parser, Role.CHOOSE, Role.EXPLAIN)
    # The claims of the scorer that chooses take no extra time.
    parser.set_defaults(explain=NONE)


def run(opt: Options) -> None:
    """Serve until Ctrl-C or SIGTERM."""
    if not opt['upstream']:
        raise ConfigError('--upstream is missing. Give http://localhost:8000/v1')
    for module in ('starlette', 'uvicorn', 'prometheus_client'):
        package = module.replace('_', '-')
        check_package(module, package, 'serve', 'parlai_q2 serve')
    import uvicorn

    from parlai_q2.web import listen, make_config

    socket = listen(opt['host'], opt['port'])
    app = app_from_opt(opt)
    # Other loggers may quote what a user wrote.
    logging.getLogger('parlai_q2.scorers').setLevel(logging.ERROR)
    config = make_config(
        app,
        MAX_CONNECTIONS,
        opt['shutdown_seconds'],
        lifespan='on',
        timeout_keep_alive=KEEP_ALIVE,
    )
    host, port = socket.getsockname()[:2]
    address = f'[{host}]' if ':' in host else host
    log.info(f'Serving http://{address}:{port}/v1 (Ctrl-C ends it)')
    uvicorn.Server(config).run(sockets=[socket])


def app_from_opt(opt: Options) -> Any:
    from parlai_q2.generate.server import ChatServer, read_key
    from parlai_q2.serve import make_app
    from parlai_q2.serve.grounded import load_models

    server = ChatServer(
        opt['upstream'],
        key=read_key(opt['upstream_key_variable'], '--upstream-key-variable'),
        timeout=opt['upstream_timeout'],
        retries=opt['upstream_retries'],
        concurrency=opt['upstream_concurrency'],
    )
    api_key = opt['api_key'] or os.environ.get(API_KEY_VARIABLE, '').strip()
    is_private = _is_loopback(opt['host'])
    if not is_private and not api_key:
        log.warning(
            f'Whoever reaches {opt["host"]} can use this server. Ask for a key: '
            f'export {API_KEY_VARIABLE}=...'
        )
    names = split_names(opt['allow_host'])
    if is_private or names:
        host = opt['host']
        names += [
            'localhost',
            '127.0.0.1',
            '[::1]',
            f'[{host}]' if ':' in host else host,
        ]
    options = [f.name for f in fields(ServeSettings) if f.metadata]
    values = {name: opt[name] for name in ('abstain_text', *options)}
    values |= {'api_key': api_key, 'hosts': tuple(names or ['*'])}
    if opt['knowledge_markers']:
        values['markers'] = tuple(opt['knowledge_markers'])
    if opt['knowledge_prompt']:
        values['prompt'] = line_ends(opt['knowledge_prompt'])
    settings = ServeSettings(**values)
    reranker = reranker_from_opt(opt)
    log.info(f'Loading the models of {opt["choose"]}')
    load_models(reranker)
    return make_app(server, reranker, settings, grounder_from_opt(opt))


def _is_loopback(host: str) -> bool:
    try:
        return host == 'localhost' or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
