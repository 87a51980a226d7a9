"""Makes a ParlAI generator search with a given strategy."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from parlai.core.opt import Opt

from parlai_q2.generate.strategies import Strategy


@contextmanager
def decoding(agent: Any, strategy: Strategy) -> Iterator[None]:
    """
    Make an agent decode with a strategy while the context lasts.

    The generator's other options (block lists, n-gram blocking, length penalty,
    temperature, minimum length) stay in effect. Clones share one ``opt``, so the agent
    gets a separate copy.
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
