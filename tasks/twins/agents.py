"""
Twins: under each knowledge a wrong response and a right one in other words. They ship
with the package. They are for measuring: ``train`` and ``valid`` show the fold ``dev``,
``test`` the other one. README.md has the words that a task string may have.
"""

from parlai_q2.parlai.annotated_task import make_teachers
from parlai_q2.tasks.twins import reader

DialogueTeacher, AnnotatedTeacher, ClassificationTeacher = make_teachers(
    reader, __name__, {'train': 'dev', 'valid': 'dev', 'test': 'test'}
)
DefaultTeacher = DialogueTeacher
