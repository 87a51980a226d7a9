"""
A small knowledge-grounded dialogue task with annotated responses, included in the
package. ``valid`` and ``test`` are the same turns; ``train`` has conversations of its
own. README.md has the words that a task string may have.
"""

from parlai_q2.parlai.annotated_task import make_teachers, narrow
from parlai_q2.tasks.grounded_sample import reader

DialogueTeacher, AnnotatedTeacher, ClassificationTeacher = make_teachers(
    reader, __name__, {'train': 'train', 'valid': 'eval', 'test': 'eval'}
)
DefaultTeacher = DialogueTeacher
ConsistentTeacher = narrow(AnnotatedTeacher, 'ConsistentTeacher', 'consistent')
InconsistentTeacher = narrow(AnnotatedTeacher, 'InconsistentTeacher', 'inconsistent')
GenericTeacher = narrow(AnnotatedTeacher, 'GenericTeacher', 'generic')
