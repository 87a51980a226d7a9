"""BEGIN: its parts, and the views of them."""

import pytest
from parlai.scripts.eval_model import EvalModel

from tests.tasks.evaluating import messages

TASK = 'parlai_q2.tasks.begin.agents'
ANNOTATED = f'{TASK}:AnnotatedTeacher'
CLASSIFICATION = f'{TASK}:ClassificationTeacher'


@pytest.mark.parametrize(
    'part, dev, test',
    [
        ('', 7, 3),
        (':wow', 4, 1),
        (':wow:cmu', 6, 2),
        (':topicalchat', 1, 1),
        # As messages and files have it.
        (':tc', 1, 1),
        (':TC:wow', 5, 2),
        (':consistent', 3, 1),
        (':generic:cmu', 1, 1),
        (':t5', 2, 1),
        (':t5:inconsistent', 0, 0),
        (':dev', 7, 7),
        (':test:wow', 1, 1),
        (':dev:test', 10, 10),
    ],
)
def test_words_choose_corpora_systems_classes_and_folds(sets, part, dev, test):
    assert len(messages(ANNOTATED + part, 'valid')) == dev
    assert len(messages(ANNOTATED + part, 'test')) == test


def test_the_classification_view_may_ask_in_the_published_words(sets):
    report = EvalModel.main(
        task=f'{CLASSIFICATION}:wow',
        model='fixed_response',
        fixed_response='Not fully attributable',
        published_labels=True,
        batchsize=2,
    )
    assert report['exs'].value() == 4
    assert report['accuracy'].value() == 0.5
