"""
Dialogue NLI: does what a speaker says agree with the speaker's persona, or with what
the speaker said before? (Welleck et al. 2019)

``train``, ``valid`` and ``test`` are the published train, dev and test sets. After the
teacher's name, a task string may hold ``gold`` (the test set as verified by three
annotators), a fold that replaces the datatype's, classes, and kinds of pairs (``up``:
utterance and persona, ``uu``, ``pp``).

The Q2 scorers are set up as in the Q2 paper for this set: see
:mod:`parlai_q2.scorers.persona`.
"""

import copy
from typing import Optional, Sequence

import parlai.utils.logging as logging
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.utils.data import DatatypeHelper

from parlai_q2.annotated_turn import AnnotatedTurn
from parlai_q2.parlai.annotated_set import AnnotatedSetTeacher
from parlai_q2.parlai.annotated_task import (
    AnnotatedView,
    ClassificationView,
    DialogueView,
)
from parlai_q2.parlai.q2_teacher import Q2TeacherMixin
from parlai_q2.parlai.task_strings import chosen_words
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
# Each set's file and its number of pairs (Welleck et al. 2019).
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
            help='which of the two sentences is the knowledge; the other one is the '
            'response. If a pair has a persona sentence, that is the second one',
        )
        return parser

    def read_turns(self, opt: Opt, words: Sequence[str]) -> list[AnnotatedTurn]:
        fold = FOLDS[DatatypeHelper.fold(opt['datatype'])]
        return read_part(opt, words, fold, opt.get('dnli_knowledge', 'sentence2'))


class DialogueNliQ2Mixin(Q2TeacherMixin):
    """
    Q2 with the paper's settings for this set.
    """

    def __init__(self, opt: Opt, shared: Optional[dict] = None):
        opt = copy.deepcopy(opt)
        opt.update(scorer_options(opt))
        super().__init__(opt, shared)


class DialogueTeacher(DialogueNliQ2Mixin, DialogueView, DialogueNliTeacher):
    """
    Each persona sentence or earlier utterance once, as knowledge for a model's reply;
    the label is a response that agrees with it, where there is one.
    """


class DefaultTeacher(DialogueTeacher):
    """
    The dialogue view.
    """


class AnnotatedTeacher(DialogueNliQ2Mixin, AnnotatedView, DialogueNliTeacher):
    """
    The pair's response is the label, and its class is in ``q2_label``.
    """


class ClassificationTeacher(ClassificationView, DialogueNliTeacher):
    """
    Shows both sentences; the label is the pair's class.
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
    Read the chosen pairs.

    :param opt: ParlAI options; ``datapath`` is read.
    :param words: sets, classes and kinds of pairs; of a kind of word that is missing,
        all are taken.
    :param fold: the set to read when no word names one.
    :param knowledge: which sentence is the knowledge.
    :return: the pairs as turns, one set after the other.
    :raises UnknownNameError: for any other word.
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
