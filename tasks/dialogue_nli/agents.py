"""
Dialogue NLI: does what a speaker says agree with the speaker's persona, or with what
the speaker said before? (Welleck et al. 2019) README.md has the words that a task
string may have. The Q2 scorers are set up as in the Q2 paper for this set: see
:mod:`parlai_q2.scorers.persona`.
"""

import copy
from typing import Optional

from parlai.core.opt import Opt

from parlai_q2.parlai.annotated_task import (
    AnnotatedSetTeacher,
    AnnotatedView,
    ClassificationView,
    DialogueView,
)
from parlai_q2.parlai.q2_teacher import Q2TeacherMixin
from parlai_q2.scorers.persona import scorer_options
from parlai_q2.tasks.dialogue_nli import reader


class DialogueNliTeacher(AnnotatedSetTeacher):
    """Reads the files; its subclasses show them in their views."""

    reader = reader
    classes = reader.CLASSES
    folds = {'train': 'train', 'valid': 'dev', 'test': 'test'}
    published_field = 'nli_label'
    published_classes = tuple(reader.LABELS)


class DialogueNliQ2Mixin(Q2TeacherMixin):
    """Q2 with the paper's settings for this set."""

    def __init__(self, opt: Opt, shared: Optional[dict] = None):
        opt = copy.deepcopy(opt)
        opt.update(scorer_options(opt))
        super().__init__(opt, shared)


class DialogueTeacher(DialogueNliQ2Mixin, DialogueView, DialogueNliTeacher):
    """
    Each persona sentence or earlier utterance once, as knowledge for a model's reply;
    the label is a response that agrees with it, where there is one.
    """


class DefaultTeacher(DialogueTeacher):
    """The dialogue view."""


class AnnotatedTeacher(DialogueNliQ2Mixin, AnnotatedView, DialogueNliTeacher):
    """The pair's response is the label, and its class is in ``q2_label``."""


class ClassificationTeacher(ClassificationView, DialogueNliTeacher):
    """Shows both sentences; the label is the pair's class."""


class GoldTeacher(AnnotatedTeacher):
    words = ('gold',)
