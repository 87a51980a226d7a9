"""
The annotated Wizard of Wikipedia responses of the Q2 paper (Honovich et al. 2021).

It has 150 consistent and 150 inconsistent responses of each of two systems, Dodeca and
MemNet, and 544 contexts for which both systems' responses were annotated. After the
teacher's name, a task string may name a part: a system, a class, both
(``dodeca_inconsistent``), or ``cross_annotation``. It is an evaluation set: train,
valid and test are the same rows.
"""

import os
from typing import Sequence

from parlai.core.opt import Opt

from parlai_q2.annotated_turn import AnnotatedTurn
from parlai_q2.parlai.annotated_task import (
    AnnotatedTaskTeacher,
    AnnotatedView,
    ClassificationView,
    DialogueView,
    warn_of_training,
)
from parlai_q2.parlai.task_strings import chosen_words, narrowed, task_arguments
from parlai_q2.records import Label
from parlai_q2.tasks.q2_wow.build import build
from parlai_q2.tasks.q2_wow.reader import SYSTEMS, read_cross_file, read_system_file

CLASSES = (Label.CONSISTENT, Label.INCONSISTENT)
CROSS = 'cross_annotation'
CROSS_FILE = 'cross_annotation.csv'
GROUPS = {'system': SYSTEMS, 'class': CLASSES, 'part': [CROSS]}


class Q2WowTeacher(AnnotatedTaskTeacher):
    """
    Reads the files; its subclasses show them in their views.
    """

    classes = CLASSES
    # Words that choose a part; they come before those of the task string.
    words: tuple[str, ...] = ()

    def load_turns(self, opt: Opt) -> list[AnnotatedTurn]:
        warn_of_training(opt, 'q2_wow')
        words = words_of(task_arguments(opt.get('task', '')))
        return read_part(opt, narrowed(type(self).__name__, self.words, words, GROUPS))


class DialogueTeacher(DialogueView, Q2WowTeacher):
    """
    The apprentice's message is shown; the wizard's own reply is the label.
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
    Shows knowledge and response; the label is the response's class.
    """


class DodecaTeacher(AnnotatedTeacher):
    words = ('dodeca',)


class MemnetTeacher(AnnotatedTeacher):
    words = ('memnet',)


class ConsistentTeacher(AnnotatedTeacher):
    words = ('consistent',)


class InconsistentTeacher(AnnotatedTeacher):
    words = ('inconsistent',)


class DodecaConsistentTeacher(AnnotatedTeacher):
    words = ('dodeca', 'consistent')


class DodecaInconsistentTeacher(AnnotatedTeacher):
    words = ('dodeca', 'inconsistent')


class MemnetConsistentTeacher(AnnotatedTeacher):
    words = ('memnet', 'consistent')


class MemnetInconsistentTeacher(AnnotatedTeacher):
    words = ('memnet', 'inconsistent')


class CrossAnnotationTeacher(AnnotatedTeacher):
    words = (CROSS,)


def read_part(opt: Opt, words: Sequence[str] = ()) -> list[AnnotatedTurn]:
    """
    Read the chosen turns.

    :param opt: ParlAI options; ``datapath`` is read.
    :param words: parts, in any order and case; none for the 600 responses.
    :return: the turns: Dodeca's before MemNet's, consistent before inconsistent.
    :raises UnknownNameError: for a word that does not name a part.
    """
    chosen = chosen_words('q2_wow', words_of(words), GROUPS)
    systems, labels = chosen['system'] or SYSTEMS, chosen['class'] or CLASSES
    if chosen['part']:
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


def words_of(parts: Sequence[str]) -> list[str]:
    """
    Split the names of parts into words.

    :param parts: e.g. ``['cross_annotation', 'dodeca_inconsistent']``.
    :return: e.g. ``['cross_annotation', 'dodeca', 'inconsistent']``.
    """
    part = '_'.join(parts).lower()
    words = [word for word in part.replace(CROSS, '').split('_') if word]
    return [CROSS, *words] if CROSS in part else words
