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

from parlai.core.opt import Opt
from parlai.utils.data import DatatypeHelper

from parlai_q2.evaluate.sets import AnnotatedResponse, narrowed
from parlai_q2.parlai.annotated_task import (
    AnnotatedTaskTeacher,
    AnnotatedView,
    ClassificationView,
    DialogueView,
)
from parlai_q2.parlai.task_strings import task_arguments
from parlai_q2.tasks.grounded_sample.reader import CLASSES, read_part


class GroundedSampleTeacher(AnnotatedTaskTeacher):
    """Reads the sample; its subclasses show it in their views."""

    classes = CLASSES
    # The classes that this teacher keeps; empty for all.
    only: tuple[str, ...] = ()

    def load_turns(self, opt: Opt) -> list[AnnotatedResponse]:
        words = task_arguments(opt.get('task', ''))
        words = narrowed(type(self).__name__, self.only, words, {'class': CLASSES})
        training = DatatypeHelper.fold(opt['datatype']) == 'train'
        return read_part(words, 'train' if training else 'eval')


class DialogueTeacher(DialogueView, GroundedSampleTeacher):
    """The person's message is shown; a faithful reply is the label."""


class DefaultTeacher(DialogueTeacher):
    """The dialogue view."""


class AnnotatedTeacher(AnnotatedView, GroundedSampleTeacher):
    """The annotated response is the label, and its class is in ``q2_label``."""


class ConsistentTeacher(AnnotatedTeacher):
    """Only responses that their knowledge supports."""

    only = ('consistent',)


class InconsistentTeacher(AnnotatedTeacher):
    """Only responses that say something their knowledge does not."""

    only = ('inconsistent',)


class GenericTeacher(AnnotatedTeacher):
    """Only responses with nothing to verify."""

    only = ('generic',)


class ClassificationTeacher(ClassificationView, GroundedSampleTeacher):
    """Shows knowledge and response; the label is the response's class."""
