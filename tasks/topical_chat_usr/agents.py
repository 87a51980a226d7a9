"""
The Topical-Chat part of USR: responses of four decoding methods and two people to 60
contexts, rated by three annotators (Mehri & Eskenazi 2020), among other qualities for
their use of the knowledge (Honovich et al. 2021, Table 5). Train, valid and test are
the same rows. README.md has the words that a task string may have.
"""

from parlai_q2.parlai.annotated_task import make_teachers
from parlai_q2.tasks.topical_chat_usr import reader

DialogueTeacher, AnnotatedTeacher, ClassificationTeacher = make_teachers(
    reader, __name__, context_fields=('context_id', 'history')
)
DefaultTeacher = DialogueTeacher
