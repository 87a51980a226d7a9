"""The shown candidates are explained, and only they."""

from dataclasses import replace

from parlai_q2.records import Comparison, Span, Verdict
from parlai_q2.rerank import Reranker
from tests.rerank.toys import ToyScorer, pool

MARK = Verdict('', Span('x', 0, 1), None, Comparison.NEUTRAL, 0.0, 0.0)


class Explainer(ToyScorer):
    """Marks the first letter of everything."""

    name = 'explainer'

    def _score(self, example):
        return replace(super()._score(example), verdicts=(MARK,))


def explained(*pools, scorer=None):
    """The evidence scorer's batches, and the rows of each pool."""
    evidence = Explainer()
    reranker = Reranker(scorer or ToyScorer(), evidence=evidence)
    rankings = reranker.rank_batch(pools)
    turns = [(ranking.knowledge, ranking.rows()) for ranking in rankings]
    reranker.explain(turns)
    return evidence.batches, [rows for _, rows in turns]


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


def test_evidence_of_the_scorer_itself_is_enough():
    batches, ((row,),) = explained(pool('red', 'red'), scorer=Explainer())
    assert batches == [] and row['verdicts'] == [MARK.to_dict()]


def test_what_is_explained_is_not_asked_about_again():
    evidence = Explainer()
    reranker = Reranker(ToyScorer(), evidence=evidence)
    ranking = reranker.rank('red', ['red'])
    turn = (ranking.knowledge, ranking.rows())
    reranker.explain([turn])
    reranker.explain([turn])
    assert len(evidence.batches) == 1


def test_without_an_evidence_scorer_rows_stay_as_they_are():
    rows = Reranker(ToyScorer()).rank('red', ['red']).rows()
    Reranker(ToyScorer()).explain([('red', rows)])
    assert 'evidence' not in rows[0]
