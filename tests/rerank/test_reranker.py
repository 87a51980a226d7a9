"""
The reranker: one call of the scorer for everything, the guards, and the prefilter.
"""

import json
from dataclasses import replace

import pytest

from parlai_q2.claims import Comparison, Verdict
from parlai_q2.errors import InputError
from parlai_q2.rerank import Candidate, Reason, Reranker
from parlai_q2.turns import Span
from tests.rerank.toys import ToyScorer, pool

SKY = 'the sky is blue and grass is green here in summer and rain is wet'


def texts(ranking):
    return [one.text for one in ranking.candidates]


POOLS = [
    pool('red blue', 'red green', 'red blue', 'green'),
    pool('', 'anything', 'else'),
    pool('one two', 'one', 'three', 'one two'),
    pool('  ', 'blank'),
]


def test_the_whole_batch_is_one_call():
    scorer = ToyScorer()
    rankings = Reranker(scorer).rank_batch(POOLS)
    assert [len(batch) for batch in scorer.batches] == [6]
    assert [texts(r) for r in rankings] == [
        ['red blue', 'red green', 'green'],
        ['anything', 'else'],
        ['one', 'one two', 'three'],
        ['blank'],
    ]


def test_batched_is_the_same_as_one_at_a_time():
    together = Reranker(ToyScorer()).rank_batch(POOLS)
    alone = [Reranker(ToyScorer()).rank(p.knowledge, p.candidates) for p in POOLS]
    assert together == alone


def test_no_knowledge_asks_the_scorer_nothing():
    scorer = ToyScorer()
    ranking = Reranker(scorer).rank(None, ['b', 'a'])
    assert scorer.batches == []
    assert (texts(ranking), ranking.reason) == (['b', 'a'], Reason.NO_KNOWLEDGE)
    assert not ranking.verifiable


def test_the_scorer_is_given_the_history():
    scorer = ToyScorer()
    Reranker(scorer).rank('k', ['a'], history=['hi', 'so?'])
    assert scorer.batches[0][0].history == ('hi', 'so?')


def test_a_copy_loses_only_to_other_words_that_are_nearly_as_grounded():
    other = 'in summer grass is green and the sky is blue and rain is wet'
    candidates = [SKY, other, 'the sky is blue, wow', 'pigs fly over the moon']
    ranking = Reranker(ToyScorer()).rank(SKY, candidates)
    assert texts(ranking) == [other, *candidates[:1], *candidates[2:]]
    assert [one.guards for one in ranking.candidates] == [(), ('copy',), (), ()]
    ranking = Reranker(ToyScorer(), copy_penalty=0.0).rank(SKY, candidates)
    assert texts(ranking)[0] == SKY
    ranking = Reranker(ToyScorer(), copy_penalty=0.5).rank(SKY, candidates)
    assert texts(ranking)[:3] == [other, 'the sky is blue, wow', SKY]


def test_a_generic_reply_loses_to_any_other_grounded_reply():
    candidates = ['here it is', 'blue sky, wow', 'pigs fly']
    knowledge = 'here it is: the sky is blue'
    ranking = Reranker(ToyScorer()).rank(knowledge, candidates)
    assert texts(ranking) == ['blue sky, wow', 'here it is', 'pigs fly']
    free = Reranker(ToyScorer(), generic_penalty=0.0)
    assert texts(free.rank(knowledge, candidates))[0] == 'here it is'


def test_a_repetition_loses_to_what_was_not_said_yet():
    said, new = 'the sky is blue here', 'grass is green and tall'
    candidates, history = [said, new, 'pigs fly over us'], ['hi', said.title(), 'why?']
    ranking = Reranker(ToyScorer()).rank(SKY, candidates, history)
    assert texts(ranking) == [new, said, 'pigs fly over us']
    assert ranking.candidates[1].guards == ('repeat',)
    free = Reranker(ToyScorer(), repeat_penalty=0.0)
    assert texts(free.rank(SKY, candidates, history))[0] == said


def test_the_prefilter_prunes_and_the_scorer_decides():
    cheap, dear = ToyScorer(), ToyScorer()
    candidates = ['x y', 'red', 'red blue', 'x red blue', 'z']
    reranker = Reranker(dear, prefilter=cheap, prefilter_keep=2)
    ranking = reranker.rank('red blue', candidates)
    assert [len(b) for b in cheap.batches] == [5]
    # Two were kept, and the generator's first with them.
    assert [e.response for e in dear.batches[0]] == ['x y', 'red', 'red blue']
    assert texts(ranking) == ['red', 'red blue', 'x y', 'x red blue', 'z']
    assert [one.score is None for one in ranking.candidates] == [False] * 3 + [True] * 2
    assert all(one.prefilter is not None for one in ranking.candidates)


def test_a_prefilter_that_knows_generic_replies_is_believed():
    class Detector(ToyScorer):
        def _score(self, example):
            share = float('nice' in example.response)
            return replace(super()._score(example), parts={'generic': share})

    candidates = ['nice red blue', 'red blue green', 'red red']
    ranking = Reranker(ToyScorer(), prefilter=Detector()).rank(
        'red blue nice', candidates
    )
    assert texts(ranking) == ['red red', 'red blue green', 'nice red blue']
    assert ranking.candidates[-1].guards == ('generic',)


def test_rows_are_json_and_say_what_was_chosen_and_why():
    ranking = Reranker(ToyScorer()).rank(
        'red blue', pool('', 'green', 'red').candidates
    )
    first, second = json.loads(json.dumps(ranking.rows(), allow_nan=False))
    assert first['text'] == 'red'
    assert (first['chosen'], first['first']) == (True, False)
    assert (second['chosen'], second['first']) == (False, True)
    assert (first['score'], first['label']) == (1.0, 'consistent')
    assert (first['reason'], second['reason']) == (Reason.BEST, None)
    assert first['strategies'] == ['beam']
    assert first['verdicts'] == []


def test_rows_stay_json_when_a_search_scores_infinitely_low():
    candidate = Candidate('a', ('beam',), float('-inf'), float('nan'))
    ranking = Reranker(ToyScorer()).rank('a', [candidate])
    row = json.loads(json.dumps(ranking.rows(), allow_nan=False))[0]
    assert row['generator_score'] is None and row['mean_logprob'] is None


def test_no_candidates_and_other_things_are_refused():
    reranker = Reranker(ToyScorer())
    with pytest.raises(InputError, match='no candidate'):
        reranker.rank('red', [])
    with pytest.raises(InputError, match='not one string'):
        reranker.rank('red', 'blue')
    with pytest.raises(InputError, match='must be a string or a list of passages'):
        reranker.rank(7, ['blue'])
    with pytest.raises(InputError, match='Passage 1 of the knowledge'):
        reranker.rank(['red', 7], ['blue'])


def test_knowledge_may_be_passages_and_evidence_names_them():
    passages = [
        {'title': 'Bee', 'text': 'Bees have five eyes.'},
        'Wasps build nests of paper.',
    ]
    reranker = Reranker('spans')
    ranking = reranker.rank(passages, ['Bees have six eyes.', 'Wasps use paper.'])
    assert ranking.chosen.text == 'Wasps use paper.'
    assert ranking.knowledge == 'Bees have five eyes.\nWasps build nests of paper.'
    assert [passage.title for passage in ranking.passages] == ['Bee', '']
    (statement,) = ranking.rows()[0]['statements']
    assert statement['evidence'][0]['passage'] == 1
    assert statement['evidence'][0]['sentence'] == 'Wasps build nests of paper.'


@pytest.mark.parametrize('knowledge', [[], [''], ['', ' '], [{'text': ' '}]])
def test_blank_passages_are_no_knowledge(knowledge):
    ranking = Reranker(ToyScorer()).rank(knowledge, ['a'])
    assert (ranking.reason, ranking.passages) == (Reason.NO_KNOWLEDGE, ())


MARK = Verdict('', Span('x', 0, 1), None, Comparison.NEUTRAL, 0.0, 0.0)


class Explainer(ToyScorer):
    """Marks the first letter of everything."""

    name = 'explainer'

    def _score(self, example):
        return replace(super()._score(example), verdicts=(MARK,))


def explained(*pools, scorer=None):
    """The evidence scorer's batches, and the rows of each pool."""
    reranker = Reranker(scorer or ToyScorer(), evidence=(evidence := Explainer()))
    rankings = reranker.rank_batch(pools)
    turns = [(r.passages, p.history, r.rows()) for p, r in zip(pools, rankings)]
    for _ in range(2):  # what is explained is not asked about again
        reranker.explain(turns)
    return evidence.batches, [rows for *_, rows in turns]


def test_the_chosen_and_the_first_of_a_whole_batch_are_explained_in_one_call():
    batches, rows = explained(
        pool('red blue', 'green', 'red', 'green blue'),
        pool('one', 'one', 'two', 'three'),
    )
    ((*texts,),) = [[example.response for example in batch] for batch in batches]
    assert texts == ['red', 'green', 'one']
    assert rows[0][0]['verdicts'] == [MARK.to_dict()]
    assert rows[0][0]['evidence'].startswith('explainer|')
    assert rows[0][1]['verdicts'] == [] and 'evidence' not in rows[0][1]


def test_without_knowledge_there_is_nothing_to_explain():
    batches, ((row,),) = explained(pool('', 'a'))
    assert batches == [] and 'evidence' not in row
