"""Dialogue NLI: its sets, the views of them, and how Q2 is set up for it."""

import pytest
from parlai.core.params import ParlaiParser
from parlai.core.teachers import create_task_agent_from_taskname
from parlai.scripts.eval_model import EvalModel

from parlai_q2.presets import load_preset
from parlai_q2.scorers.persona import persona_preset, scorer_options
from parlai_q2.tasks.dialogue_nli.reader import read_part
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


def test_the_verified_test_set_is_a_teacher_of_its_own(sets):
    ids = [m['pair_id'] for m in messages(f'{TASK}:GoldTeacher')]
    assert ids == [f'dialogue_nli_verified_test_{n}' for n in range(3)]


def test_pairs_of_an_unknown_kind_are_left_out_only_where_a_kind_is_asked_for(sets):
    path = sets / 'dialogue_nli' / 'dialogue_nli_dev.jsonl'
    path.write_text(path.read_text().replace('e2swap_pp', 'e2swap_xx'))
    assert len(messages(ANNOTATED)) == 4
    assert len(messages(f'{ANNOTATED}:up:uu:pp')) == 3


def test_neutral_counts_as_inconsistent(sets):
    shown = messages(ANNOTATED, 'test')
    assert [(m['nli_label'], m['q2_label']) for m in shown[:3]] == [
        ('positive', 'consistent'),
        ('negative', 'inconsistent'),
        ('neutral', 'inconsistent'),
    ]


def test_the_persona_is_the_knowledge_and_the_utterance_the_response(sets):
    first = messages(ANNOTATED)[0]
    assert first['checked_sentence'] == DOG
    assert first['text'] == f'your persona: {DOG}'
    assert first['eval_labels'] == ['my dog is brown .']


def test_the_sentences_may_change_places(sets):
    opt = ParlaiParser(True, True).parse_kwargs(
        task=ANNOTATED, datatype='test', scorer='overlap', dnli_knowledge='sentence1'
    )
    shown = list(create_task_agent_from_taskname(opt)[0])
    assert shown[0]['checked_sentence'] == 'my dog is brown .'
    assert shown[0]['eval_labels'] == [DOG]
    # An utterance is no persona, a persona sentence is one on either side.
    assert [m['text'].startswith('your persona: ') for m in shown] == [
        False,
        False,
        False,
        True,
        False,
    ]


def test_the_dialogue_view_shows_each_persona_once_with_an_agreeing_reply(sets):
    shown = messages(TASK)
    assert [m['checked_sentence'] for m in shown] == [DOG, 'i have no pets .']
    assert shown[0]['eval_labels'] == ['my dog is brown .']
    assert 'eval_labels' not in shown[1]
    assert not {'response', 'q2_label', 'nli_label', 'pair_id'} & set(shown[0])


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


def test_a_threshold_that_is_given_stays(sets):
    assert scorer_of(scorer_threshold=0.4).threshold == 0.4


def test_the_models_of_the_preset_stay(sets):
    shipped = load_preset('mini')
    for preset in ('mini', shipped, scorer_options({'scorer': 'q2'})['preset']):
        found = persona_preset(preset)
        assert found.models == shipped.models and found.name == 'mini'
        assert found.q2['max_context_words'] == shipped.q2['max_context_words']
        assert found.q2['personal_filter'] is False


def test_a_set_of_another_size_is_read_with_a_warning(sets, caplog):
    read_part(str(sets), ['gold'])
    assert '3 pairs; the paper counts 12,376' in caplog.text
