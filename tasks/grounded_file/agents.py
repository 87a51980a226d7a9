"""
A file of conversations with the knowledge of their turns, such as ``parlai_q2 filter``
and ``parlai_q2 distill`` write.

ParlAI's own ``jsonfile`` teacher reads the same file; it hides what a turn brought
besides its text in ``x_turn``. Here those fields are the message's own, so a model that
reads ``knowledge`` or ``checked_sentence`` trains as it did on the task they came from.
"""

from itertools import zip_longest
from typing import Any, Iterator, Sequence

import parlai.utils.logging as logging
from parlai.tasks.jsonfile.agents import JsonTeacher

from parlai_q2.errors import InputError
from parlai_q2.files.world_logs import (
    COMMAND,
    LEFT_OUT,
    logged_message,
    text_of,
    without_commands,
)
from parlai_q2.parlai_support.q2_teacher import Q2TeacherMixin

# The two turns of the file, as ParlAI gives them beside the message.
TURNS = frozenset({'x_turn', 'y_turn'})
# What a message has of its own, or ParlAI sets. A world log's turns have eval_labels:
# what people said there; its references are what the model said.
OWN = TURNS | {'text', 'labels', 'eval_labels', 'episode_done', 'id'}


class GroundedFileTeacher(JsonTeacher):
    """
    ``jsonfile`` with the fields of the first speaker's turns, all labels of a turn
    among them; ``--jsonfile-datapath`` names the file.
    """

    def setup_data(self, path: str) -> Iterator[tuple[dict[str, Any], bool]]:
        """
        The turns of the file.

        :raises InputError: when it has none: nothing can be trained on it.
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
        # With both speakers' turns as labels each conversation is seen twice.
        replies = xturns if self.label_turns == 'firstspeaker' else yturns
        self._commands += sum(COMMAND in reply for reply in replies)
        pairs = zip_longest(xturns, yturns)
        said = without_commands([m for pair in pairs for m in pair if m is not None])
        xturns, yturns = said[::2], said[1::2]
        turns = super()._get_ep_from_turns(xturns, yturns)
        for turn, asked, reply in zip(turns, xturns, yturns):
            turn['text'], turn['labels'] = text_of(asked), [text_of(reply)]
            turn.update({k: v for k, v in asked.items() if k not in OWN})
            # A file that was filtered before has those of its first reading too.
            turn['x_turn'] = {k: v for k, v in asked.items() if k not in TURNS}
            turn.update(logged_message(turn, reply))
            labels = asked.get('labels')
            if isinstance(labels, list) and turn['labels'][0] in labels:
                turn['labels'] = labels
            # A world log's are those of what people said, or none.
            if turn['labels'][0] not in (turn.get('label_candidates') or ()):
                turn.pop('label_candidates', None)
        return turns


class DefaultTeacher(Q2TeacherMixin, GroundedFileTeacher):
    """
    The conversations, with every response scored.
    """
