"""
The annotated Wizard of Wikipedia responses of the Q2 paper (Honovich et al. 2021).

It has 150 consistent and 150 inconsistent responses of each of two systems, and 544
contexts for which both systems' responses were annotated. Train, valid and test are the
same rows. README.md has the words that a task string may have.
"""

from parlai_q2.parlai.annotated_task import make_teachers, narrow
from parlai_q2.tasks.q2_wow import reader

DialogueTeacher, AnnotatedTeacher, ClassificationTeacher = make_teachers(
    reader, __name__
)
DefaultTeacher = DialogueTeacher
CrossAnnotationTeacher = narrow(
    AnnotatedTeacher, 'CrossAnnotationTeacher', reader.CROSS
)
