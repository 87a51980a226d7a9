"""
"Rome was built in 1776": responses of GPT-2 models to Wizard of Wikipedia contexts,
annotated for factual correctness (Santhanam et al. 2021).

After the teacher's name, a task string may name parts: ``expert`` (one generator,
judged by the authors' annotators); ``gt``, ``knn`` and ``dpr`` (twelve generators with
the true or retrieved knowledge, judged by a crowd); or ``crowd`` for those three. It
may also name model sizes, decodings and classes. It is an evaluation set: train, valid
and test are the same rows.
"""

from typing import Sequence

from parlai.core.opt import Opt

from parlai_q2.evaluate.sets import AnnotatedResponse
from parlai_q2.parlai.annotated_task import (
    AnnotatedSetTeacher,
    AnnotatedView,
    ClassificationView,
    DialogueView,
    warn_of_training,
)
from parlai_q2.tasks.rome.reader import (
    ALIASES,
    CLASSES,
    GROUPS,
    read_part,
)


class RomeTeacher(AnnotatedSetTeacher):
    """Reads the files; its subclasses show them in their views."""

    classes = CLASSES
    groups = GROUPS
    aliases = ALIASES
    context_fields = ('part', 'conv_index', 'history')

    def read_turns(self, opt: Opt, words: Sequence[str]) -> list[AnnotatedResponse]:
        warn_of_training(opt, 'rome')
        return read_part(opt['datapath'], words)


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
