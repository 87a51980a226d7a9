"""Reads labelled pairs of knowledge and response from your own files."""

from collections.abc import Sequence
from pathlib import Path

from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.utils import logging
from parlai.utils.data import DatatypeHelper
from parlai.utils.typing import TShared

from parlai_q2.errors import ConfigError
from parlai_q2.evaluate.set_reader import View
from parlai_q2.evaluate.sets import AnnotatedResponse
from parlai_q2.parlai.annotated_task import AnnotatedTaskTeacher
from parlai_q2.tasks.pairs.reader import parse_labels, read_pairs

FOLD = '{fold}'


class ClassificationTeacher(AnnotatedTaskTeacher):
    """Shows knowledge and response; the label is the pair's own."""

    view = View.CLASSIFICATION

    @classmethod
    def add_cmdline_args(
        cls, parser: ParlaiParser, partial_opt: Opt | None = None
    ) -> ParlaiParser:
        """Add ``--pairs-file`` and ``--pairs-labels``."""
        super().add_cmdline_args(parser, partial_opt)
        group = parser.add_argument_group('Pairs')
        group.add_argument(
            '--pairs-file',
            type=str,
            default=None,
            help='the file: .jsonl, .csv or .tsv, each record with knowledge, response '
            'and label (or evidence, claim and label); {fold} in its name stands for '
            'train, valid or test',
        )
        group.add_argument(
            '--pairs-labels',
            type=str,
            default=None,
            help='comma-separated label=class pairs, e.g. '
            '"SUPPORTS=consistent,REFUTES=inconsistent,NOT ENOUGH INFO="; an '
            'empty class leaves its pairs out; default: labels as they are',
        )
        return parser

    @property
    def classes(self) -> Sequence[str]:  # type: ignore[override]
        """All classes in ``--pairs-labels``, or else in the file."""
        if self._labels is not None:
            return list(dict.fromkeys(filter(None, self._labels.values())))
        return sorted({turn.label for turn in self.turns})

    def __init__(self, opt: Opt, shared: TShared | None = None):
        # This is set before ParlAI's constructor, which makes messages.
        self._labels = parse_labels(opt.get('pairs_labels'))
        super().__init__(opt, shared)

    def load_turns(self, opt: Opt) -> list[AnnotatedResponse]:
        if not opt.get('pairs_file'):
            raise ConfigError(
                '--pairs-file is missing. Give a file, e.g. --pairs-file '
                'fever/{fold}.jsonl.'
            )
        fold = DatatypeHelper.fold(opt['datatype'])
        path = Path(opt['pairs_file'].replace(FOLD, fold)).expanduser()
        pairs = read_pairs(path, self._labels)
        logging.info(f'{path}: {len(pairs)} pairs')
        return pairs

    def message(self, turn: AnnotatedResponse) -> Message:
        """Show a pair, which has no topic and no gold reply."""
        fields = super().message(turn)
        for name in ('chosen_topic', 'title', 'gold'):
            fields.pop(name)
        fields.force_set('knowledge', turn.knowledge)
        return fields


class DefaultTeacher(ClassificationTeacher):
    """The only view of the task."""
