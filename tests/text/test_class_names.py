"""What the names of classes say."""

import pytest

from parlai_q2.text.class_map import FINDINGS, NAMES, finding_of, is_unnamed


@pytest.mark.parametrize(
    'name, finding, why',
    [
        ('SUPPORTS', 'entailment', "FEVER's and VitaminC's"),
        ('REFUTES', 'contradiction', "FEVER's and VitaminC's"),
        ('NOT ENOUGH INFO', 'neutral', "FEVER's and VitaminC's"),
        ('CORRECT', 'entailment', "FactCC's"),
        ('INCORRECT', 'contradiction', "FactCC's, and it holds CORRECT"),
        ('Fully attributable', 'entailment', "BEGIN's"),
        ('Not fully attributable', 'contradiction', "BEGIN's"),
        ('Generic', 'generic', "BEGIN's"),
        ('not_verifiable', 'generic', "a scorer's label"),
        ('non-verifiable', 'generic', 'with a hyphen'),
        ('negative', 'contradiction', "Dialogue NLI's"),
        ('maybe', None, 'says nothing'),
        ('LABEL_0', None, 'says nothing'),
    ],
)
def test_a_name_says_a_finding(name, finding, why):
    assert finding_of(name) == finding, why


def test_no_name_says_two_things():
    names = [name for names in NAMES.values() for name in names]
    assert len(set(names)) == len(names)
    assert all(finding_of(finding) == finding for finding in FINDINGS)


def test_a_class_that_nobody_named_is_known():
    assert is_unnamed('LABEL_12') and not is_unnamed('labels') and not is_unnamed('x')
