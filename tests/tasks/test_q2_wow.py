"""The annotated csv files: reading them, and the views of them."""

import pytest
from parlai.scripts.eval_model import EvalModel

from parlai_q2.errors import RecordError, UnknownNameError
from parlai_q2.tasks.q2_wow.reader import (
    read_cross_file,
    read_part,
    read_system_file,
)
from tests.tasks.annotated_sets import Q2_WOW
from tests.tasks.evaluating import messages

TASK = 'parlai_q2.tasks.q2_wow.agents'
HEADER, CROSS_HEADER = (
    Q2_WOW[name].decode().splitlines()[0] + '\n'
    for name in ('dodeca_consistent.csv', 'cross_annotation.csv')
)


# What of the files each name selects, as (system, class): rows.
PARTS = {
    '': 7,
    'dodeca': 4,
    'memnet': 3,
    'consistent': 4,
    'inconsistent': 3,
    'dodeca_consistent': 3,
    'dodeca_inconsistent': 1,
    'memnet_consistent': 1,
    'memnet_inconsistent': 2,
    'cross_annotation': 4,
    'cross_annotation_dodeca': 2,
    'cross_annotation_inconsistent': 2,
    'cross_annotation_memnet_consistent': 1,
}


@pytest.mark.parametrize('part, rows', PARTS.items())
def test_a_part_holds_the_rows_that_its_name_says(sets, part, rows):
    turns = read_part(str(sets), [part])
    assert len(turns) == rows
    for turn in turns:
        assert turn.label in part.split('_') or 'consistent' not in part
        assert turn.more['system'] in part or not ('dodeca' in part or 'memnet' in part)


def test_an_unknown_part_is_answered_with_the_nearest_one(sets):
    with pytest.raises(UnknownNameError, match="Did you mean 'dodeca'"):
        messages(f'{TASK}:AnnotatedTeacher:dodecca')


def test_quotes_and_line_breaks_inside_a_field_are_read(sets):
    second, third = messages(f'{TASK}:AnnotatedTeacher:dodeca_consistent')[1:]
    assert second['response'] == 'a man called " ben " .'
    assert third['checked_sentence'] == 'Ferns are old.\nThey have no seeds.'
    assert third['response'] == 'ferns are old , they have no seeds .'


def test_the_dialogue_view_asks_for_the_human_reply(sets):
    first = messages(TASK)[0]
    assert first['text'] == 'So, do they need wind?'
    assert first['eval_labels'] == ['Yes!']
    assert first['title'] == first['chosen_topic'] == 'Kites'
    assert first['checked_sentence'] == 'Kites need wind.'
    assert first['knowledge'] == 'Kites __knowledge__ Kites need wind.'
    assert first['response'] == 'they need some wind .'
    assert first['q2_label'] == 'consistent' and first['system'] == 'dodeca'
    assert first['episode_done'] and 'Yes!' in first['label_candidates']


def test_the_classification_view_asks_for_the_class(sets):
    (message,) = messages(f'{TASK}:ClassificationTeacher:memnet_consistent')
    assert message['text'] == 'Most owls sleep by day.\nowls sleep by day .'
    assert message['eval_labels'] == ['consistent']
    assert message['label_candidates'] == ['consistent', 'inconsistent']


def test_a_cross_label_of_1_means_inconsistent(sets):
    turns = read_part(str(sets), ['cross_annotation'])
    assert [(t.more['system'], t.response, t.label) for t in turns] == [
        ('dodeca', 'they need wind .', 'consistent'),
        ('memnet', 'they need snow .', 'inconsistent'),
        ('dodeca', 'salt is a plant .', 'inconsistent'),
        ('memnet', 'it is a mineral .', 'consistent'),
    ]


def test_rows_without_a_human_reply_are_scored_too(sets):
    report = EvalModel.main(
        task=f'{TASK}:DialogueTeacher:inconsistent',
        model='fixed_response',
        fixed_response='salt is a mineral',
        scorer='overlap',
    )
    assert report['exs'].value() == 3 and report['unverifiable']._denom == 3


@pytest.mark.parametrize(
    'text, problem, line',
    [
        ('', "no column 'episode_idx'", 1),
        (HEADER.replace('response', 'reply'), "no column 'response'", 1),
        (HEADER + '0,1,2,Kites\n', 'more or fewer fields', 2),
        (HEADER + '0,1,2,a,b,c,d,e,f\n', 'more or fewer fields', 2),
        (HEADER + '0,1,2,Kites,"no end,c,d,e\n', 'cannot be read as csv', 2),
    ],
)
def test_a_broken_row_is_named_with_its_line(tmp_path, text, problem, line):
    path = tmp_path / 'rows.csv'
    path.write_text(text)
    with pytest.raises(RecordError, match=problem) as caught:
        read_system_file(path, 'dodeca', 'consistent')
    assert caught.value.line == line and caught.value.source == str(path)


def test_a_cross_label_that_is_neither_0_nor_1_is_refused(tmp_path):
    path = tmp_path / 'cross.csv'
    path.write_text(CROSS_HEADER + '0,4,1,Kites,Wind?,a,b,c,d,0,maybe\n')
    with pytest.raises(RecordError, match="memnet_label is 'maybe'"):
        read_cross_file(path)
