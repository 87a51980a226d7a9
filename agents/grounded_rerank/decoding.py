"""Makes a ParlAI generator search by a strategy."""

from contextlib import contextmanager
from typing import Any, Iterator

from parlai.core.opt import Opt

from parlai_q2.generate.strategies import Strategy


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
        'topk': min(strategy.k, len(agent.dict)),
        'topp': strategy.p,
        'beam_delay': strategy.delay,
    }
    agent.opt = Opt({**opt, **settings})
    try:
        yield
    finally:
        agent.opt = opt
