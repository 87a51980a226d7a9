"""
What the user of the proxy can set. It is not in ``serve``, which needs Starlette, since
``serve --help`` reads the fields that are options.
"""

from dataclasses import dataclass, field

from parlai_q2.cli.scorer_options import DEFAULT_ABSTAIN_TEXT
from parlai_q2.errors import ConfigError
from parlai_q2.generate.chat import KNOWLEDGE
from parlai_q2.generate.strategies import MOST_CANDIDATES
from parlai_q2.options import option_field

DEFAULT_PROMPT = 'What you say must agree with this knowledge:\n{knowledge}'


@dataclass(frozen=True)
class ServeSettings:
    """
    How the proxy answers, and what it accepts.

    The help of the other fields describes them.

    :param abstain_text: the reply when the reranker abstains.
    :param markers: what begins and what ends knowledge inside a message; None if system
        messages are knowledge as a whole.
    :param prompt: what tells the model of knowledge that its messages do not have.
    :param api_key: what clients must send as bearer token; empty for nothing.
    :param hosts: the names that it answers to; ``*`` for any.
    :param patience: seconds until a request must have arrived.
    :param window_ms: how long a request waits for others, to be scored with them.
    :raises ConfigError: when one is out of range.
    """

    candidates: int = option_field(4, 'how many replies to ask for and choose from')
    abstain_text: str = DEFAULT_ABSTAIN_TEXT
    markers: tuple[str, str] | None = None
    prompt: str = DEFAULT_PROMPT
    revise: bool = option_field(
        False,
        'let the server rewrite a reply with unsupported claims, or shorten it; not '
        'with --stream-sentences',
    )
    stream_sentences: bool = option_field(
        False, 'stream one reply sentence by sentence, up to the first unsupported one'
    )
    api_key: str = field(default='', repr=False)
    hosts: tuple[str, ...] = ('*',)
    max_queue: int = option_field(
        256, 'how many requests may be in progress at a time; further ones get 429'
    )
    max_body: int = option_field(10_000_000, 'the most bytes of a request')
    max_knowledge: int = option_field(
        200_000, "the most characters of a request's knowledge; more gets 413"
    )
    patience: float = 30.0
    window_ms: float = 4.0

    def __post_init__(self) -> None:
        if not 1 <= self.candidates <= MOST_CANDIDATES:
            raise ConfigError(
                f'--candidates is {self.candidates}; it must be from 1 to '
                f'{MOST_CANDIDATES}.'
            )
        for name in ('max_queue', 'max_body', 'max_knowledge', 'patience'):
            if getattr(self, name) <= 0:
                raise ConfigError(
                    f'--{name.replace("_", "-")} is {getattr(self, name)}; it must be '
                    'above 0.'
                )
        if KNOWLEDGE not in self.prompt:
            raise ConfigError(f'--knowledge-prompt must contain {KNOWLEDGE}.')
        if self.markers is not None and not all(self.markers):
            raise ConfigError(
                '--knowledge-markers takes two texts: "<context>" "</context>"'
            )
