"""
The annotated Wizard of Wikipedia responses of the Q2 paper (Honovich et al. 2021).

150 consistent and 150 inconsistent responses of each of two systems, Dodeca and MemNet,
and 544 contexts for which both were annotated. After the teacher's name a task string
may name a part: a system, a class, both (``dodeca_inconsistent``), or
``cross_annotation``. It is an evaluation set: train, valid and test are the same rows.
"""

import os
from typing import Sequence

from parlai.core.opt import Opt

from parlai_q2.annotated_turn import AnnotatedTurn
from parlai_q2.errors import UnknownNameError
from parlai_q2.parlai_support.annotated_task import (
    AnnotatedTaskTeacher,
    AnnotatedView,
    ClassificationView,
    DialogueView,
    warn_of_training,
)
from parlai_q2.parlai_support.task_strings import narrowed, task_arguments
from parlai_q2.records import Label
from parlai_q2.tasks.q2_wow.build import build
from parlai_q2.tasks.q2_wow.reader import SYSTEMS, read_cross_file, read_system_file

CLASSES = (Label.CONSISTENT, Label.INCONSISTENT)
CROSS = 'cross_annotation'
CROSS_FILE = 'cross_annotation.csv'
GROUPS = {'system': SYSTEMS, 'class': CLASSES}


class Q2WowTeacher(AnnotatedTaskTeacher):
    """
    Reads the files; its subclasses show them in their views.
    """

    classes = CLASSES
    # The part to read when the task string names none; empty for the 600 responses.
    part = ''

    def load_turns(self, opt: Opt) -> list[AnnotatedTurn]:
        warn_of_training(opt, 'q2_wow')
        part = '_'.join(task_arguments(opt.get('task', '')))
        fixed, words = words_of(self.part), words_of(part)
        words = narrowed(type(self).__name__, fixed, words, GROUPS)
        return read_part(opt, '_'.join(words))


class DialogueTeacher(DialogueView, Q2WowTeacher):
    """
    The apprentice's message in, the wizard's own reply out.
    """


class DefaultTeacher(DialogueTeacher):
    """
    The dialogue view.
    """


class AnnotatedTeacher(AnnotatedView, Q2WowTeacher):
    """
    The annotated response is the label, and its class is in ``q2_label``.
    """


class ClassificationTeacher(ClassificationView, Q2WowTeacher):
    """
    Knowledge and response in, the response's class out.
    """


class DodecaTeacher(AnnotatedTeacher):
    part = 'dodeca'


class MemnetTeacher(AnnotatedTeacher):
    part = 'memnet'


class ConsistentTeacher(AnnotatedTeacher):
    part = 'consistent'


class InconsistentTeacher(AnnotatedTeacher):
    part = 'inconsistent'


class DodecaConsistentTeacher(AnnotatedTeacher):
    part = 'dodeca_consistent'


class DodecaInconsistentTeacher(AnnotatedTeacher):
    part = 'dodeca_inconsistent'


class MemnetConsistentTeacher(AnnotatedTeacher):
    part = 'memnet_consistent'


class MemnetInconsistentTeacher(AnnotatedTeacher):
    part = 'memnet_inconsistent'


class CrossAnnotationTeacher(AnnotatedTeacher):
    part = CROSS


def read_part(opt: Opt, part: str) -> list[AnnotatedTurn]:
    """
    The turns of one part of the data.

    :param opt: ParlAI options; ``datapath`` is read.
    :param part: words joined by underscores, in any case; empty for the 600 responses.
    :return: its turns: Dodeca's before MemNet's, consistent before inconsistent.
    :raises UnknownNameError: for a word that names no part.
    """
    words = words_of(part)
    for word in words:
        if word not in (*SYSTEMS, *CLASSES, CROSS):
            raise UnknownNameError('part of q2_wow', word, (*SYSTEMS, *CLASSES, CROSS))
    systems = _chosen(SYSTEMS, words)
    labels = _chosen(CLASSES, words)
    if CROSS in words:
        folder = build(opt, [CROSS_FILE])
        turns = read_cross_file(os.path.join(folder, CROSS_FILE))
        return [t for t in turns if t.more['system'] in systems and t.label in labels]
    files = {f'{s}_{c}.csv': (s, c) for s in systems for c in labels}
    folder = build(opt, list(files))
    return [
        turn
        for name, (system, label) in files.items()
        for turn in read_system_file(os.path.join(folder, name), system, label)
    ]


def words_of(part: str) -> list[str]:
    """
    The words that the name of a part is made of.

    :param part: e.g. ``cross_annotation_dodeca``.
    :return: e.g. ``['cross_annotation', 'dodeca']``.
    """
    part = part.lower()
    words = [word for word in part.replace(CROSS, '').split('_') if word]
    return [CROSS, *words] if CROSS in part else words


def _chosen(all_of: Sequence[str], words: Sequence[str]) -> Sequence[str]:
    return [w for w in all_of if w in words] or all_of
