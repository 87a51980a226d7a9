"""
Turns of a file that is scored already, each an episode of its own whose text is its
history: what ``score`` and ``rerank`` wrote becomes what a task's turns become.
"""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from parlai_q2.claims import Score
from parlai_q2.errors import InputError, RecordError
from parlai_q2.filtering.conversation import DELIMITER
from parlai_q2.filtering.judge import JudgedEpisode, judge_episode
from parlai_q2.filtering.policy import Policy
from parlai_q2.io.knowledge import as_field
from parlai_q2.io.locations import Location
from parlai_q2.io.manifest import records_in
from parlai_q2.report.scored_file import SCORE_FIELDS, read_scored
from parlai_q2.scorers.base import DEFAULT_THRESHOLD
from parlai_q2.signature import settings_of
from parlai_q2.turns import Example

# What a record has besides its turn.
NO_PART = (*SCORE_FIELDS, 'signature', 'rerank', 'history', 'response', 'id')


class ScoredTurns:
    """
    The turns of a file or a folder of files.

    :param path: what :func:`~parlai_q2.report.scored_file.read_scored` reads.
    :param problem: is told of each record that has no score.
    :raises InputError: if the file cannot be read, or no record has a score.
    """

    def __init__(self, path: Location, problem: Callable[[object], None]):
        self._problem = problem
        # How many records there are; None if no summary says so.
        self.total = records_in(path)
        records = self._good(path)
        first = next(records, None)
        if first is None:
            raise InputError(
                f'No record in {path} has a score; see the errors above. Score the '
                'file first: parlai_q2 score'
            )
        self._records = chain([first], records)
        self.signature = first[-1].signature
        self.scorer = self.signature.partition('|')[0]
        # That of the scorer, which decided on the labels of the file.
        found = settings_of(self.signature).get('threshold')
        self.threshold = DEFAULT_THRESHOLD if found is None else float(found)

    def _good(self, path: Location) -> Iterator[tuple[dict[str, Any], Example, Score]]:
        """The fields, the example and the score of each record that has one."""
        for found in read_scored(path):
            if isinstance(found, RecordError):
                self._problem(found)
                continue
            fields = found.fields
            try:
                score = Score.from_dict(fields)
                example = Example(
                    fields['knowledge'], fields['response'], fields['history']
                )
            except (KeyError, TypeError, ValueError, AttributeError) as e:
                what = f'has no score that can be read ({type(e).__name__}: {e}).'
                self._problem(RecordError(found.source, found.line, what))
                continue
            yield fields, example, score

    def judged(self, policy: Policy) -> Iterator[JudgedEpisode]:
        """The turns with what becomes of them, once."""
        for fields, example, score in self._records:
            message = message_of(fields, example)
            yield judge_episode([message], [[example]], iter([score]), policy)


def message_of(fields: dict[str, Any], example: Example) -> dict[str, Any]:
    """A record as the message of a teacher, whose label is the response."""
    rest = {name: value for name, value in fields.items() if name not in NO_PART}
    number = fields.get('id')
    return {
        **rest,
        **({} if number is None else {'turn_id': number}),
        'text': DELIMITER.join(example.history),
        'knowledge': as_field(example.knowledge),
        'labels': [example.response],
        'episode_done': True,
    }
