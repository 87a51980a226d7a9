"""The measure of which reply is chosen."""

from collections import Counter

import pytest

from benchmarks import choice
from parlai_q2.rerank import Reranker

PASSAGE = 'The museum opened in 1903. It was designed by Anna Keller.'
ROWS = [
    {'q': 'Who designed it?', 'c': PASSAGE, 's': 46, 'a': 'Anna Keller'},
    {'q': 'Who paid for it?', 'c': PASSAGE, 's': -1, 'a': ''},
]


@pytest.mark.parametrize(
    'supported, answers, judged, expected',
    [
        (1, 2, {}, 'best'),
        ('n', 2, {}, 'best'),
        (1, 2, {'best': False}, 'partly'),
        (1, 1, {}, 'partly'),
        ('n', 0, {}, 'beside'),
        (0, 2, {}, 'wrong'),
        (0, 0, {}, 'wrong'),
    ],
)
def test_what_a_choice_means(supported, answers, judged, expected):
    assert choice.outcome({'g': supported, 'a': answers, **judged}) == expected


def test_a_page_has_the_passages_of_a_pool_among_those_of_others():
    pools = choice.read_rows(str(choice.SHORT_POOLS))
    paged = choice.in_pages(pools, others=3)
    for pool, page in zip(pools, paged, strict=True):
        (knowledge,) = page['knowledge']
        assert ' '.join(pool['knowledge'][0].split()) in ' '.join(knowledge.split())
        assert len(knowledge.split('\n\n')) == 4
        assert max(map(len, knowledge.splitlines())) <= 80
        assert page['candidates'] == pool['candidates']


def test_pools_of_each_kind_are_made_from_questions():
    pools = choice.qa_pools(ROWS * 3)
    assert Counter(p['kind'] for p in pools) == dict.fromkeys(
        ('sentence', 'fragment', 'yesno', 'unanswerable'), 3
    )
    for pool in pools:
        outcomes = [choice.outcome(candidate) for candidate in pool['candidates']]
        assert outcomes.count('best') == 1
        assert len(outcomes) > 1
    assert len(choice.balanced(pools, 4)) == 4


def test_the_short_pools_have_one_reply_of_each_outcome():
    pools = choice.read_rows(str(choice.SHORT_POOLS))
    assert len(pools) == 24
    for pool in pools:
        outcomes = sorted(choice.outcome(candidate) for candidate in pool['candidates'])
        assert outcomes == ['beside', 'best', 'wrong']


def test_the_shipped_relevance_tells_which_replies_answer():
    pools = choice.read_rows(str(choice.SHORT_POOLS))
    read = choice.relevance_of(pools, choice.rank(Reranker(explain=None), pools))
    right = [(value >= choice.MIN_RELEVANCE) == answers for value, answers in read]
    assert len(right) == 72
    assert sum(right) >= 62


def test_the_report_tells_outcomes_by_kind(capsys):
    pools = choice.qa_pools(ROWS)
    rankings = choice.rank(Reranker('precision', explain=None), pools)
    choice.report('made', pools, choice.outcomes_of(pools, rankings))
    output = capsys.readouterr().out
    assert output.startswith('made (4 pools)')
    assert all(kind in output for kind in ('best', 'wrong', 'unanswerable', 'yesno'))
