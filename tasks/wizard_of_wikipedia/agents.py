"""
Wizard of Wikipedia with Q2: ParlAI's own knowledge teachers, and one line each.

The data are ParlAI's, downloaded by ParlAI when a teacher is first made. The split is
the last part of the task string as in ParlAI, e.g.
``parlai_q2.tasks.wizard_of_wikipedia.agents:WizardDialogKnowledgeTeacher:topic_split``.
"""

import copy
from typing import Optional

from parlai.core.opt import Opt
from parlai.tasks.wizard_of_wikipedia import agents as wow

from parlai_q2.parlai_support.q2_teacher import Q2TeacherMixin
from parlai_q2.parlai_support.task_strings import without_repo
from parlai_q2.tasks.wizard_of_wikipedia.build import build


class WowQ2Mixin(Q2TeacherMixin):
    """
    Q2, and a task string as ParlAI's teachers read it.
    """

    def __init__(self, opt: Opt, shared: Optional[dict] = None):
        # They take the split for the third part, so "internal:" must not be the first.
        opt = copy.deepcopy(opt)
        opt['task'] = without_repo(opt['task'])
        if not shared:
            build(opt)
        super().__init__(opt, shared)

    def getID(self) -> str:
        # ParlAI's teacher for generators has one name for both splits, and the metrics
        # of two teachers of one name are mixed up.
        return self.id


class WizardDialogKnowledgeTeacher(WowQ2Mixin, wow.WizardDialogKnowledgeTeacher):
    """
    The wizard's replies, with all knowledge shown and the sentence checked.
    """


class GeneratorTeacher(WowQ2Mixin, wow.GeneratorTeacher):
    """
    The same, made for generators.
    """


class DefaultTeacher(WizardDialogKnowledgeTeacher):
    """
    The wizard's replies.
    """
