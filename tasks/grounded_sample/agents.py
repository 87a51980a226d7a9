"""
A small knowledge-grounded dialogue task with annotated responses, included in the
package.

``valid`` and ``test`` are the same evaluation turns; ``train`` has conversations of its
own. After the teacher's name, a task string may hold

- class names, to keep only those turns;
- names of conversations of either fold, to keep only those, in that order;
- ``all``, for both folds.

Examples are ``grounded_sample:annotated:inconsistent`` and
``grounded_sample:dialogue:berlin_wall``.
"""

import json
from pathlib import Path

from parlai.core.opt import Opt
from parlai.utils.data import DatatypeHelper

from parlai_q2.annotated_turn import AnnotatedTurn
from parlai_q2.errors import RecordError, UnknownNameError
from parlai_q2.parlai.annotated_task import (
    AnnotatedTaskTeacher,
    AnnotatedView,
    ClassificationView,
    DialogueView,
)
from parlai_q2.parlai.task_strings import narrowed, task_arguments

SAMPLE = Path(__file__).parent / 'sample.jsonl'
CLASSES = ('consistent', 'inconsistent', 'generic')
ALL_FOLDS = 'all'


class GroundedSampleTeacher(AnnotatedTaskTeacher):
    """
    Reads the sample; its subclasses show it in their views.
    """

    classes = CLASSES
    # The classes that this teacher keeps; empty for all.
    only: tuple[str, ...] = ()

    def load_turns(self, opt: Opt) -> list[AnnotatedTurn]:
        words = task_arguments(opt.get('task', ''))
        words = narrowed(type(self).__name__, self.only, words, {'class': CLASSES})
        turns = read_sample(SAMPLE)
        names = list(dict.fromkeys(turn.episode for turn in turns))
        for word in words:
            if word not in (*CLASSES, ALL_FOLDS, *names):
                raise UnknownNameError(
                    'class or conversation', word, (*CLASSES, ALL_FOLDS, *names)
                )
        training = DatatypeHelper.fold(opt['datatype']) == 'train'
        folds = ['train' if training else 'eval']
        classes = [w for w in words if w in CLASSES] or CLASSES
        chosen = [w for w in words if w in names]
        if chosen or ALL_FOLDS in words:
            folds = ['eval', 'train']
        chosen = chosen or names
        kept = [
            turn
            for turn in turns
            if turn.more['fold'] in folds
            and turn.label in classes
            and turn.episode in chosen
        ]
        return sorted(kept, key=lambda turn: chosen.index(turn.episode))


class DialogueTeacher(DialogueView, GroundedSampleTeacher):
    """
    The person's message is shown; a faithful reply is the label.
    """


class DefaultTeacher(DialogueTeacher):
    """
    The dialogue view.
    """


class AnnotatedTeacher(AnnotatedView, GroundedSampleTeacher):
    """
    The annotated response is the label, and its class is in ``q2_label``.
    """


class ConsistentTeacher(AnnotatedTeacher):
    """
    Only responses that their knowledge supports.
    """

    only = ('consistent',)


class InconsistentTeacher(AnnotatedTeacher):
    """
    Only responses that say something their knowledge does not.
    """

    only = ('inconsistent',)


class GenericTeacher(AnnotatedTeacher):
    """
    Only responses with nothing to verify.
    """

    only = ('generic',)


class ClassificationTeacher(ClassificationView, GroundedSampleTeacher):
    """
    Shows knowledge and response; the label is the response's class.
    """


def read_sample(path: Path) -> list[AnnotatedTurn]:
    """
    Read a file in the format of ``sample.jsonl``.

    :raises RecordError: for a line that is not such a record; it names the line.
    """
    turns = []
    with path.open(encoding='utf-8') as lines:
        for number, line in enumerate(lines, 1):
            try:
                turns.append(_turn(json.loads(line)))
            except (KeyError, TypeError, ValueError) as e:
                raise RecordError(
                    str(path), number, f'not a record of the sample: {e!r}'
                ) from e
    return turns


def _turn(record: dict) -> AnnotatedTurn:
    return AnnotatedTurn(
        text=record['message'],
        topic=record['topic'],
        knowledge=record['knowledge'],
        passage=tuple(record['passage']),
        gold=record['gold'],
        response=record['response'],
        label=record['class'],
        # A record's id is its conversation's name and the turn's number.
        episode=record['id'].rpartition('-')[0],
        more={'kind': record['kind'], 'fold': record['fold'], 'turn_id': record['id']},
    )
