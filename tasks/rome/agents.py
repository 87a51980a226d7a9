"""
"Rome was built in 1776": responses of GPT-2 models to Wizard of Wikipedia contexts,
annotated for factual correctness (Santhanam et al. 2021).

After the teacher's name, a task string may name parts: ``expert`` (one generator,
judged by the authors' annotators); ``gt``, ``knn`` and ``dpr`` (twelve generators with
the true or retrieved knowledge, judged by a crowd); or ``crowd`` for those three. It
may also name model sizes, decodings and classes. It is an evaluation set: train, valid
and test are the same rows.
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
