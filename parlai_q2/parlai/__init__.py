"""
Code that parlai_q2's agents, tasks and commands share. It is the only part of the core
library that imports parlai.
"""

from parlai_q2.parlai import compat

compat.apply()

# Registers the names for --mutators; it needs the bridges.
from parlai_q2.parlai import mutators  # noqa: E402, F401
