"""A scorer with a cache is the scorer inside, only that nothing is scored twice."""

import pytest

from parlai_q2 import load_scorer
from parlai_q2.cache import ScoreCache
from parlai_q2.q2.metric import Q2Models
from parlai_q2.scorers.calibrated import ExtendedScorer
from parlai_q2.scorers.consistency import ConsistencyScorer
from parlai_q2.scorers.q2 import Q2Scorer
from parlai_q2.turns import Example
from tests.cache.counting import CountingScorer, examples
from tests.toys import ToyNliModel, ToyQuestionAnswerer, ToyQuestionGenerator


@pytest.fixture
def path(tmp_path):
    return tmp_path / 'scores.sqlite'


def cached(path, recipe='a'):
    return ExtendedScorer(CountingScorer(recipe), store=ScoreCache(path))


def test_only_what_is_missing_is_scored_and_in_one_call(path):
    first = cached(path)
    first.score(examples(10))
    second = cached(path)
    pairs = examples(25)
    assert second.score(pairs) == CountingScorer().score(pairs)
    assert second.scorer.calls == [[e.response for e in pairs[10:]]]
    assert (second.reuse.hits, second.reuse.misses) == (10, 15)


def test_the_same_text_in_other_passages_has_its_evidence_named_there(path):
    responses = ['Bees dance.', 'Wasps build nests of paper.']
    examples = [
        Example(knowledge, responses[1])
        for knowledge in ('\n'.join(responses), responses)
    ]
    scorer = ExtendedScorer(load_scorer('consistency'), store=ScoreCache(path))
    scorer.score(examples[:1])
    joined, apart = scorer.score(examples)
    places = [score.claims[0].evidence[0] for score in (joined, apart)]
    assert [place.passage for place in places] == [0, 1]
    assert [place.span.start for place in places] == [12, 0]
    assert scorer.score(examples) == [joined, apart]
    assert scorer.reuse.misses == 2


def test_a_run_that_dies_has_kept_its_finished_chunks(path):
    class Dying(CountingScorer):
        def score_texts(self, examples):
            if len(self.calls) == 2:
                raise KeyboardInterrupt
            return super().score_texts(examples)

    dying = ExtendedScorer(Dying(), store=ScoreCache(path))
    dying.reuse.chunk = 10
    with pytest.raises(KeyboardInterrupt):
        dying.score(examples(35))
    after = cached(path)
    after.score(examples(35))
    assert (after.reuse.hits, after.reuse.misses) == (20, 15)


def toy_q2():
    models = Q2Models(
        ToyQuestionGenerator(), ToyQuestionAnswerer(), ToyNliModel(), lambda t: []
    )
    return Q2Scorer(models)


@pytest.mark.parametrize('make', [toy_q2, lambda: ConsistencyScorer(ToyNliModel())])
def test_scores_of_real_scorers_come_back_equal(path, make):
    pairs = [*examples(5), Example('Bees have 5 eyes.', 'They have five.')]
    first = ExtendedScorer(make(), store=ScoreCache(path)).score(pairs)
    again = ExtendedScorer(make(), store=ScoreCache(path))
    assert again.score(pairs) == first == make().score(pairs)
    assert again.reuse.misses == 0
