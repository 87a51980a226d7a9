"""
Reads a file of conversations whose turns carry their knowledge, such as ``parlai_q2
filter`` and ``parlai_q2 distill`` write, or of records of one turn each.

ParlAI's own ``jsonfile`` teacher hides a turn's other fields in ``x_turn``. Here they
are the message's own, so that a model trains as it did on the task they came from.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import parlai.utils.logging as logging
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.tasks.jsonfile.agents import JsonTeacher

from parlai_q2.cli.parser import add_fields_option
from parlai_q2.errors import InputError, RecordError
from parlai_q2.io.fields import read_fields
from parlai_q2.io.read import read_conversations
from parlai_q2.io.world_logs import (
    COMMAND,
    COMMANDS_SKIPPED,
    logged_message,
    read_text,
    without_commands,
)
from parlai_q2.parlai.q2_teacher import Q2TeacherMixin

# The text that the first speaker answers.
SILENCE = '__SILENCE__'
# The file's two turns, which ParlAI puts into the message as they are.
TURNS = frozenset({'x_turn', 'y_turn'})
# Fields that each message has already, or that ParlAI sets. In a world log, eval_labels
# are a person's replies; the labels here are the model's replies.
MESSAGE_FIELDS = TURNS | {'text', 'labels', 'eval_labels', 'episode_done', 'id'}


class GroundedFileTeacher(JsonTeacher):
    """
    ``jsonfile`` with the fields of the first speaker's turns, including all labels of a
    turn; ``--jsonfile-datapath`` names the file.
    """

    @classmethod
    def add_cmdline_args(
        cls, parser: ParlaiParser, partial_opt: Opt | None = None
    ) -> ParlaiParser:
        """Add ``--fields``, for files of records."""
        super().add_cmdline_args(parser, partial_opt)
        add_fields_option(parser.add_argument_group('Grounded file'))
        return parser

    def setup_data(self, path: str) -> Iterator[tuple[dict[str, Any], bool]]:
        """
        Read the turns; bad lines are named and left out.

        :raises InputError: if there is no turn.
        """
        turn, bad = None, 0
        self._commands = 0
        names = read_fields(self.opt.get('fields'))
        for messages in read_conversations(Path(path), names):
            if isinstance(messages, RecordError):
                bad += 1
                logging.error(f'Left out: {messages}')
                continue
            # The context is no speaker's turn.
            dialogue = [m for m in messages if m.get('id') != 'context']
            for examples in self._episodes(dialogue):
                for n, turn in enumerate(examples):
                    turn.pop('episode_done', None)
                    yield turn, n == 0
        if self._commands:
            logging.warning(COMMANDS_SKIPPED.format(self._commands))
        if turn is None:
            if bad:
                raise InputError(
                    f'{path} has no turns: {bad} lines were left out, see above.'
                )
            raise InputError(
                f'{path} has no turns. If filter or distill wrote it, they kept none: '
                'look at the summary beside it, and lower the threshold.'
            )

    def _episodes(
        self, messages: Sequence[dict[str, Any]]
    ) -> Iterator[list[dict[str, Any]]]:
        """Yield a conversation's examples, for each speaker whose turns are labels."""
        if self.label_turns in ('firstspeaker', 'both'):
            yield self._get_ep_from_turns(
                [{'text': SILENCE}, *messages[1::2]], messages[::2]
            )
        if self.label_turns in ('secondspeaker', 'both'):
            yield self._get_ep_from_turns(messages[::2], messages[1::2])

    def _get_ep_from_turns(
        self, xturns: Sequence[dict[str, Any]], yturns: Sequence[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        # If both speakers' turns are labels, each conversation is seen twice.
        replies = xturns if self.label_turns == 'firstspeaker' else yturns
        self._commands += sum(COMMAND in reply for reply in replies)
        pairs = zip_longest(xturns, yturns)
        messages = without_commands(
            [m for m in chain.from_iterable(pairs) if m is not None]
        )
        xturns, yturns = messages[::2], messages[1::2]
        turns: list[dict[str, Any]] = super()._get_ep_from_turns(xturns, yturns)
        for turn, message, reply in zip(turns, xturns, yturns):
            turn['text'], turn['labels'] = read_text(message), [read_text(reply)]
            turn.update({k: v for k, v in message.items() if k not in MESSAGE_FIELDS})
            # A file that was filtered before also has the fields of its first reading.
            turn['x_turn'] = {k: v for k, v in message.items() if k not in TURNS}
            turn.update(logged_message(turn, reply))
            labels = message.get('labels')
            if isinstance(labels, list) and turn['labels'][0] in labels:
                turn['labels'] = labels
            # In a world log, these belong to the person's reply, or are missing.
            if turn['labels'][0] not in (turn.get('label_candidates') or ()):
                turn.pop('label_candidates', None)
        return turns


class DefaultTeacher(Q2TeacherMixin, GroundedFileTeacher):
    """The conversations, with every response scored."""
