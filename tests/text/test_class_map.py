"""What the names of classes say, and which outputs count for which class, by hand."""

import pytest

from parlai_q2.errors import ConfigError, UnknownNameError
from parlai_q2.text.class_map import (
    Finding,
    choose,
    map_classes,
    match_finding,
    parse_class_map,
)

BEGIN = ('Fully attributable', 'Not fully attributable', 'Generic')
SAMPLE = ('consistent', 'inconsistent', 'generic')


@pytest.mark.parametrize(
    'outputs, classes, members, why',
    [
        (tuple(Finding), BEGIN, ((0,), (1, 2), (3,)), 'neutral is not attributable'),
        (tuple(Finding), SAMPLE[:2], ((0,), (1, 2)), 'generic has no class'),
        (
            ('SUPPORTS', 'REFUTES', 'NOT ENOUGH INFO'),
            ('inconsistent', 'consistent'),
            ((1, 2), (0,)),
            'classes in another order',
        ),
        (('CORRECT', 'INCORRECT'), SAMPLE, ((0,), (1,), ()), 'no output for generic'),
        (tuple(Finding)[:3], ('entailment', 'neutral'), ((0,), (1, 2)), 'not entailed'),
        (('b', 'a'), ('a', 'b'), ((1,), (0,)), 'names of their own'),
        (('yes', None), ('Yes', 'no'), ((0,), ()), 'an output may have no name'),
    ],
)
def test_outputs_go_to_the_class_that_says_the_same(outputs, classes, members, why):
    assert map_classes(outputs, classes).members == members, why


def test_a_given_map_goes_before_the_names():
    class_map = map_classes(
        tuple(Finding), SAMPLE, {'consistent': 'generic', 'neutral': ''}
    )
    assert class_map.members == ((), (2,), (0, 3)), (
        'a finding may be called by any name'
    )
    assert class_map.without_output == ['consistent']


@pytest.mark.parametrize(
    'classes, expected, why',
    [
        (BEGIN, [0.5, 0.3, 0.2], '0.1 + 0.2 for the second'),
        (SAMPLE[:2], [0.5 / 0.8, 0.3 / 0.8], 'of a response that can be verified'),
    ],
)
def test_probabilities_are_added_up(classes, expected, why):
    class_map = map_classes(tuple(Finding), classes)
    assert class_map.probabilities([0.5, 0.1, 0.2, 0.2]) == pytest.approx(expected), why
    if len(classes) == 2:
        assert class_map.probabilities([0, 0, 0, 1]) == [0.5, 0.5], 'nothing is left'


@pytest.mark.parametrize(
    'outputs, mapping, error, says',
    [
        (('what', 'CORRECT'), {}, ConfigError, '--class-map "what=consistent"'),
        (('generic',), {}, ConfigError, 'None of the task'),
        (tuple(Finding), {'entails': 'generic'}, UnknownNameError, 'Did you mean'),
        (
            ('contradiction', 'entailment'),
            {'generic': 'inconsistent'},
            UnknownNameError,
            r"no output 'generic'\. Known: contradiction, entailment\.$",
        ),
        (tuple(Finding), {'entailment': 'Generic'}, UnknownNameError, "'generic'"),
    ],
)
def test_what_cannot_be_placed_is_an_error_that_says_how(outputs, mapping, error, says):
    with pytest.raises(error, match=says):
        map_classes(outputs, SAMPLE[: 3 if mapping or len(outputs) > 1 else 2], mapping)


def test_a_task_of_replies_is_told_to_be_one_and_its_candidates_fill_no_page():
    replies = [f'Bees have {n} eyes, and this is all that I know.' for n in range(20)]
    with pytest.raises(ConfigError, match="the task's ClassificationTeacher") as raised:
        map_classes(tuple(Finding), replies)
    assert replies[0] in str(raised.value)
    assert replies[9] not in str(raised.value)


def test_a_class_map_is_read_from_an_option():
    text = ' entailment = Fully attributable, generic= '
    assert parse_class_map(text) == {'entailment': 'Fully attributable', 'generic': ''}
    assert parse_class_map(None) == {}
    with pytest.raises(ConfigError, match='output=class'):
        parse_class_map('entailment')


def test_the_likeliest_output_decides_before_classes_are_merged():
    # Supports, not enough information, refutes: the papers predict "supports".
    merged = map_classes(tuple(Finding), SAMPLE[:2])
    assert merged.classes[choose((0.45, 0.30, 0.25, 0), merged)] == 'consistent'
    assert merged.classes[choose((0.45, 0.30, 0.25, 0), merged, 0.5)] == 'inconsistent'
    assert merged.classes[choose((0.2, 0.1, 0.1, 0.6), merged)] == 'consistent'


@pytest.mark.parametrize(
    'name, finding, why',
    [
        ('SUPPORTS', 'entailment', "FEVER's and VitaminC's"),
        ('NOT ENOUGH INFO', 'neutral', "FEVER's and VitaminC's"),
        ('INCORRECT', 'contradiction', "FactCC's, and it holds CORRECT"),
        ('Not fully attributable', 'contradiction', "BEGIN's"),
        ('not_verifiable', 'generic', "a scorer's label"),
        ('non-verifiable', 'generic', 'with a hyphen'),
        ('negative', 'contradiction', "Dialogue NLI's"),
        ('LABEL_0', None, 'says nothing'),
    ],
)
def test_a_name_says_a_finding(name, finding, why):
    assert match_finding(name) == finding, why
