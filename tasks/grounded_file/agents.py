"""
Reads a file of conversations whose turns carry their knowledge, such as ``parlai_q2
filter`` and ``parlai_q2 distill`` write.

ParlAI's own ``jsonfile`` teacher reads the same file, but hides a turn's other fields
in ``x_turn``. Here they are the message's own fields. A model that reads ``knowledge``
or ``checked_sentence`` therefore trains as it did on the task they came from.
"""

from itertools import zip_longest
from typing import Any, Iterator, Sequence

import parlai.utils.logging as logging
from parlai.tasks.jsonfile.agents import JsonTeacher

from parlai_q2.errors import InputError
from parlai_q2.io.world_logs import (
    COMMAND,
    LEFT_OUT,
    logged_message,
    text_of,
    without_commands,
)
from parlai_q2.parlai.q2_teacher import Q2TeacherMixin

# The file's two turns, which ParlAI puts into the message as they are.
TURNS = frozenset({'x_turn', 'y_turn'})
# Fields that a message has of its own, or that ParlAI sets. The eval_labels of a world
# log are what people said there; the references here are what the model said.
OWN = TURNS | {'text', 'labels', 'eval_labels', 'episode_done', 'id'}


class GroundedFileTeacher(JsonTeacher):
    """
    ``jsonfile`` with the fields of the first speaker's turns, including all labels of a
    turn; ``--jsonfile-datapath`` names the file.
    """

    def setup_data(self, path: str) -> Iterator[tuple[dict[str, Any], bool]]:
        """
        Read the turns of the file.

        :raises InputError: when it has none, since nothing can be trained on it.
        """
        turn = None
        self._commands = 0
        for turn in super().setup_data(path):
            yield turn
        if self._commands:
            logging.warning(LEFT_OUT.format(self._commands))
        if turn is None:
            raise InputError(
                f'{path} has no turns. If filter or distill wrote it, they kept none: '
                'look at the summary beside it, and lower --threshold.'
            )

    def _get_ep_from_turns(
        self, xturns: Sequence[dict], yturns: Sequence[dict]
    ) -> list[dict[str, Any]]:
        # If both speakers' turns are labels, each conversation is seen twice.
        replies = xturns if self.label_turns == 'firstspeaker' else yturns
        self._commands += sum(COMMAND in reply for reply in replies)
        pairs = zip_longest(xturns, yturns)
        said = without_commands([m for pair in pairs for m in pair if m is not None])
        xturns, yturns = said[::2], said[1::2]
        turns = super()._get_ep_from_turns(xturns, yturns)
        for turn, asked, reply in zip(turns, xturns, yturns):
            turn['text'], turn['labels'] = text_of(asked), [text_of(reply)]
            turn.update({k: v for k, v in asked.items() if k not in OWN})
            # A file that was filtered before also has those of its first reading.
            turn['x_turn'] = {k: v for k, v in asked.items() if k not in TURNS}
            turn.update(logged_message(turn, reply))
            labels = asked.get('labels')
            if isinstance(labels, list) and turn['labels'][0] in labels:
                turn['labels'] = labels
            # In a world log they belong to what people said, or there are none.
            if turn['labels'][0] not in (turn.get('label_candidates') or ()):
                turn.pop('label_candidates', None)
        return turns


class DefaultTeacher(Q2TeacherMixin, GroundedFileTeacher):
    """
    The conversations, with every response scored.
    """
