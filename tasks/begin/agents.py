"""
BEGIN: responses of four systems on three corpora, annotated for attribution (Dziri et
al. 2022). ``valid`` is its dev set and ``test`` its test set; ``train`` is the dev set
too, with a warning. README.md has the words that a task string may have.
"""

from parlai_q2.parlai.annotated_task import make_teachers, narrow
from parlai_q2.tasks.begin import reader

DialogueTeacher, AnnotatedTeacher, ClassificationTeacher = make_teachers(
    reader,
    __name__,
    {'train': 'dev', 'valid': 'dev', 'test': 'test'},
    context_fields=('corpus',),
    published_field='begin_label',
    published_classes=tuple(reader.LABELS),
)
DefaultTeacher = DialogueTeacher
WowTeacher = narrow(AnnotatedTeacher, 'WowTeacher', 'wow')
CmuTeacher = narrow(AnnotatedTeacher, 'CmuTeacher', 'cmu')
TopicalchatTeacher = narrow(AnnotatedTeacher, 'TopicalchatTeacher', 'topicalchat')
