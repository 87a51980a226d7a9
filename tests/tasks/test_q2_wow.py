"""The annotated csv files: reading them, and the views of them."""

import pytest
from parlai.scripts.eval_model import EvalModel

from parlai_q2.errors import RecordError
from parlai_q2.tasks.q2_wow.reader import read_cross_file, read_part, read_system_file
from tests.tasks.annotated_sets import Q2_WOW
from tests.tasks.evaluating import messages

TASK = 'parlai_q2.tasks.q2_wow.agents'
HEADER, CROSS_HEADER = (
    Q2_WOW[name].decode().splitlines()[0] + '\n'
    for name in ('dodeca_consistent.csv', 'cross_annotation.csv')
)


# What of the files the words select: rows.
PARTS = {
    '': 7,
    'dodeca': 4,
    'inconsistent': 3,
    'memnet:inconsistent': 2,
    'cross_annotation': 4,
    'inconsistent:cross_annotation': 2,
    'cross_annotation:memnet:consistent': 1,
}


@pytest.mark.parametrize('part, rows', PARTS.items())
def test_words_choose_systems_classes_and_the_part(sets, part, rows):
    words = [word for word in part.split(':') if word]
    turns = read_part(str(sets), words)
    assert len(turns) == rows
    for turn in turns:
        assert turn.label in words or 'consistent' not in part
        assert turn.extra['system'] in words or not {'dodeca', 'memnet'} & set(words)


def test_quotes_and_line_breaks_inside_a_field_are_read(sets):
    second, third = messages(f'{TASK}:AnnotatedTeacher:dodeca:consistent')[1:]
    assert second['response'] == 'a man called " ben " .'
    assert third['checked_sentence'] == 'Ferns are old.\nThey have no seeds.'
    assert third['response'] == 'ferns are old , they have no seeds .'


def test_a_cross_label_of_1_means_inconsistent(sets):
    turns = read_part(str(sets), ['cross_annotation'])
    assert [(t.extra['system'], t.response, t.label) for t in turns] == [
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
        measure='overlap',
    )
    assert report['exs'].value() == 3
    assert report['unverifiable']._denom == 3


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
    assert caught.value.line == line
    assert caught.value.source == str(path)


def test_a_cross_label_that_is_neither_0_nor_1_is_refused(tmp_path):
    path = tmp_path / 'cross.csv'
    path.write_text(CROSS_HEADER + '0,4,1,Kites,Wind?,a,b,c,d,0,maybe\n')
    with pytest.raises(RecordError, match="memnet_label is 'maybe'"):
        read_cross_file(path)
