"""
Any ParlAI task, under a name that makes plain ``parlai`` import parlai_q2 and thus
register its mutators, which ParlAI would not find otherwise::

    parlai display_data -t parlai_q2.parlai.any_task:TASK --mutators q2_filter
"""

from typing import Any

from parlai.core.loader import load_teacher_module
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.utils.typing import TShared


def own_name(task: str) -> str:
    """A task's name without the prefix of this module."""
    return task.removeprefix(f'{__name__}:')


class AnyTask:
    """Makes the teacher of the task that is named after this module."""

    @classmethod
    def add_cmdline_args(
        cls, parser: ParlaiParser, partial_opt: Opt | None = None
    ) -> ParlaiParser:
        """Add the options of the task's teacher."""
        opt = partial_opt or Opt()
        for task in str(opt.get('task') or '').split(','):
            if task.startswith(f'{__name__}:'):
                teacher = load_teacher_module(own_name(task))
                teacher.add_cmdline_args(parser, Opt({**opt, 'task': own_name(task)}))
        return parser

    def __new__(cls, opt: Opt, shared: TShared | None = None) -> Any:
        name = own_name(opt['task'])
        return load_teacher_module(name)(Opt({**opt, 'task': name}), shared)


def __getattr__(name: str) -> Any:
    # ParlAI asks for the teacher that is named after the module: here, a task. It also
    # asks for a world.
    if name.startswith('_') or name.endswith('World'):
        raise AttributeError(name)
    return AnyTask
