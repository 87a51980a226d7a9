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
from parlai_q2.tasks.topical_chat_usr.build import build
from parlai_q2.tasks.topical_chat_usr.reader import SYSTEMS, USES, USES_NONE, read_file

# 60 contexts with 6 responses each.
PUBLISHED_RESPONSES = 360


class TopicalChatUsrTeacher(AnnotatedSetTeacher):
    """
    Reads the file; its subclasses show it in their views.
    """

    classes = (USES, USES_NONE)
    context_fields = ('context_id', 'history')

    def read_turns(self, opt: Opt, words: Sequence[str]) -> list[AnnotatedTurn]:
        warn_of_training(opt, 'topical_chat_usr')
        return read_part(opt, words)


class DialogueTeacher(DialogueView, TopicalChatUsrTeacher):
    """
    Each context once; the label is the reply of the person in Topical-Chat.
    """


class DefaultTeacher(DialogueTeacher):
    """
    The dialogue view.
    """


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


def read_part(opt: Opt, words: Sequence[str] = ()) -> list[AnnotatedTurn]:
    """
    Read the chosen turns.

    :param opt: ParlAI options; ``datapath`` is read.
    :param words: systems; all of them if none is named.
    :return: the turns; those of one context follow each other.
    :raises UnknownNameError: for any other word.
    """
    chosen = chosen_words('topical_chat_usr', words, {'system': [*SYSTEMS]})
    turns = read_file(build(opt))
    if len(turns) != PUBLISHED_RESPONSES:
        logging.warning(
            f'tc_usr_data.json has {len(turns)} responses; the paper counts '
            f'{PUBLISHED_RESPONSES}. Is it the published file?'
        )
    return [t for t in turns if t.more['system'] in (chosen['system'] or SYSTEMS)]
