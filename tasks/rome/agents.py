"""
"Rome was built in 1776": responses of GPT-2 models to Wizard of Wikipedia contexts,
annotated for factual correctness (Santhanam et al. 2021).

After the teacher's name, a task string may name parts: ``expert`` (one generator,
judged by the authors' annotators); ``gt``, ``knn`` and ``dpr`` (twelve generators with
the true or retrieved knowledge, judged by a crowd); or ``crowd`` for those three. It
may also name model sizes, decodings and classes. It is an evaluation set: train, valid
and test are the same rows.
"""

import os
from typing import Sequence

import parlai.utils.logging as logging
from parlai.core.opt import Opt

from parlai_q2.annotated_turn import AnnotatedTurn
from parlai_q2.parlai.annotated_set import AnnotatedSetTeacher
from parlai_q2.parlai.annotated_task import (
    AnnotatedView,
    ClassificationView,
    DialogueView,
    warn_of_training,
)
from parlai_q2.parlai.task_strings import chosen_words
from parlai_q2.records import Label
from parlai_q2.tasks.rome.build import build
from parlai_q2.tasks.rome.reader import DECODINGS, MODELS, read_file

CLASSES = (Label.CONSISTENT, Label.INCONSISTENT, Label.GENERIC)
FILES = {
    'expert': 'factual_dataset_expert.csv',
    'gt': 'gt.csv',
    'knn': 'knn.csv',
    'dpr': 'dpr.csv',
}
CROWD_PARTS = ('gt', 'knn', 'dpr')
ALIASES = {'crowd': CROWD_PARTS}
GROUPS = {
    'part': [*FILES],
    'model': [*MODELS.values()],
    'decoding': [*DECODINGS.values()],
    'class': CLASSES,
}


class RomeTeacher(AnnotatedSetTeacher):
    """
    Reads the files; its subclasses show them in their views.
    """

    classes = CLASSES
    groups = GROUPS
    aliases = ALIASES
    context_fields = ('part', 'conv_index', 'history')

    def read_turns(self, opt: Opt, words: Sequence[str]) -> list[AnnotatedTurn]:
        warn_of_training(opt, 'rome')
        return read_part(opt, words)


class DialogueTeacher(DialogueView, RomeTeacher):
    """
    Each context once, for a model to reply to; there is no human reply.
    """


class DefaultTeacher(DialogueTeacher):
    """
    The dialogue view.
    """


class AnnotatedTeacher(AnnotatedView, RomeTeacher):
    """
    The annotated response is the label, and its class is in ``q2_label``.
    """


class ClassificationTeacher(ClassificationView, RomeTeacher):
    """
    Shows knowledge and response; the label is the response's class.
    """


class ExpertTeacher(AnnotatedTeacher):
    words = ('expert',)


class CrowdTeacher(AnnotatedTeacher):
    words = CROWD_PARTS


class GtTeacher(AnnotatedTeacher):
    words = ('gt',)


class KnnTeacher(AnnotatedTeacher):
    words = ('knn',)


class DprTeacher(AnnotatedTeacher):
    words = ('dpr',)


def read_part(opt: Opt, words: Sequence[str] = ()) -> list[AnnotatedTurn]:
    """
    Read the chosen turns.

    :param opt: ParlAI options; ``datapath`` is read.
    :param words: parts, model sizes, decodings and classes; of a kind that no word
        names, all are taken.
    :return: the turns, one file after the other. Verifiable responses that nobody
        judged are left out, with a warning.
    :raises UnknownNameError: for any other word.
    """
    chosen = chosen_words('rome', words, GROUPS, ALIASES)
    parts = chosen['part'] or [*FILES]
    folder = build(opt, [FILES[part] for part in parts])
    turns = [
        turn
        for part in parts
        for turn in read_file(os.path.join(folder, FILES[part]), part)
    ]
    unjudged = sum(not turn.label for turn in turns)
    if unjudged:
        logging.warning(
            f'{unjudged} verifiable responses have no judgement and are left out.'
        )
    return [
        turn
        for turn in turns
        if turn.label in (chosen['class'] or CLASSES)
        and turn.more['model'] in (chosen['model'] or MODELS.values())
        and turn.more['decoding'] in (chosen['decoding'] or DECODINGS.values())
    ]
