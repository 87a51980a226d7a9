"""
Parses ParlAI task strings: the name of the task, and the words after the teacher that
select part of its data, e.g. ``wow`` and ``dev`` in ``begin:annotated:wow:dev``. Makes
the short names (``q2:...``) known to ParlAI.
"""

from parlai.core.loader import REGISTERED_REPOS
from parlai.core.opt import Opt

from parlai_q2.cli.names import PREFIX, expand_opt


def register() -> None:
    """Make the short names known to ParlAI in this process, and in option files."""
    if PREFIX in REGISTERED_REPOS:
        return
    REGISTERED_REPOS[PREFIX] = {'repo': 'parlai_q2', 'source': 'pip install parlai_q2'}
    load_init = Opt.load_init.__func__

    def load_written_out(cls: type[Opt], optfile: str) -> Opt:
        return expand_opt(load_init(cls, optfile))

    Opt.load_init = classmethod(load_written_out)


def without_repo(task: str) -> str:
    """``rome:expert`` for ``internal:rome:expert``."""
    task = task.strip()
    for prefix in REGISTERED_REPOS:
        if task.startswith(prefix):
            return task[len(prefix) :]
    return task


def task_arguments(task: str) -> list[str]:
    """Words after task and teacher: ``['dodeca']`` of ``q2_wow:annotated:dodeca``."""
    parts = [p for p in without_repo(task).split(':') if '=' not in p]
    return [p for p in parts[2:] if p]
