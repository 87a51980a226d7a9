"""Dialogue NLI: its sets, the views of them, and how Q2 is set up for it."""

import pytest
from parlai.core.params import ParlaiParser
from parlai.core.teachers import create_task_agent_from_taskname
from parlai.scripts.eval_model import EvalModel

from tests.tasks.annotated_sets import DOG
from tests.tasks.evaluating import messages

TASK = 'parlai_q2.tasks.dialogue_nli.agents'
ANNOTATED = f'{TASK}:AnnotatedTeacher'


@pytest.mark.parametrize(
    'part, valid, test',
    [
        ('', 4, 5),
        (':gold', 3, 3),
        (':dev:gold', 7, 7),
        (':consistent', 1, 2),
        (':pp', 1, 1),
        (':uu:pp', 1, 2),
        (':gold:inconsistent', 2, 2),
    ],
)
def test_words_choose_sets_classes_and_kinds(sets, part, valid, test):
    assert len(messages(ANNOTATED + part, 'valid')) == valid
    assert len(messages(ANNOTATED + part, 'test')) == test


def test_neutral_counts_as_inconsistent(sets):
    turn_messages = messages(ANNOTATED, 'test')
    assert [(m['nli_label'], m['q2_label']) for m in turn_messages[:3]] == [
        ('positive', 'consistent'),
        ('negative', 'inconsistent'),
        ('neutral', 'inconsistent'),
    ]


def test_the_dialogue_view_shows_each_persona_once_with_an_agreeing_reply(sets):
    turn_messages = messages(TASK)
    assert [m['checked_sentence'] for m in turn_messages] == [DOG, 'i have no pets .']
    assert turn_messages[0]['eval_labels'] == ['my dog is brown .']
    assert 'eval_labels' not in turn_messages[1]
    assert not {'response', 'q2_label', 'nli_label', 'pair_id'} & set(turn_messages[0])


def test_the_classification_view_may_ask_for_three_labels(sets):
    report = EvalModel.main(
        task=f'{TASK}:ClassificationTeacher',
        model='fixed_response',
        fixed_response='negative',
        published_labels=True,
        datatype='test',
        batchsize=2,
    )
    assert report['accuracy'].value() == pytest.approx(2 / 5)


def scorer_of(**options):
    opt = ParlaiParser(True, True).parse_kwargs(
        task=f'{TASK}:GoldTeacher', datatype='valid', **options
    )
    teacher = create_task_agent_from_taskname(opt)[0]
    clone = type(teacher)(teacher.opt, teacher.share())
    assert clone._q2_queue is teacher._q2_queue
    return teacher._q2_queue.scorer


def test_q2_is_set_up_as_in_the_paper(sets):
    scorer = scorer_of()
    assert scorer.threshold == 0.1
    assert scorer.settings['personal_filter'] == 'off'
    assert scorer.settings['neutral_fallback'] == '0'
