"""
The strategies that find candidates, and their decoding settings.

The defaults are those of Santhanam et al. 2021 (arXiv 2110.05456): nucleus sampling
with p = 0.9, beam search, and delayed beam search, which samples 5 steps from the 10
likeliest tokens first. Beams are five wide, however many candidates are kept.
"""

from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Iterator, Optional

from parlai.core.opt import Opt

from parlai_q2.errors import ConfigError, UnknownNameError
from parlai_q2.options import split_names

# The names that ParlAI's --inference takes.
NAMES = ('beam', 'nucleus', 'delayedbeam')
BEAMS = ('beam', 'delayedbeam')

DEFAULT_STRATEGIES = 'beam:4,nucleus:3,delayedbeam:3'
DEFAULT_BEAM = 5
# The probability mass of nucleus sampling; of the delayed beam, the likeliest tokens to
# sample from and the steps before the beam.
TOPP = 0.9
TOPK = 10
BEAM_DELAY = 5


@dataclass(frozen=True)
class Strategy:
    """
    One search, and how many candidates it gives.

    :param name: one of :data:`NAMES`.
    :param beam: the width of the beam, at least ``number``; None for the larger of
        ``number`` and :data:`DEFAULT_BEAM`.
    """

    name: str
    number: int
    beam: Optional[int] = None

    @property
    def width(self) -> int:
        """How many sequences the search follows at a time."""
        if self.name not in BEAMS:
            return self.number
        return self.beam or max(self.number, DEFAULT_BEAM)

    def __str__(self) -> str:
        beam = f'/{self.beam}' if self.beam else ''
        return f'{self.name}:{self.number}{beam}'


def parse_strategies(text: str) -> list[Strategy]:
    """
    Read ``beam:4,nucleus:3``: the best four of a beam, and three samples. ``beam:4/10``
    makes the beam ten wide. A name without a number gives one candidate. The order
    decides ties.

    :raises ConfigError: when the text does not have that form.
    """
    strategies: list[Strategy] = []
    for part in split_names(text):
        name, _, size = (p.strip() for p in part.partition(':'))
        number, slash, beam = size.partition('/')
        if name not in NAMES:
            raise UnknownNameError('candidate strategy', name, NAMES)
        if not (number or '1').isdecimal() or int(number or '1') < 1:
            raise ConfigError(f'{part!r} must be a name and a number from 1: {name}:3')
        if slash and not (
            name in BEAMS and beam.isdecimal() and int(beam) >= int(number or '1')
        ):
            raise ConfigError(
                f'{part!r}: after the slash stands the width of the beam of '
                f'{" or ".join(BEAMS)}, at least the number of candidates: beam:4/10'
            )
        width = int(beam) if slash else None
        strategies.append(Strategy(name, int(number or '1'), width))
    names = [s.name for s in strategies]
    if not names:
        raise ConfigError(f'No strategy was given. The default: {DEFAULT_STRATEGIES}.')
    if len(set(names)) < len(names):
        raise ConfigError(f'A strategy appears twice in {text!r}; add up its numbers.')
    return strategies


@contextmanager
def decoding(agent: Any, strategy: Strategy) -> Iterator[None]:
    """
    Make an agent decode by a strategy while the context lasts. Other options (block
    lists, n-gram blocking, length penalty, temperature, minimum length) stay the
    generator's. Clones of an agent share one ``opt``, so it gets a copy of its own.
    """
    opt = agent.opt
    settings = {
        'inference': strategy.name,
        'beam_size': strategy.width,
        'topk': min(TOPK, len(agent.dict)),
        'topp': TOPP,
        'beam_delay': BEAM_DELAY,
    }
    agent.opt = Opt({**opt, **settings})
    try:
        yield
    finally:
        agent.opt = opt
