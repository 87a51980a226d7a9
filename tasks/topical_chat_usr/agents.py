"""
The Topical-Chat part of USR: responses of four decoding methods and two people to 60
contexts, rated by three annotators (Mehri & Eskenazi 2020), among other qualities for
their use of the knowledge (Honovich et al. 2021, Table 5). Train, valid and test are
the same rows. README.md has the words that a task string may have.
"""

from parlai_q2.parlai.annotated_task import (
    AnnotatedSetTeacher,
    AnnotatedView,
    ClassificationView,
    DialogueView,
)
from parlai_q2.tasks.topical_chat_usr import reader


class TopicalChatUsrTeacher(AnnotatedSetTeacher):
    """Reads the file; its subclasses show it in their views."""

    reader = reader
    classes = reader.CLASSES
    context_fields = ('context_id', 'history')


class DialogueTeacher(DialogueView, TopicalChatUsrTeacher):
    """Each context once; the label is the reply of the person in Topical-Chat."""


class DefaultTeacher(DialogueTeacher):
    """The dialogue view."""


class AnnotatedTeacher(AnnotatedView, TopicalChatUsrTeacher):
    """
    The rated response is the label. ``human_score`` is the mean rating of its use of
    the knowledge, in [0, 1], and ``human_ratings`` has the mean of each quality.
    """


class ClassificationTeacher(ClassificationView, TopicalChatUsrTeacher):
    """
    Shows knowledge and response; the label is whether most annotators say that the
    response uses the knowledge.
    """
