"""
BEGIN: responses of four systems on three corpora, annotated for attribution (Dziri et
al. 2022), and its earlier release of 2021.

``valid`` is its dev set and ``test`` its test set. It has no training turns, so
``train`` is the dev set too, with a warning. After the teacher's name, a task string
may name corpora (``wow``, ``cmu``, ``topicalchat`` or ``tc``), systems, classes, and a
fold (``dev``, ``test``) that replaces the datatype's.
"""

import os
from typing import Sequence

from parlai.core.opt import Opt
from parlai.utils.data import DatatypeHelper
from parlai.utils.misc import warn_once

from parlai_q2.annotated_turn import AnnotatedTurn
from parlai_q2.parlai.annotated_set import AnnotatedSetTeacher
from parlai_q2.parlai.annotated_task import (
    AnnotatedView,
    ClassificationView,
    DialogueView,
)
from parlai_q2.parlai.task_strings import chosen_words
from parlai_q2.records import Label
from parlai_q2.tasks.begin.build import build
from parlai_q2.tasks.begin.reader import (
    EARLIER_LABELS,
    LABELS,
    read_earlier_file,
    read_file,
)

CLASSES = (Label.CONSISTENT, Label.INCONSISTENT, Label.GENERIC)
FOLDS = ('dev', 'test')
# Corpora by their folder names in the repository, with their names in its files.
CORPORA = {'wow': 'wow', 'cmu': 'cmu', 'topicalchat': 'tc'}
# Corpora by their names in the files, which messages show.
ALIASES = {theirs: (ours,) for ours, theirs in CORPORA.items()}
SYSTEMS = ('gpt2', 't5', 'ctrl', 'doha')
GROUPS = {'corpus': [*CORPORA], 'system': SYSTEMS, 'class': CLASSES, 'fold': FOLDS}
EARLIER_FILES = {'dev': 'dev_05_24_21.tsv', 'test': 'test_05_24_21.tsv'}


class BeginTeacher(AnnotatedSetTeacher):
    """
    Reads the 2022 release; its subclasses show it in their views.
    """

    classes = CLASSES
    groups = GROUPS
    aliases = ALIASES
    context_fields = ('corpus',)
    published_field = 'begin_label'
    published_classes = tuple(LABELS)

    def read_turns(self, opt: Opt, words: Sequence[str]) -> list[AnnotatedTurn]:
        return read_part(opt, words, fold_of(opt, 'begin'))


class EarlierTeacher(BeginTeacher):
    """
    Reads the 2021 release; its subclasses show it in their views.
    """

    labelled = ('V1Teacher', 'V1ClassificationTeacher')
    published_classes = tuple(EARLIER_LABELS)

    def read_turns(self, opt: Opt, words: Sequence[str]) -> list[AnnotatedTurn]:
        return read_earlier_part(opt, words, fold_of(opt, 'begin:v1'))


class DialogueTeacher(DialogueView, BeginTeacher):
    """
    Each context once, for a model to reply to; there is no human reply.
    """


class DefaultTeacher(DialogueTeacher):
    """
    The dialogue view.
    """


class AnnotatedTeacher(AnnotatedView, BeginTeacher):
    """
    The annotated response is the label, and its class is in ``q2_label``.
    """


class ClassificationTeacher(ClassificationView, BeginTeacher):
    """
    Shows knowledge and response; the label is the response's class.
    """


class WowTeacher(AnnotatedTeacher):
    words = ('wow',)


class CmuTeacher(AnnotatedTeacher):
    words = ('cmu',)


class TopicalchatTeacher(AnnotatedTeacher):
    words = ('topicalchat',)


class V1Teacher(AnnotatedView, EarlierTeacher):
    """
    The annotated responses of the earlier release, with five labels.
    """


class V1DialogueTeacher(DialogueView, EarlierTeacher):
    """
    The contexts of the earlier release.
    """


class V1ClassificationTeacher(ClassificationView, EarlierTeacher):
    """
    The earlier release's knowledge and responses; the label is the response's class.
    """


def read_part(
    opt: Opt, words: Sequence[str] = (), fold: str = 'dev'
) -> list[AnnotatedTurn]:
    """
    Read the chosen turns of the 2022 release.

    :param opt: ParlAI options; ``datapath`` is read.
    :param words: corpora, systems, classes and folds; of a kind that no word names, all
        are taken.
    :param fold: the fold to read when no word names one.
    :return: the turns, one corpus after the other.
    :raises UnknownNameError: for any other word.
    """
    chosen = chosen_words('begin', words, GROUPS, ALIASES)
    names = [
        f'begin_{fold}_{CORPORA[corpus]}.tsv'
        for fold in chosen['fold'] or [fold]
        for corpus in chosen['corpus'] or CORPORA
    ]
    folder = build(opt, names)
    return [
        turn
        for name in names
        for turn in read_file(os.path.join(folder, name))
        if turn.label in (chosen['class'] or CLASSES)
        and (not chosen['system'] or turn.more['system'] in chosen['system'])
    ]


def read_earlier_part(
    opt: Opt, words: Sequence[str] = (), fold: str = 'dev'
) -> list[AnnotatedTurn]:
    """
    Read the chosen turns of the 2021 release.

    :param opt: ParlAI options; ``datapath`` is read.
    :param words: folds, our classes, and the five labels.
    :param fold: the fold to read when no word names one.
    :return: the turns.
    :raises UnknownNameError: for any other word.
    """
    chosen = chosen_words(
        'begin:v1',
        words,
        {
            'class': CLASSES,
            # "generic" is one of our classes already.
            'label': [label for label in EARLIER_LABELS if label not in CLASSES],
            'fold': FOLDS,
        },
    )
    names = [EARLIER_FILES[fold] for fold in chosen['fold'] or [fold]]
    folder = build(opt, names)
    turns = [t for n in names for t in read_earlier_file(os.path.join(folder, n))]
    keep = {*chosen['class'], *chosen['label']}
    return [
        turn
        for turn in turns
        if not keep or keep & {turn.label, turn.more['begin_label']}
    ]


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
