"""``q2_filter``: what is not grounded is not trained on, and all else is as it was."""

import pytest
from parlai.core.teachers import register_teacher

from parlai_q2.errors import ConfigError
from parlai_q2.parlai.mutators import MAX_EMPTY
from tests.mutators.running import Listed, label, make_teacher, messages, scored, texts


def test_turns_that_are_not_grounded_go_and_history_stays():
    mutated = messages('q2_filter')
    assert len(mutated) == 30
    assert not any('lie' in label(m) for m in mutated)
    assert texts(mutated)[:5] == [
        *(f'train 0 {n}' for n in range(3)),
        'train 1 0',
        'train 1 0\nfact 1 0\ntrain 1 1\nlie 1\ntrain 1 2',
    ]
    episode_ends = [m['episode_done'] for m in mutated[:5]]
    assert episode_ends == [False, False, True, True, True]


def test_it_filters_the_training_fold_alone():
    assert len(messages('q2_filter', datatype='valid')) == 9
    assert scored() == []


def test_training_for_epochs_scores_each_turn_once():
    teacher = make_teacher('q2_filter', datatype='train')
    turn_texts = set()
    for _ in range(300):
        message = teacher.act()
        turn_texts.add(message['text'])
        assert 'lie' not in label(message)
    assert len(scored()) == len(set(scored())) == 36
    assert turn_texts == set(texts(messages('q2_filter')))


def test_several_labels_are_judged_one_by_one():
    mutated = messages('q2_filter', task='many_labels')
    assert [m['eval_labels'] for m in mutated] == [['a b', 'b'], ['c']]


def test_whole_episodes_and_another_threshold():
    assert len(messages('q2_filter', q2_filter_drop='episodes')) == 18
    # Of 'lie n' the knowledge has n.
    assert len(messages('q2_filter', choose_threshold=0.4)) == 36


def test_knowledge_in_the_text_of_an_earlier_turn_is_not_taken_for_its_own():
    mutated = messages('q2_filter', task='in_text')
    assert texts(mutated) == [
        '__knowledge__ b __endknowledge__ one',
        mutated[1]['text'],
    ]
    assert mutated[1]['text'].startswith('__knowledge__ b')
    assert mutated[1]['knowledge'] == 'c'


def test_where_nothing_stays_it_says_so():
    with pytest.raises(ConfigError, match=f'every turn of {MAX_EMPTY} episodes'):
        messages('q2_filter', task='all_lies', datatype='train')


@pytest.mark.parametrize('datatype', ['train:ordered', 'train:ordered:stream'])
def test_a_long_run_of_lies_is_passed_over(datatype):
    teacher = make_teacher('q2_filter', task='lies_first', datatype=datatype)
    assert teacher.act()['text'] == 'true'


@register_teacher('many_labels')
class ManyLabels(Listed):
    turns = [
        ({'text': '1', 'labels': ['x', 'a b', 'b'], 'knowledge': 'a b'}, True),
        ({'text': '2', 'labels': ['c', 'y'], 'knowledge': 'c'}, True),
        ({'text': '3', 'labels': ['x', 'y'], 'knowledge': 'c'}, True),
    ]


@register_teacher('in_text')
class InText(Listed):
    turns = [
        ({'text': '__knowledge__ b __endknowledge__ one', 'labels': ['b']}, True),
        ({'text': '__knowledge__ x __endknowledge__ two', 'labels': ['y']}, False),
        ({'text': '__knowledge__ c __endknowledge__ three', 'labels': ['c']}, False),
    ]


def _lie(n):
    return {'text': f'lie {n}', 'labels': ['x'], 'knowledge': 'a'}, True


@register_teacher('all_lies')
class AllLies(Listed):
    turns = [_lie(n) for n in range(20)]


@register_teacher('lies_first')
class LiesFirst(Listed):
    turns = [
        *(_lie(n) for n in range(MAX_EMPTY - 1)),
        ({'text': 'true', 'labels': ['a'], 'knowledge': 'a'}, True),
    ]
