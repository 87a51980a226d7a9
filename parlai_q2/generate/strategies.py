"""
The strategies that find candidates, and the settings of each.

Their settings are those of Santhanam et al. 2021 (arXiv 2110.05456): nucleus sampling
with p = 0.9, beam search, and delayed beam search, which samples 5 steps from the 10
likeliest tokens first. A beam is five wide, or as wide as candidates are kept. By
default one beam finds all: for the shipped generator it takes a third of the time of
the three together, and led to no more wrong choices.
"""

from dataclasses import dataclass
from typing import Any, Optional

from parlai_q2.enums import Word
from parlai_q2.errors import ConfigError
from parlai_q2.options import split_names


class Search(Word):
    """A way of searching for replies, by its name in ParlAI's ``--inference``."""

    BEAM = 'beam'
    NUCLEUS = 'nucleus'
    DELAYED = 'delayedbeam'
    TOPK = 'topk'
    GREEDY = 'greedy'


BEAMS = (Search.BEAM, Search.DELAYED)

OPTION = '--candidate-strategies'
DEFAULT_STRATEGIES = 'beam:10'
DEFAULT_BEAM = 5
# The probability mass of nucleus sampling; of top-k sampling and the delayed beam, the
# likeliest tokens to sample from; and the latter's steps before the beam.
P = 0.9
K = 10
DELAY = 5
# What all strategies together may follow at a time; their memory grows with it.
MOST_CANDIDATES = 200

# How many replies that begin with a name a beam looks for, where the others have none.
BEGUN = 2

# How the settings are written after a slash, and which strategies have them.
SETTINGS = {
    'p': (Search.NUCLEUS,),
    'k': (Search.DELAYED, Search.TOPK),
    'delay': (Search.DELAYED,),
}


@dataclass(frozen=True)
class Strategy:
    """
    One search, and how many candidates it gives.

    :param name: one of :class:`Search`, or its text.
    :param beam: the width of the beam, at least ``number``; None for the larger of
        ``number`` and :data:`DEFAULT_BEAM`.
    :param p: of nucleus sampling, the probability mass to sample from, in (0, 1].
    :param k: of top-k sampling and the delayed beam, how many of the likeliest tokens
        to sample from.
    :param delay: of the delayed beam, how many steps to sample before the beam.
    """

    name: Search
    number: int
    beam: Optional[int] = None
    p: float = P
    k: int = K
    delay: int = DELAY

    def __post_init__(self) -> None:
        object.__setattr__(self, 'name', Search.named('candidate strategy', self.name))

    @property
    def width(self) -> int:
        """How many sequences the search follows at a time."""
        if self.name not in BEAMS:
            return self.number
        return self.beam or max(self.number, DEFAULT_BEAM)

    def __str__(self) -> str:
        usual = Strategy(self.name, self.number)
        beam = f'/{self.beam}' if self.beam else ''
        more = ''.join(
            f'/{name}={getattr(self, name)}'
            for name in SETTINGS
            if getattr(self, name) != getattr(usual, name)
        )
        return f'{self.name}:{self.number}{beam}{more}'


def parse_strategies(text: str) -> list[Strategy]:
    """
    Read ``beam:4,nucleus:3``: the best four of a beam, and three samples. ``beam:4/10``
    makes the beam ten wide; ``nucleus:3/p=0.8`` and ``delayedbeam:3/k=20/delay=4`` have
    settings of their own. A name without a number gives one candidate. The order
    decides ties.

    :raises ConfigError: when the text does not have that form.
    """
    strategies = [_parse(part) for part in split_names(text)]
    names = [s.name for s in strategies]
    if not names:
        raise ConfigError(f'{OPTION} is empty. The default: {DEFAULT_STRATEGIES}.')
    if len(set(names)) < len(names):
        raise ConfigError(
            f'{OPTION} {text}: a strategy appears twice; add up its numbers.'
        )
    if sum(s.width for s in strategies) > MOST_CANDIDATES:
        raise ConfigError(
            f'{OPTION} {text} follows more than {MOST_CANDIDATES} replies at a time. '
            'Ask for fewer candidates, or narrower beams.'
        )
    return strategies


def _parse(part: str) -> Strategy:
    given_name, _, rest = (p.strip() for p in part.partition(':'))
    number, *settings = (p.strip() for p in rest.split('/'))
    name = Search.named('candidate strategy', given_name)
    if not (number or '1').isdecimal() or int(number or '1') < 1:
        raise ConfigError(
            f'{OPTION}: {part!r} must be a name and a number from 1: {name}:3'
        )
    if name == Search.GREEDY and number not in ('', '1'):
        raise ConfigError(f'{OPTION}: {part!r}: greedy finds one candidate: greedy')
    given: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = (p.strip() for p in setting.partition('='))
        if equals:
            given[key] = _setting(part, name, key, value)
        elif (
            name in BEAMS and key.isdecimal() and int(key) >= int(number or '1')
        ) and 'beam' not in given:
            given['beam'] = int(key)
        else:
            raise ConfigError(
                f'{OPTION}: {part!r}: after the slash stands the width of the beam of '
                f'{" or ".join(BEAMS)}, at least the number of candidates: beam:4/10; '
                'or a setting: nucleus:3/p=0.9, delayedbeam:3/k=10/delay=5'
            )
    return Strategy(name, int(number or '1'), **given)


def _setting(part: str, name: Search, key: str, value: str) -> float:
    if name not in SETTINGS.get(key, ()):
        known = [setting for setting, names in SETTINGS.items() if name in names]
        raise ConfigError(
            f'{OPTION}: {part!r}: {name} has no setting {key!r}. '
            + (f'It has {", ".join(known)}.' if known else 'It has a width: beam:4/10')
        )
    try:
        number: float = float(value) if key == 'p' else int(value)
    except ValueError:
        number = 0
    if not 0 < number or key == 'p' and not number <= 1:
        wanted = 'a number above 0, at most 1' if key == 'p' else 'a number from 1'
        raise ConfigError(f'{OPTION}: {part!r}: {key} must be {wanted}, not {value!r}.')
    return number
