"""
The reranker: one call of the scorer for everything, the guards, and the prefilter.
"""

import json
from dataclasses import replace

import pytest
from parlai.core.metrics import aggregate_unnamed_reports, dict_report

from parlai_q2.agents.grounded_rerank.candidates import Candidate
from parlai_q2.agents.grounded_rerank.choice import (
    SCORE_PLUS_GENERATOR,
    THRESHOLD,
    Reason,
    Rule,
)
from parlai_q2.agents.grounded_rerank.evidence import metrics, rows
from parlai_q2.agents.grounded_rerank.reranker import Reranker, Turn
from tests.agents.rerank_toys import ToyScorer

SKY = 'the sky is blue and grass is green here in summer and rain is wet'


def pool(*texts):
    return [Candidate(text, ('beam',), -float(n)) for n, text in enumerate(texts)]


def texts(ranking):
    return [one.candidate.text for one in ranking.judged]


TURNS = [Turn('red blue'), Turn(None), Turn('one two'), Turn('  ')]
POOLS = [
    pool('red green', 'red blue', 'green'),
    pool('anything', 'else'),
    pool('one', 'three', 'one two'),
    pool('blank'),
]


def test_the_whole_batch_is_one_call():
    scorer = ToyScorer()
    rankings = Reranker(scorer).rank(TURNS, POOLS)
    assert [len(batch) for batch in scorer.batches] == [6]
    assert [texts(r) for r in rankings] == [
        ['red blue', 'red green', 'green'],
        ['anything', 'else'],
        ['one', 'one two', 'three'],
        ['blank'],
    ]


def test_batched_is_the_same_as_one_at_a_time():
    together = Reranker(ToyScorer()).rank(TURNS, POOLS)
    alone = [
        Reranker(ToyScorer()).rank([t], [p])[0]
        for t, p in zip(TURNS, POOLS, strict=True)
    ]
    assert together == alone


def test_no_knowledge_asks_the_scorer_nothing():
    scorer = ToyScorer()
    (ranking,) = Reranker(scorer).rank([Turn(None)], [pool('b', 'a')])
    assert scorer.batches == []
    assert (texts(ranking), ranking.reason) == (['b', 'a'], Reason.NO_KNOWLEDGE)
    assert not ranking.verifiable


def test_where_nothing_can_be_verified_the_generators_first_stands():
    # Each is worth a half, and the tie would go to the first by any rule.
    turn, greetings = Turn('red blue'), pool('hello', 'hello red')
    (ranking,) = Reranker(ToyScorer()).rank([turn], [greetings])
    assert ranking.reason == Reason.UNVERIFIABLE and not ranking.verifiable
    (ranking,) = Reranker(ToyScorer()).rank([turn], [pool('hello', 'red')])
    assert (texts(ranking), ranking.reason) == (['red', 'hello'], Reason.BEST)
    assert ranking.verifiable


def test_the_generators_opinion_counts_where_the_rule_asks_for_it():
    candidates = [
        Candidate('red green', mean_logprob=-1.0),
        Candidate('red blue', mean_logprob=-7.0),
    ]
    # 0.5 - 0.1 * 1 against 1 - 0.1 * 7.
    reranker = Reranker(ToyScorer(), Rule(by=SCORE_PLUS_GENERATOR))
    (ranking,) = reranker.rank([Turn('red blue')], [candidates])
    assert texts(ranking) == ['red green', 'red blue']


def test_the_scorer_is_given_the_history():
    scorer = ToyScorer()
    Reranker(scorer).rank([Turn('k', ('hi', 'so?'))], [pool('a')])
    assert scorer.batches[0][0].history == ('hi', 'so?')


def test_a_copy_loses_to_any_other_grounded_reply_and_wins_over_the_rest():
    candidates = pool(SKY, 'the sky is blue, wow', 'pigs fly over the moon')
    (ranking,) = Reranker(ToyScorer()).rank([Turn(SKY)], [candidates])
    assert texts(ranking) == ['the sky is blue, wow', SKY, 'pigs fly over the moon']
    assert [one.finding.guards for one in ranking.judged] == [(), ('copy',), ()]
    (ranking,) = Reranker(ToyScorer(), copy_penalty=0.0).rank([Turn(SKY)], [candidates])
    assert texts(ranking)[0] == SKY


def test_a_generic_reply_loses_to_any_other_grounded_reply():
    candidates = pool('here it is', 'blue sky, wow', 'pigs fly')
    knowledge = 'here it is: the sky is blue'
    (ranking,) = Reranker(ToyScorer()).rank([Turn(knowledge)], [candidates])
    assert texts(ranking) == ['blue sky, wow', 'here it is', 'pigs fly']
    free = Reranker(ToyScorer(), generic_penalty=0.0)
    assert texts(free.rank([Turn(knowledge)], [candidates])[0])[0] == 'here it is'


def test_the_prefilter_prunes_and_the_scorer_decides():
    cheap, dear = ToyScorer(), ToyScorer()
    candidates = pool('x y', 'red', 'red blue', 'x red blue', 'z')
    reranker = Reranker(dear, prefilter=cheap, prefilter_keep=2)
    (ranking,) = reranker.rank([Turn('red blue')], [candidates])
    assert [len(b) for b in cheap.batches] == [5]
    # Two were kept, and the generator's first with them.
    assert [e.response for e in dear.batches[0]] == ['x y', 'red', 'red blue']
    assert texts(ranking) == ['red', 'red blue', 'x y', 'x red blue', 'z']
    assert [one.score is None for one in ranking.judged] == [False] * 3 + [True] * 2
    assert all(one.prefilter is not None for one in ranking.judged)


def test_a_prefilter_that_knows_generic_replies_is_believed():
    class Detector(ToyScorer):
        def _score(self, example):
            share = float('nice' in example.response)
            return replace(super()._score(example), parts={'generic': share})

    candidates = pool('nice red blue', 'red blue green', 'red red')
    (ranking,) = Reranker(ToyScorer(), prefilter=Detector()).rank(
        [Turn('red blue nice')], [candidates]
    )
    assert texts(ranking) == ['red red', 'red blue green', 'nice red blue']
    assert ranking.judged[-1].finding.guards == ('generic',)


def test_the_threshold_rule_takes_the_first_that_passes():
    reranker = Reranker(ToyScorer(), Rule(by=THRESHOLD, threshold=0.5))
    (ranking,) = reranker.rank(
        [Turn('red blue')], [pool('x', 'red y z', 'blue', 'red')]
    )
    assert texts(ranking)[0] == 'blue'
    assert ranking.reason == Reason.FIRST_ABOVE


def test_rows_are_json_and_say_what_was_chosen_and_why():
    (ranking,) = Reranker(ToyScorer()).rank([Turn('red blue')], [pool('green', 'red')])
    first, second = json.loads(json.dumps(rows(ranking), allow_nan=False))
    assert first['text'] == 'red'
    assert (first['chosen'], first['first']) == (True, False)
    assert (second['chosen'], second['first']) == (False, True)
    assert (first['score'], first['label']) == (1.0, 'consistent')
    assert (first['reason'], second['reason']) == (Reason.BEST, None)
    assert first['strategies'] == ['beam']
    assert first['verdicts'] == []


def test_rows_of_a_turn_without_knowledge_have_no_score():
    (ranking,) = Reranker(ToyScorer()).rank([Turn(None)], [pool('a')])
    (row,) = rows(ranking)
    assert (row['score'], row['label'], row['chosen']) == (None, None, True)
    assert row['reason'] == Reason.NO_KNOWLEDGE


def test_rows_stay_json_when_a_search_scores_infinitely_low():
    candidate = Candidate('a', ('beam',), float('-inf'), float('nan'))
    (ranking,) = Reranker(ToyScorer()).rank([Turn('a')], [[candidate]])
    row = json.loads(json.dumps(rows(ranking), allow_nan=False))[0]
    assert row['generator_score'] is None and row['mean_logprob'] is None


def total(values):
    """
    What ParlAI adds up: it leaves out what is None.
    """
    there = [value for value in values if value is not None]
    return sum(there[1:], there[0]) if there else None


def test_metrics_are_means_over_the_turns_where_they_mean_something():
    turns = [Turn('red blue'), Turn('red blue'), Turn('red'), Turn(None)]
    pools = [
        pool('green', 'red', 'red green'),  # first 0, chosen 1
        pool('red', 'green'),  # first 1, chosen 1
        pool('hello', 'hello hello'),  # nothing to verify
        pool('a'),  # no knowledge
    ]
    found = metrics(Reranker(ToyScorer(), Rule(abstain_below=0.2)).rank(turns, pools))
    assert {len(values) for values in found.values()} == {4}
    assert [v is None for v in found['rerank/chosen']] == [False, False, True, True]
    means = {name: total(values).value() for name, values in found.items()}
    assert means == pytest.approx(
        {
            'rerank/chosen': 1.0,
            'rerank/first': 0.5,
            'rerank/gain': 0.5,
            'rerank/oracle': 1.0,
            'rerank/distinct': (3 + 2 + 2 + 1) / 4,
            'rerank/abstained': 0.0,
            'rerank/unverifiable': 0.5,
            # Of three turns with knowledge, one has nothing but greetings.
            'rerank/generic': 1 / 3,
            # "red" twice, and it is shorter than a copy has to be.
            'rerank/copy': 0.0,
        }
    )


def test_metrics_of_several_processes_add_up():
    turns = [Turn('red blue'), Turn('red'), Turn(None), Turn('blue')]
    pools = [pool('green', 'red'), pool('x'), pool('a'), pool('red', 'blue', 'x')]
    rankings = Reranker(ToyScorer()).rank(turns, pools)

    def report(part):
        sums = {name: total(values) for name, values in metrics(part).items()}
        return {name: of_all for name, of_all in sums.items() if of_all is not None}

    whole = report(rankings)
    for cut in (1, 2, 3):
        parts = [report(rankings[:cut]), report(rankings[cut:])]
        together = aggregate_unnamed_reports(parts)
        assert dict_report(together) == pytest.approx(dict_report(whole))


def test_a_rule_that_is_not_the_best_score_shows_in_the_oracle():
    rule = Rule(by=THRESHOLD, threshold=0.4)
    rankings = Reranker(ToyScorer(), rule).rank([Turn('red')], [pool('red x', 'red')])
    found = {name: values[0].value() for name, values in metrics(rankings).items()}
    assert (found['rerank/chosen'], found['rerank/oracle']) == (0.5, 1.0)
