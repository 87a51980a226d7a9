"""
The Topical-Chat part of USR: responses of four decoding methods and two people to 60
contexts (Mehri & Eskenazi 2020).

Three annotators rated each response, among other qualities for its use of the
knowledge. The Q2 paper reports how Q2 correlates with those ratings (Honovich et al.
2021, Table 5).

After the teacher's name, a task string may name systems: ``argmax``, ``nucleus_0.3``,
``nucleus_0.5``, ``nucleus_0.7``, ``original`` (the person in Topical-Chat) and
``new_human``. It is an evaluation set: train, valid and test are the same rows.
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
