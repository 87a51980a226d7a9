"""
A small knowledge-grounded dialogue task with annotated responses, included in the
package. ``valid`` and ``test`` are the same turns; ``train`` has conversations of its
own. README.md has the words that a task string may have.
"""

from parlai_q2.parlai.annotated_task import (
    AnnotatedTaskTeacher,
    AnnotatedView,
    ClassificationView,
    DialogueView,
)
from parlai_q2.tasks.grounded_sample import reader


class GroundedSampleTeacher(AnnotatedTaskTeacher):
    """Reads the sample; its subclasses show it in their views."""

    reader = reader
    classes = reader.CLASSES
    folds = {'train': 'train', 'valid': 'eval', 'test': 'eval'}


class DialogueTeacher(DialogueView, GroundedSampleTeacher):
    """The person's message is shown; a faithful reply is the label."""


class DefaultTeacher(DialogueTeacher):
    """The dialogue view."""


class AnnotatedTeacher(AnnotatedView, GroundedSampleTeacher):
    """The annotated response is the label, and its class is in ``q2_label``."""


class ConsistentTeacher(AnnotatedTeacher):
    """Only responses that their knowledge supports."""

    words = ('consistent',)


class InconsistentTeacher(AnnotatedTeacher):
    """Only responses that say something their knowledge does not."""

    words = ('inconsistent',)


class GenericTeacher(AnnotatedTeacher):
    """Only responses with nothing to verify."""

    words = ('generic',)


class ClassificationTeacher(ClassificationView, GroundedSampleTeacher):
    """Shows knowledge and response; the label is the response's class."""
