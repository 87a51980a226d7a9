"""Makes the short names (``q2:...``) known to ParlAI."""

from parlai.core.loader import REGISTERED_REPOS
from parlai.core.opt import Opt

from parlai_q2.cli.short_names import PREFIX, expand_opt


def register() -> None:
    """
    Make the short names known to ParlAI in this process, including option files
    (``-o``).
    """
    if PREFIX in REGISTERED_REPOS:
        return
    REGISTERED_REPOS[PREFIX] = {'repo': 'parlai_q2', 'source': 'pip install parlai_q2'}
    load_init = Opt.load_init.__func__

    def load_written_out(cls, optfile: str) -> Opt:
        return expand_opt(load_init(cls, optfile))

    Opt.load_init = classmethod(load_written_out)
