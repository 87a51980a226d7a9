"""
Dialogue NLI: does what a speaker says agree with the speaker's persona, or with what
the speaker said before? (Welleck et al. 2019)

``train``, ``valid`` and ``test`` are the published train, dev and test sets. After the
teacher's name a task string may hold ``gold``, for the test set as three annotators
verified it, a fold in place of the datatype's, classes, and kinds of pairs (``up``:
utterance and persona, ``uu``, ``pp``).

The Q2 scorers are set up as the Q2 paper does for this set: see
:mod:`parlai_q2.scorers.persona`.
"""

import copy
from typing import Optional, Sequence

import parlai.utils.logging as logging
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.utils.data import DatatypeHelper

from parlai_q2.annotated_turn import AnnotatedTurn
from parlai_q2.parlai_support.annotated_set import AnnotatedSetTeacher
from parlai_q2.parlai_support.annotated_task import (
    AnnotatedView,
    ClassificationView,
    DialogueView,
)
from parlai_q2.parlai_support.q2_teacher import Q2TeacherMixin
from parlai_q2.parlai_support.task_strings import chosen_words
from parlai_q2.records import Label
from parlai_q2.scorers.persona import scorer_options
from parlai_q2.tasks.dialogue_nli.build import build
from parlai_q2.tasks.dialogue_nli.reader import (
    KINDS,
    LABELS,
    SENTENCES,
    kind_of,
    read_file,
)

CLASSES = (Label.CONSISTENT, Label.INCONSISTENT)
# The sets with their files, and how many pairs each has (Welleck et al. 2019).
FILES = {
    'train': ('dialogue_nli_train.jsonl', 310_110),
    'dev': ('dialogue_nli_dev.jsonl', 16_500),
    'test': ('dialogue_nli_test.jsonl', 16_500),
    'gold': ('dialogue_nli_verified_test.jsonl', 12_376),
}
FOLDS = {'train': 'train', 'valid': 'dev', 'test': 'test'}
GROUPS = {'set': [*FILES], 'class': CLASSES, 'kind': KINDS}


class DialogueNliTeacher(AnnotatedSetTeacher):
    """
    Reads the files; its subclasses show them in their views.
    """

    classes = CLASSES
    groups = GROUPS
    published_field = 'nli_label'
    published_classes = tuple(LABELS)

    @classmethod
    def add_cmdline_args(
        cls, parser: ParlaiParser, partial_opt: Optional[Opt] = None
    ) -> ParlaiParser:
        """
        Add ``--dnli-knowledge``.
        """
        super().add_cmdline_args(parser, partial_opt)
        parser.add_argument_group('Dialogue NLI').add_argument(
            '--dnli-knowledge',
            choices=SENTENCES,
            default='sentence2',
            help='the sentence to stay with, the other one being the response; where a '
            'pair has a persona sentence, it is the second one',
        )
        return parser

    def read_turns(self, opt: Opt, words: Sequence[str]) -> list[AnnotatedTurn]:
        fold = FOLDS[DatatypeHelper.fold(opt['datatype'])]
        return read_part(opt, words, fold, opt.get('dnli_knowledge', 'sentence2'))


class DialogueNliQ2Mixin(Q2TeacherMixin):
    """
    Q2 with the settings of the paper for this set.
    """

    def __init__(self, opt: Opt, shared: Optional[dict] = None):
        opt = copy.deepcopy(opt)
        opt.update(scorer_options(opt))
        super().__init__(opt, shared)


class DialogueTeacher(DialogueNliQ2Mixin, DialogueView, DialogueNliTeacher):
    """
    Each persona sentence or earlier utterance once, for a model to stay with; the label
    is a response that agrees, where there is one.
    """


class DefaultTeacher(DialogueTeacher):
    """
    The dialogue view.
    """


class AnnotatedTeacher(DialogueNliQ2Mixin, AnnotatedView, DialogueNliTeacher):
    """
    The response of the pair is the label, and its class is in ``q2_label``.
    """


class ClassificationTeacher(ClassificationView, DialogueNliTeacher):
    """
    Both sentences in, the pair's class out.
    """


class GoldTeacher(AnnotatedTeacher):
    words = ('gold',)


def read_part(
    opt: Opt,
    words: Sequence[str] = (),
    fold: str = 'dev',
    knowledge: str = 'sentence2',
) -> list[AnnotatedTurn]:
    """
    The pairs that words choose.

    :param opt: ParlAI options; ``datapath`` is read.
    :param words: sets, classes and kinds of pairs; all of what none is named of.
    :param fold: the set to read when no word names one.
    :param knowledge: the sentence to stay with.
    :return: their turns, one set after the other.
    :raises UnknownNameError: for another word.
    """
    chosen = chosen_words('dialogue_nli', words, GROUPS)
    turns = []
    for name in chosen['set'] or [fold]:
        file, published = FILES[name]
        found = read_file(build(opt, file), knowledge)
        if len(found) != published:
            logging.warning(
                f'{file} has {len(found):,} pairs; the paper counts {published:,}. Is '
                'it the published file?'
            )
        turns += found
    return [
        turn
        for turn in turns
        if turn.label in (chosen['class'] or CLASSES)
        and (not chosen['kind'] or kind_of(turn.more['dtype']) in chosen['kind'])
    ]
