"""
Every task's teachers show what they showed before: ParlAI's own test of teachers, with
its records in the folder beside this file.
"""

import pytest
from parlai.utils.testing import AutoTeacherTest

# The fixture that places a task's files, and its teachers; DEFAULT is the task alone.
DEFAULT = ''
TEACHERS = {
    'grounded_sample': (
        None,
        [DEFAULT, 'AnnotatedTeacher', 'InconsistentTeacher', 'ClassificationTeacher'],
    ),
    'twins': (None, [DEFAULT, 'AnnotatedTeacher', 'ClassificationTeacher']),
    'q2_wow': (
        'sets',
        [
            DEFAULT,
            'AnnotatedTeacher',
            'ClassificationTeacher',
            'CrossAnnotationTeacher',
        ],
    ),
    'begin': ('sets', [DEFAULT, 'AnnotatedTeacher', 'ClassificationTeacher']),
    'rome': ('sets', [DEFAULT, 'AnnotatedTeacher', 'ClassificationTeacher']),
    'dialogue_nli': ('sets', [DEFAULT, 'AnnotatedTeacher', 'ClassificationTeacher']),
    'topical_chat_usr': (
        'sets',
        [DEFAULT, 'AnnotatedTeacher', 'ClassificationTeacher'],
    ),
    'conv_fever': ('conv_fever', [DEFAULT, 'NegationTeacher', 'EntitySwapTeacher']),
}


# Tasks whose valid and test are the same turns; they share their records.
ONE_FOLD = ('grounded_sample', 'q2_wow', 'rome', 'topical_chat_usr')


class Records:
    """The records of a run, of which one may serve two datatypes."""

    def __init__(self, data_regression):
        self.data_regression = data_regression

    def check(self, output, basename):
        if basename.split('.')[2] in ONE_FOLD:
            basename = basename.replace('_valid', '_test')
        self.data_regression.check(output, basename=basename)


class TestTeachers(AutoTeacherTest):
    def _regression(self, data_regression, datatype):
        super()._regression(Records(data_regression), datatype)

    @pytest.fixture(
        autouse=True,
        params=[
            pytest.param((name, files, teacher), id=f'{name}:{teacher}'.rstrip(':'))
            for name, (files, teachers) in TEACHERS.items()
            for teacher in teachers
        ],
    )
    def placed(self, request):
        name, files, teacher = request.param
        if files:
            request.getfixturevalue(files)
        self.task = f'parlai_q2.tasks.{name}.agents:{teacher}'.rstrip(':')
