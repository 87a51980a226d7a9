"""
The annotated Wizard of Wikipedia responses of the Q2 paper (Honovich et al. 2021).

It has 150 consistent and 150 inconsistent responses of each of two systems, Dodeca and
MemNet, and 544 contexts for which both systems' responses were annotated. After the
teacher's name, a task string may name a system, a class and ``cross_annotation``. It is
an evaluation set: train, valid and test are the same rows.
"""

from parlai.core.opt import Opt

from parlai_q2.evaluate.sets import AnnotatedResponse, narrowed
from parlai_q2.parlai.annotated_task import (
    AnnotatedTaskTeacher,
    AnnotatedView,
    ClassificationView,
    DialogueView,
    warn_of_training,
)
from parlai_q2.parlai.task_strings import task_arguments
from parlai_q2.tasks.q2_wow.reader import CLASSES, CROSS, GROUPS, read_part


class Q2WowTeacher(AnnotatedTaskTeacher):
    """Reads the files; its subclasses show them in their views."""

    classes = CLASSES
    # Words that choose a part; they come before those of the task string.
    words: tuple[str, ...] = ()

    def load_turns(self, opt: Opt) -> list[AnnotatedResponse]:
        warn_of_training(opt)
        words = task_arguments(opt.get('task', ''))
        words = narrowed(type(self).__name__, self.words, words, GROUPS)
        return read_part(opt['datapath'], words)


class DialogueTeacher(DialogueView, Q2WowTeacher):
    """The apprentice's message is shown; the wizard's own reply is the label."""


class DefaultTeacher(DialogueTeacher):
    """The dialogue view."""


class AnnotatedTeacher(AnnotatedView, Q2WowTeacher):
    """The annotated response is the label, and its class is in ``q2_label``."""


class ClassificationTeacher(ClassificationView, Q2WowTeacher):
    """Shows knowledge and response; the label is the response's class."""


class CrossAnnotationTeacher(AnnotatedTeacher):
    words = (CROSS,)
