"""
Turns of a file that ``score`` or ``rerank`` wrote, each an episode of its own whose
text is its history, so that they are filtered like the turns of a task.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, islice

from parlai_q2.errors import InputError
from parlai_q2.filtering.conversation import DELIMITER
from parlai_q2.filtering.judge import (
    Decision,
    FilterReason,
    JudgedEpisode,
    LabelledTurn,
    Policy,
    decide_episode,
)
from parlai_q2.io.files import Location, records_in
from parlai_q2.json_values import JsonObject
from parlai_q2.output_records import OUR_FIELDS, Judged
from parlai_q2.report.scored_file import read_scored
from parlai_q2.scorers.base import DEFAULT_THRESHOLD
from parlai_q2.signature import Signature
from parlai_q2.turns import as_field

# The fields of a record besides its turn.
NO_PART = OUR_FIELDS | {'candidates', 'history', 'response', 'id'}
# The number of records to search for a signature of the scores.
MOST_UNSIGNED = 1000


class ScoredTurns:
    """
    The turns of a file or folder as :func:`read_scored` reads it.

    :param problem: called for each record without a score.
    :raises InputError: if no record has a score.
    """

    def __init__(self, path: Location, problem: Callable[[object], None]):
        self._problem = problem
        # The number of records; None without a summary that has it.
        self.total = records_in(path)
        records = self._good(path)
        # Records before the first score, such as small talk, have no signature.
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
        # The scorer's threshold, which decided on the labels of the file.
        threshold = signature.settings.get('threshold')
        self.threshold = DEFAULT_THRESHOLD if threshold is None else float(threshold)

    def _good(self, path: Location) -> Iterator[tuple[JsonObject, Judged]]:
        """Yield the fields of each record that has a score, with the parsed record."""
        for record, _ in read_scored(path):
            if record.error is not None:
                self._problem(record.error)
            else:
                yield record.fields, record.parsed

    def judged(self, policy: Policy) -> Iterator[JudgedEpisode]:
        """Yield the judged turns; can be called only once."""
        for fields, judged in self._records:
            message, example = build_message(fields, judged), judged.example
            turn = LabelledTurn(message, example.knowledge, [example])
            episode = decide_episode([turn], iter([judged.score]), policy)
            if judged.abstained:
                # The text that stands for a reply is no label to learn.
                drop = Decision(False, FilterReason.ABSTAINED)
                episode = [replace(turn, decision=drop) for turn in episode]
            yield episode


def build_message(fields: JsonObject, judged: Judged) -> JsonObject:
    """Make a teacher's message of a record, whose label is the response."""
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
