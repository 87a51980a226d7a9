"""What teachers of annotated sets show beside their records in test_teachers."""

from importlib import import_module

import pytest
from parlai.core.params import ParlaiParser
from parlai.core.teachers import create_task_agent_from_taskname
from parlai.scripts.eval_model import EvalModel
from parlai.scripts.verify_data import VerifyData

from parlai_q2.errors import ConfigError
from tests.tasks.evaluating import messages

TASKS = 'parlai_q2.tasks.'
DNLI = f'{TASKS}dialogue_nli.agents'
# Of sets in which several systems answered one context: the fields of the context
# beside those of every message.
CONTEXT_FIELDS = {
    'begin': {'corpus'},
    'dialogue_nli': set(),
    'rome': {'part', 'conv_index', 'history'},
    'topical_chat_usr': {'context_id', 'history'},
}
ALL_SETS = [*CONTEXT_FIELDS, 'grounded_sample', 'q2_wow', 'twins']
COMMON_FIELDS = {'id', 'text', 'chosen_topic', 'title', 'knowledge'}
COMMON_FIELDS |= {'checked_sentence', 'gold', 'episode_done'}


def context(message):
    return tuple(message[name] for name in ('text', 'title', 'checked_sentence'))


@pytest.mark.parametrize('name', ALL_SETS)
def test_the_classification_view_asks_for_the_class_of_each_response(sets, name):
    task = f'{TASKS}{name}.agents'
    asked = messages(f'{task}:ClassificationTeacher')
    annotated = messages(f'{task}:AnnotatedTeacher')
    classes = import_module(f'{TASKS}{name}.reader').CLASSES
    assert len({m['q2_label'] for m in asked}) > 1
    for question, message in zip(asked, annotated, strict=True):
        assert question == {
            **message,
            'id': f'{task}:ClassificationTeacher',
            'text': f'{message["checked_sentence"]}\n{message["response"]}',
            'eval_labels': [message['q2_label']],
            'label_candidates': [*classes],
        }


@pytest.mark.parametrize('name', ALL_SETS)
def test_the_dialogue_view_has_the_gold_reply_and_the_fields_of_the_context(sets, name):
    task = f'{TASKS}{name}.agents'
    shown, annotated = messages(task), messages(f'{task}:AnnotatedTeacher')
    if name not in CONTEXT_FIELDS:
        assert [m['response'] for m in shown] == [m['response'] for m in annotated]
    else:
        contexts = [context(message) for message in shown]
        assert contexts == [*dict.fromkeys(map(context, annotated))]
    for message in shown:
        same = [m for m in annotated if context(m) == context(message)]
        if name in CONTEXT_FIELDS:
            fields = set(message) - {'eval_labels', 'label_candidates'}
            assert fields == COMMON_FIELDS | CONTEXT_FIELDS[name]
            gold = next((m['gold'] for m in same if m['gold']), '')
            assert message['gold'] == gold
        else:
            (same_turn,) = [m for m in same if m['response'] == message['response']]
            assert set(message) | {'eval_labels', 'label_candidates'} == set(same_turn)
            assert message['gold'] == same_turn['gold']
        labels = [message['gold']] if message['gold'] else None
        assert message.get('eval_labels') == labels


@pytest.mark.parametrize('view', ['DialogueTeacher', 'AnnotatedTeacher'])
@pytest.mark.parametrize('name', ALL_SETS)
def test_a_retrieval_baseline_chooses_among_the_labels_of_this_and_the_next_turns(
    sets, name, view
):
    shown = messages(f'{TASKS}{name}.agents:{view}')
    labels = [*map(label_of, shown)]
    for place, message in enumerate(shown):
        following = dict.fromkeys(filter(None, labels[place:] + labels[:place]))
        expected = sorted([*following][:20]) if labels[place] else None
        assert message.get('label_candidates') == expected


def label_of(message):
    return message.get('eval_labels', [''])[0]


@pytest.mark.parametrize(
    'task, reply, exs, accuracy',
    [
        ('begin.agents:ClassificationTeacher:wow', 'Not fully attributable', 4, 2 / 4),
        ('dialogue_nli.agents:ClassificationTeacher', 'negative', 4, 2 / 4),
    ],
)
def test_the_classification_view_may_ask_in_the_published_words(
    sets, task, reply, exs, accuracy
):
    report = EvalModel.main(
        task=TASKS + task,
        model='fixed_response',
        fixed_response=reply,
        published_labels=True,
        batchsize=2,
    )
    assert report['exs'].value() == exs
    assert report['accuracy'].value() == pytest.approx(accuracy)


@pytest.mark.parametrize(
    'task, problem',
    [
        ('begin.agents:WowTeacher:TC', "'topicalchat' is another corpus"),
        ('rome.agents:ExpertTeacher:dpr', "'dpr' is another part"),
        (
            'grounded_sample.agents:ConsistentTeacher:inconsistent',
            "'inconsistent' is another class",
        ),
    ],
)
def test_a_second_word_of_what_the_teacher_fixes_is_refused(sets, task, problem):
    with pytest.raises(ConfigError, match=problem) as caught:
        messages(TASKS + task)
    assert task.split(':')[1] in str(caught.value)


def test_rows_without_a_human_reply_are_scored_too(sets):
    report = EvalModel.main(
        task=f'{TASKS}q2_wow.agents:DialogueTeacher:inconsistent',
        model='fixed_response',
        fixed_response='salt is a mineral',
        measure='overlap',
    )
    assert report['exs'].value() == 3
    assert report['unverifiable']._denom == 3


def test_q2_is_set_up_for_dialogue_nli_as_in_the_paper(sets):
    opt = ParlaiParser(True, True).parse_kwargs(
        task=f'{DNLI}:GoldTeacher', datatype='valid'
    )
    teacher = create_task_agent_from_taskname(opt)[0]
    clone = type(teacher)(teacher.opt, teacher.share())
    assert clone._q2_queue is teacher._q2_queue
    scorer = teacher._q2_queue.scorer
    assert scorer.threshold == 0.1
    assert scorer.settings['personal_filter'] == 'off'
    assert scorer.settings['neutral_fallback'] == '0'


@pytest.mark.parametrize('task', ['q2_wow', 'begin'])
def test_data_are_verified(sets, task):
    # ParlAI's commands look up how many turns were shown, and count labelled ones only.
    task = f'{TASKS}{task}.agents'
    counts = VerifyData.main(task=task, datatype='train:ordered')
    turn_messages = messages(task, 'train:evalmode')
    assert counts['exs'] == len(turn_messages) > 0
    assert counts['missing_labels'] == sum(
        'eval_labels' not in m for m in turn_messages
    )
    assert counts['missing_text'] == counts['did_not_return_message'] == 0


def test_training_on_a_view_without_labels_names_those_that_have(sets, monkeypatch):
    printed = []
    monkeypatch.setattr('parlai_q2.parlai.annotated_task.warn_once', printed.append)
    task = f'{TASKS}begin.agents'
    for name, datatype in (
        (f'{task}:ClassificationTeacher', 'train:ordered'),
        (DNLI, 'train:ordered'),
        (task, 'valid'),
    ):
        VerifyData.main(task=name, datatype=datatype)
    assert not [line for line in printed if 'label' in line]
    VerifyData.main(task=task, datatype='train:ordered')
    (line,) = [line for line in printed if 'label' in line]
    assert 'AnnotatedTeacher and ClassificationTeacher of the same task have' in line


@pytest.mark.parametrize(
    'files, teacher, task_and_words',
    [
        (
            'sets',
            'q2_wow.agents:CrossAnnotationTeacher',
            'q2_wow.agents:AnnotatedTeacher:cross_annotation',
        ),
        (
            None,
            'grounded_sample.agents:InconsistentTeacher',
            'grounded_sample.agents:AnnotatedTeacher:inconsistent',
        ),
        (
            'conv_fever',
            'conv_fever.agents:NegationTeacher',
            'conv_fever.agents:DefaultTeacher:negation',
        ),
    ],
)
def test_a_named_teacher_shows_what_its_words_select(
    request, files, teacher, task_and_words
):
    if files:
        request.getfixturevalue(files)
    shown, selected = (messages(TASKS + task) for task in (teacher, task_and_words))
    assert shown
    assert [{**m, 'id': ''} for m in shown] == [{**m, 'id': ''} for m in selected]
    everything = messages(TASKS + task_and_words.rpartition(':')[0])
    assert len(shown) != len(everything)
