"""Mutators score the next episodes together with the one that they get."""

import pytest
from parlai.core.teachers import register_teacher

from parlai_q2.filtering.judge import CHUNK
from tests.filtering.toys import WordScorer
from tests.mutators.running import Listed, make_teacher, messages, texts

EPISODES = 3 * CHUNK


@register_teacher('many_episodes')
class ManyEpisodes(Listed):
    """Episodes of one turn, every seventh of them grounded."""

    turns = [
        (
            {
                'text': f'q {n}',
                'labels': [f'a {n}'],
                'knowledge': 'a b' if n % 7 else f'a {n}',
            },
            True,
        )
        for n in range(EPISODES)
    ]


def calls():
    """The numbers of labels in each call of the scorers made since the last teacher."""
    return [len(call) for scorer in WordScorer.made for call in scorer.calls]


@pytest.mark.parametrize('datatype', ['train:evalmode', 'train:evalmode:stream'])
@pytest.mark.parametrize('mutators', ['q2_filter', 'q2_annotate+q2_filter'])
def test_each_label_is_scored_once_in_full_calls(datatype, mutators):
    mutated = messages(mutators, task='many_episodes', datatype=datatype, cache=False)
    assert texts(mutated) == [f'q {n}' for n in range(0, EPISODES, 7)]
    assert calls() == [CHUNK] * 3 * len(mutators.split('+'))


@pytest.mark.parametrize('datatype', ['train:evalmode', 'train:ordered:stream'])
def test_clones_of_a_teacher_take_turns_as_without_looking(datatype):
    """As in a batch: nothing is taken from another clone."""
    options = {'task': 'many_episodes', 'datatype': datatype, 'cache': False}
    first = make_teacher('q2_annotate', **options)
    clones = [first, *(first.clone() for _ in range(3))]
    turn_texts = [clone.act()['text'] for _ in range(20) for clone in clones]
    del options['cache']
    plain = make_teacher(None, **options)
    clones = [plain, *(plain.clone() for _ in range(3))]
    assert turn_texts == [clone.act()['text'] for _ in range(20) for clone in clones]


def test_in_random_order_without_a_cache_nothing_is_scored_in_vain():
    teacher = make_teacher(
        'q2_annotate', task='many_episodes', datatype='train', cache=False
    )
    for _ in range(20):
        teacher.act()
    assert set(calls()) == {1}
