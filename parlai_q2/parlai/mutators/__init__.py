"""
ParlAI mutators that score a task's labels against their knowledge. Importing this
package, as all of parlai_q2's agents, tasks and commands do, registers their names with
ParlAI.
"""

from parlai_q2.parlai.mutators.annotate import AnnotateMutator
from parlai_q2.parlai.mutators.control_tokens import ControlTokensMutator
from parlai_q2.parlai.mutators.filter import FilterMutator

__all__ = ['AnnotateMutator', 'ControlTokensMutator', 'FilterMutator']
