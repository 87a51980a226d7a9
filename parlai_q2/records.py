"""Names that moved to :mod:`parlai_q2.turns` and :mod:`parlai_q2.claims`."""

from parlai_q2.claims import *  # noqa: F403
from parlai_q2.turns import *  # noqa: F403
