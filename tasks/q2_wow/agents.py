"""
The annotated Wizard of Wikipedia responses of the Q2 paper (Honovich et al. 2021).

It has 150 consistent and 150 inconsistent responses of each of two systems, and 544
contexts for which both systems' responses were annotated. Train, valid and test are the
same rows. README.md has the words that a task string may have.
"""

from parlai_q2.parlai.annotated_task import (
    AnnotatedTaskTeacher,
    AnnotatedView,
    ClassificationView,
    DialogueView,
)
from parlai_q2.tasks.q2_wow import reader


class Q2WowTeacher(AnnotatedTaskTeacher):
    """Reads the files; its subclasses show it in their views."""

    reader = reader
    classes = reader.CLASSES


class DialogueTeacher(DialogueView, Q2WowTeacher):
    """The apprentice's message is shown; the wizard's own reply is the label."""


class DefaultTeacher(DialogueTeacher):
    """The dialogue view."""


class AnnotatedTeacher(AnnotatedView, Q2WowTeacher):
    """The annotated response is the label, and its class is in ``q2_label``."""


class ClassificationTeacher(ClassificationView, Q2WowTeacher):
    """Shows knowledge and response; the label is the response's class."""


class CrossAnnotationTeacher(AnnotatedTeacher):
    words = (reader.CROSS,)
