"""
Turns of a file that is scored already, each an episode of its own whose text is its
history: what ``score`` and ``rerank`` wrote becomes what a task's turns become.
"""

from collections.abc import Callable, Iterator
from itertools import chain, islice

from parlai_q2.errors import InputError
from parlai_q2.filtering.conversation import DELIMITER
from parlai_q2.filtering.judge import JudgedEpisode, LabelledTurn, Policy, judge_episode
from parlai_q2.io.files import Location, records_in
from parlai_q2.io.knowledge import as_field
from parlai_q2.json_values import JsonObject
from parlai_q2.output_records import OUR_FIELDS, Judged
from parlai_q2.report.scored_file import read_scored
from parlai_q2.scorers.base import DEFAULT_THRESHOLD
from parlai_q2.signature import Signature

# What a record has besides its turn.
NO_PART = OUR_FIELDS | {'candidates', 'history', 'response', 'id'}
# How many records are read in search of one that says how the scores were made.
MOST_UNSIGNED = 1000


class ScoredTurns:
    """
    The turns of a file or folder as :func:`read_scored` reads it.

    :param problem: is told of each record that has no score.
    :raises InputError: if no record has a score.
    """

    def __init__(self, path: Location, problem: Callable[[object], None]):
        self._problem = problem
        # How many records there are; None if no summary says so.
        self.total = records_in(path)
        records = self._good(path)
        # What comes before the first score, such as small talk, has no signature.
        first: list[tuple[JsonObject, Judged]] = []
        for record in islice(records, MOST_UNSIGNED):
            first.append(record)
            if record[-1].score.signature:
                break
        if not first:
            raise InputError(
                f'No record in {path} has a score; see the errors above. Score the '
                'file first: parlai_q2 score'
            )
        self._records = chain(first, records)
        self.signature = first[-1][-1].score.signature
        signature = Signature.from_text(self.signature)
        self.scorer = signature.scorer
        # That of the scorer, which decided on the labels of the file.
        threshold = signature.settings.get('threshold')
        self.threshold = DEFAULT_THRESHOLD if threshold is None else float(threshold)

    def _good(self, path: Location) -> Iterator[tuple[JsonObject, Judged]]:
        """The fields of each record that has a score, and what they say."""
        for record, _ in read_scored(path):
            if record.error is not None:
                self._problem(record.error)
            else:
                yield record.fields, record.parsed

    def judged(self, policy: Policy) -> Iterator[JudgedEpisode]:
        """The turns with what becomes of them, once."""
        for fields, judged in self._records:
            message, example = build_message(fields, judged), judged.example
            turn = LabelledTurn(message, example.knowledge, [example])
            yield judge_episode([turn], iter([judged.score]), policy)


def build_message(fields: JsonObject, judged: Judged) -> JsonObject:
    """A record as the message of a teacher, whose label is the response."""
    rest = {name: value for name, value in fields.items() if name not in NO_PART}
    example, label, number = judged.example, judged.annotation, fields.get('id')
    return {
        **rest,
        **({} if number is None else {'turn_id': number}),
        **({'q2_label': label} if label else {}),
        'text': DELIMITER.join(example.history),
        'knowledge': as_field(example.knowledge),
        'labels': [example.response],
        'episode_done': True,
    }
