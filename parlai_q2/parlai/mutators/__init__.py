"""
ParlAI mutators that score a task's labels against their knowledge:

    q2_filter          removes the turns whose labels are not grounded
    q2_annotate        adds each label's score to its message
    q2_control_tokens  puts tokens before the text that say how faithful the label is

Importing this package registers the names with ParlAI. All of parlai_q2's agents, tasks
and commands import it; plain ``parlai`` knows the names once it has loaded a task of
parlai_q2.
"""

from parlai_q2.parlai.mutators.annotate import AnnotateMutator
from parlai_q2.parlai.mutators.control_tokens import ControlTokensMutator
from parlai_q2.parlai.mutators.filter import FilterMutator

__all__ = ['AnnotateMutator', 'ControlTokensMutator', 'FilterMutator']
