"""
BEGIN: responses of four systems on three corpora, annotated for attribution (Dziri et
al. 2022). ``valid`` is its dev set and ``test`` its test set; ``train`` is the dev set
too, with a warning. README.md has the words that a task string may have.
"""

from parlai_q2.parlai.annotated_task import (
    AnnotatedSetTeacher,
    AnnotatedView,
    ClassificationView,
    DialogueView,
)
from parlai_q2.tasks.begin import reader


class BeginTeacher(AnnotatedSetTeacher):
    """Reads the files; its subclasses show it in their views."""

    reader = reader
    classes = reader.CLASSES
    folds = {'train': 'dev', 'valid': 'dev', 'test': 'test'}
    context_fields = ('corpus',)
    published_field = 'begin_label'
    published_classes = tuple(reader.LABELS)


class DialogueTeacher(DialogueView, BeginTeacher):
    """Each context once, for a model to reply to; there is no human reply."""


class DefaultTeacher(DialogueTeacher):
    """The dialogue view."""


class AnnotatedTeacher(AnnotatedView, BeginTeacher):
    """The annotated response is the label, and its class is in ``q2_label``."""


class ClassificationTeacher(ClassificationView, BeginTeacher):
    """Shows knowledge and response; the label is the response's class."""


class WowTeacher(AnnotatedTeacher):
    words = ('wow',)


class CmuTeacher(AnnotatedTeacher):
    words = ('cmu',)


class TopicalchatTeacher(AnnotatedTeacher):
    words = ('topicalchat',)
