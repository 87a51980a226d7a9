"""
Wizard of Wikipedia scored with Q2, on top of ParlAI's own knowledge teachers.

ParlAI downloads the data when a teacher is first made. As in ParlAI, the split is the
last part of the task string, e.g.
``parlai_q2.tasks.wizard_of_wikipedia.agents:WizardDialogKnowledgeTeacher:topic_split``.
"""

import copy

from parlai.core.opt import Opt
from parlai.tasks.wizard_of_wikipedia import agents as wow
from parlai.utils.typing import TShared

from parlai_q2.parlai.q2_teacher import Q2TeacherMixin
from parlai_q2.parlai.task_strings import without_repo
from parlai_q2.tasks.wizard_of_wikipedia.build import build


class WowQ2Mixin(Q2TeacherMixin):
    """Adds Q2, and lets ParlAI's teachers read the task string."""

    def __init__(self, opt: Opt, shared: TShared | None = None):
        # ParlAI's teachers read the split from the third part, so "internal:" must go.
        opt = copy.deepcopy(opt)
        opt['task'] = without_repo(opt['task'])
        if not shared:
            build(opt)
        super().__init__(opt, shared)

    def getID(self) -> str:  # noqa: N802 (of ParlAI's teachers)
        # ParlAI's teacher for generators has one name for both splits, and the metrics
        # of two teachers with the same name would be mixed up.
        return str(self.id)


class WizardDialogKnowledgeTeacher(WowQ2Mixin, wow.WizardDialogKnowledgeTeacher):
    """The wizard's replies; all knowledge and the checked sentence are shown."""


class GeneratorTeacher(WowQ2Mixin, wow.GeneratorTeacher):
    """The wizard's replies, in the form that ParlAI made for generators."""


class DefaultTeacher(WizardDialogKnowledgeTeacher):
    """The wizard's replies."""
