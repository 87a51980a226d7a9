"""
BEGIN: responses of four systems on three corpora, annotated for attribution (Dziri et
al. 2022), and its earlier release of 2021.

``valid`` is its dev set and ``test`` its test set. It has no training turns, so
``train`` is the dev set too, with a warning. After the teacher's name, a task string
may name corpora (``wow``, ``cmu``, ``topicalchat`` or ``tc``), systems, classes, and a
fold (``dev``, ``test``) that replaces the datatype's.
"""

from typing import Sequence

from parlai.core.opt import Opt
from parlai.utils.data import DatatypeHelper
from parlai.utils.misc import warn_once

from parlai_q2.evaluate.sets import AnnotatedResponse
from parlai_q2.parlai.annotated_set import AnnotatedSetTeacher
from parlai_q2.parlai.annotated_task import (
    AnnotatedView,
    ClassificationView,
    DialogueView,
)
from parlai_q2.tasks.begin.reader import (
    ALIASES,
    CLASSES,
    EARLIER_LABELS,
    GROUPS,
    LABELS,
    read_earlier_part,
    read_part,
)


class BeginTeacher(AnnotatedSetTeacher):
    """Reads the 2022 release; its subclasses show it in their views."""

    classes = CLASSES
    groups = GROUPS
    aliases = ALIASES
    context_fields = ('corpus',)
    published_field = 'begin_label'
    published_classes = tuple(LABELS)

    def read_turns(self, opt: Opt, words: Sequence[str]) -> list[AnnotatedResponse]:
        return read_part(opt['datapath'], words, fold_of(opt, 'begin'))


class EarlierTeacher(BeginTeacher):
    """Reads the 2021 release; its subclasses show it in their views."""

    labelled = ('V1Teacher', 'V1ClassificationTeacher')
    published_classes = tuple(EARLIER_LABELS)

    def read_turns(self, opt: Opt, words: Sequence[str]) -> list[AnnotatedResponse]:
        fold = fold_of(opt, 'begin:v1')
        return read_earlier_part(opt['datapath'], words, fold)


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


class V1Teacher(AnnotatedView, EarlierTeacher):
    """The annotated responses of the earlier release, with five labels."""


class V1DialogueTeacher(DialogueView, EarlierTeacher):
    """The contexts of the earlier release."""


class V1ClassificationTeacher(ClassificationView, EarlierTeacher):
    """
    The earlier release's knowledge and responses; the label is the response's class.
    """


def fold_of(opt: Opt, task: str) -> str:
    """
    The fold of a datatype: ``test`` for test, ``dev`` for valid and for train.

    :param opt: ParlAI options; ``datatype`` is read.
    :param task: the task's name, for the warning that it has no training turns.
    """
    datatype = opt.get('datatype', 'valid')
    if DatatypeHelper.is_training(datatype):
        warn_once(f'{task} has no training turns: train is its dev set, as valid is.')
    return 'test' if DatatypeHelper.fold(datatype) == 'test' else 'dev'
