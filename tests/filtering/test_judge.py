"""Whole episodes are judged, many in one call; what stays, and how it is summed up."""

import json

import pytest

from parlai_q2.claims import Label, Score, not_verifiable
from parlai_q2.errors import ConfigError
from parlai_q2.filtering.judge import (
    FilterReason,
    Policy,
    decide_batches,
    group_episodes,
    judge_episodes,
)
from parlai_q2.filtering.summary import FilterSummary, render
from parlai_q2.io.knowledge import KnowledgeSource
from parlai_q2.io.read import CHUNK_CHARACTERS
from parlai_q2.turns import Example, Passage
from tests.filtering.toys import FIVE, WordScorer, episode


def judge(*episodes, policy=None, **options):
    """Judge episodes in batches that the options make."""
    scorer = WordScorer()
    scored = (
        (batch.episodes, scorer.score([item.example for item in batch.items]))
        for batch in group_episodes(episodes, **options)
    )
    return list(decide_batches(scored, policy or Policy()))


def kept(judged):
    return [turn.decision.is_kept for turn in judged]


def test_each_turn_is_judged_by_its_own_knowledge():
    (judged,) = judge(FIVE)
    assert [turn.decision.reason for turn in judged] == [
        FilterReason.GROUNDED,
        FilterReason.NOT_GROUNDED,
        FilterReason.NOT_GROUNDED,
        FilterReason.GENERIC,
        FilterReason.GROUNDED,
    ]
    assert kept(judged) == [True, False, False, True, True]
    assert judged[2].labels[0].score.value == 0.5


def test_turns_without_labels_go_and_those_without_knowledge_are_a_choice():
    bare = episode(('one', 'a'), ('two', None, 'a'))
    (judged,) = judge(bare)
    assert [t.decision for t in judged] == [
        (False, FilterReason.NO_LABEL),
        (True, FilterReason.NO_KNOWLEDGE),
    ]
    assert judged[1].labels[0].score is None
    assert kept(judge(bare, policy=Policy(no_knowledge='drop'))[0]) == [False, False]


def test_batches_judge_as_single_episodes_do():
    episodes = [FIVE, episode(('one', 'a b', 'a', 'x')), FIVE[:2]]
    alone = [judge(turns)[0] for turns in episodes]
    assert judge(*episodes) == alone == judge(*episodes, chunk=1)


def test_long_texts_fill_a_batch_by_their_characters():
    knowledge = 'a ' * (CHUNK_CHARACTERS // 4)
    episodes = [episode(('one', knowledge, 'a'))] * 5 + [FIVE]
    sizes = [len(batch.episodes) for batch in group_episodes(episodes)]
    assert sizes == [2, 2, 2]


def test_a_passage_in_a_text_holds_until_the_next():
    turns = [
        {'text': 'passage one\nhi'},
        {'text': 'and then?'},
        {'text': 'ok', 'knowledge': 'its own'},
        {'text': 'well'},
        {'text': 'passage two\nhi'},
    ]

    def known(delimiter=None):
        (judged_episode,) = judge(turns, source=KnowledgeSource(delimiter))
        return [turn.knowledge for turn in judged_episode]

    passages = ['passage one', 'passage one', 'its own', 'passage one', 'passage two']
    assert known('\n') == passages
    assert known() == ['', '', 'its own', '', '']


def test_passages_are_judged_together_and_evidence_names_them():
    knowledge = [{'title': 'Bee', 'text': 'a b'}, {'title': 'Ant', 'text': 'c'}]
    ((turn,),) = judge([{'text': 'one', 'knowledge': knowledge, 'labels': ['a c']}])
    assert turn.decision.is_kept
    assert turn.passages == (Passage('a b', 'Bee'), Passage('c', 'Ant'))
    assert turn.knowledge == 'a b\nc'


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


def summary(*episodes, **choices):
    report = FilterSummary()
    for judged_episode in judge_episodes(episodes, WordScorer(), Policy(**choices)):
        report.add(judged_episode)
    return report.to_dict(signature='signed')


def test_means_and_histogram_leave_out_what_could_not_be_verified():
    report = summary(FIVE)
    # b b 1, x x 0, a x 0.5, c c c 1; hello has no score to average.
    assert report['mean_score'] == pytest.approx(2.5 / 4)
    assert report['mean_score_kept'] == 1.0
    bars = [(bar['kept'], bar['dropped']) for bar in report['histogram']]
    assert bars[0] == (0, 1)
    assert bars[5] == (0, 1)
    assert bars[9] == (2, 0)
    assert sum(map(sum, bars)) == 4
    assert report['histogram'][9]['to'] == 1.0


def test_it_is_json_and_reads_well():
    bad = ('one', 'a\nb', 'b\n b'), ('two', 'a', 'x'), ('three', 'a', 'y' * 101)
    report = summary(episode(*bad), episode(('four', 'a', 'a')), unit='episodes')
    assert json.loads(json.dumps(report)) == report
    lines = render(report).splitlines()
    assert lines[0] == (
        'Kept 1 of 4 turns (25.0 %) and dropped 3 by signed; 1 of 2 episodes kept '
        'whole, 1 dropped whole.'
    )
    assert '  dropped         1  another turn of its episode goes' in lines
    assert '  0.9 to 1.0         2  ' + '#' * 20 + '-' * 20 in lines
    least = lines.index('Least grounded')
    assert lines[least + 3] == f'  0.00 dropped {"y" * 97}...'
    assert lines[least + 5 : least + 7] == [
        '  1.00 dropped b b',
        '       knowledge  a b',
    ]
    assert lines[-1] == 'signature: signed'
