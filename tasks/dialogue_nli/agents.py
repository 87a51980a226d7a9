"""
Dialogue NLI: does what a speaker says agree with the speaker's persona, or with what
the speaker said before? (Welleck et al. 2019) README.md has the words that a task
string may have. The Q2 scorers are set up as in the Q2 paper for this set: see
:mod:`parlai_q2.scorers.persona`.
"""

import copy

from parlai.core.opt import Opt
from parlai.utils.typing import TShared

from parlai_q2.parlai.annotated_task import make_teachers, narrow
from parlai_q2.parlai.q2_teacher import Q2TeacherMixin
from parlai_q2.scorers.persona import scorer_options
from parlai_q2.tasks.dialogue_nli import reader


class DialogueNliQ2Mixin(Q2TeacherMixin):
    """Q2 with the paper's settings for this set."""

    def __init__(self, opt: Opt, shared: TShared | None = None):
        opt = copy.deepcopy(opt)
        opt.update(scorer_options(opt))
        super().__init__(opt, shared)


DialogueTeacher, AnnotatedTeacher, ClassificationTeacher = make_teachers(
    reader,
    __name__,
    {'train': 'train', 'valid': 'dev', 'test': 'test'},
    DialogueNliQ2Mixin,
    context_fields=(),
    published_field='nli_label',
    published_classes=tuple(reader.LABELS),
)
DefaultTeacher = DialogueTeacher
GoldTeacher = narrow(AnnotatedTeacher, 'GoldTeacher', 'gold')
