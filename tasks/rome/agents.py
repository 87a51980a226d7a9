"""
"Rome was built in 1776": responses of GPT-2 models to Wizard of Wikipedia contexts,
annotated for factual correctness (Santhanam et al. 2021). Train, valid and test are the
same rows. README.md has the words that a task string may have.
"""

from parlai_q2.parlai.annotated_task import make_teachers, narrow
from parlai_q2.tasks.rome import reader

DialogueTeacher, AnnotatedTeacher, ClassificationTeacher = make_teachers(
    reader, __name__, context_fields=('part', 'conv_index', 'history')
)
DefaultTeacher = DialogueTeacher
ExpertTeacher = narrow(AnnotatedTeacher, 'ExpertTeacher', 'expert')
