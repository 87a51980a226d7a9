"""
"Rome was built in 1776": responses of GPT-2 models to Wizard of Wikipedia contexts,
annotated for factual correctness (Santhanam et al. 2021). Train, valid and test are the
same rows. README.md has the words that a task string may have.
"""

from parlai_q2.parlai.annotated_task import (
    AnnotatedSetTeacher,
    AnnotatedView,
    ClassificationView,
    DialogueView,
)
from parlai_q2.tasks.rome import reader


class RomeTeacher(AnnotatedSetTeacher):
    """Reads the files; its subclasses show them in their views."""

    reader = reader
    classes = reader.CLASSES
    context_fields = ('part', 'conv_index', 'history')


class DialogueTeacher(DialogueView, RomeTeacher):
    """Each context once, for a model to reply to; there is no human reply."""


class DefaultTeacher(DialogueTeacher):
    """The dialogue view."""


class AnnotatedTeacher(AnnotatedView, RomeTeacher):
    """The annotated response is the label, and its class is in ``q2_label``."""


class ClassificationTeacher(ClassificationView, RomeTeacher):
    """Shows knowledge and response; the label is the response's class."""


class ExpertTeacher(AnnotatedTeacher):
    words = ('expert',)
