"""What stays, by score, by label and by what is missing."""

import pytest

from parlai_q2.claims import Label, Score, not_verifiable
from parlai_q2.errors import ConfigError
from parlai_q2.filtering.judge import FilterReason, Policy
from parlai_q2.turns import Example

EXAMPLE = Example('In 1969.', 'in 1969')


@pytest.mark.parametrize(
    'value, threshold, is_kept',
    [
        (1.0, 0.5, True),
        # The paper: a score of at most the threshold is inconsistent.
        (0.5, 0.5, False),
        (0.51, 0.5, True),
        (0.0, 0.0, False),
        (1.0, 1.0, False),
    ],
)
def test_a_score_above_the_threshold_stays(value, threshold, is_kept):
    # The label was made by the scorer's own threshold and does not count.
    score = Score(value, Label.CONSISTENT)
    reason = FilterReason.GROUNDED if is_kept else FilterReason.NOT_GROUNDED
    assert Policy(threshold).decide(EXAMPLE, score) == (is_kept, reason)


@pytest.mark.parametrize('choice, is_kept', [('keep', True), ('drop', False)])
@pytest.mark.parametrize(
    'name, example, score, reason',
    [
        ('generic', EXAMPLE, Score(0.5, Label.GENERIC), FilterReason.GENERIC),
        ('unverifiable', EXAMPLE, not_verifiable(), FilterReason.UNVERIFIABLE),
        ('no_knowledge', Example(' ', 'in 1969'), None, FilterReason.NO_KNOWLEDGE),
    ],
)
def test_what_cannot_be_judged_is_a_choice(
    choice, is_kept, name, example, score, reason
):
    assert Policy(**{name: choice}).decide(example, score) == (is_kept, reason)
    # One choice says nothing of the others.
    assert Policy(**{name: choice}).decide(EXAMPLE, Score(1.0, 'consistent')).is_kept


def test_an_empty_reply_is_dropped_with_and_without_knowledge():
    for knowledge in ('In 1969.', ''):
        decision = Policy().decide(Example(knowledge, ' '), None)
        assert decision == (False, FilterReason.NO_LABEL)


@pytest.mark.parametrize(
    'wrong',
    [{'threshold': 1.1}, {'threshold': -0.1}, {'generic': 'maybe'}, {'unit': 'words'}],
)
def test_a_wrong_choice_is_an_error(wrong):
    with pytest.raises(ConfigError):
        Policy(**wrong)
