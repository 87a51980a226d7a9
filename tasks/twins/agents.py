"""
Twins: under each knowledge a wrong response and a right one in other words. They ship
with the package. They are for measuring: ``train`` and ``valid`` show the fold ``dev``,
``test`` the other one. README.md has the words that a task string may have.
"""

from parlai_q2.parlai.annotated_task import (
    AnnotatedTaskTeacher,
    AnnotatedView,
    ClassificationView,
    DialogueView,
)
from parlai_q2.tasks.twins import reader


class TwinsTeacher(AnnotatedTaskTeacher):
    """Reads the twins; its subclasses show them in their views."""

    reader = reader
    classes = reader.CLASSES
    folds = {'train': 'dev', 'valid': 'dev', 'test': 'test'}


class DialogueTeacher(DialogueView, TwinsTeacher):
    """Knowledge and, where there is one, the question; the label is the right reply."""


class DefaultTeacher(DialogueTeacher):
    """The dialogue view."""


class AnnotatedTeacher(AnnotatedView, TwinsTeacher):
    """The response is the label, and its class is in ``q2_label``."""


class ClassificationTeacher(ClassificationView, TwinsTeacher):
    """Shows knowledge and response; the label is the response's class."""
