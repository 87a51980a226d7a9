"""A scorer with a cache is the scorer inside, only that nothing is scored twice."""

from dataclasses import replace

import pytest

from parlai_q2.cache import ScoreCache
from parlai_q2.q2.metric import Q2Models
from parlai_q2.scorers.calibrated import CalibratedCachedScorer
from parlai_q2.scorers.consistency import ConsistencyScorer
from parlai_q2.scorers.q2 import Q2Scorer
from parlai_q2.scorers.shell import make_pair
from parlai_q2.turns import Example
from tests.cache.counting import CountingScorer, examples
from tests.toys import ToyNliModel, ToyQuestionAnswerer, ToyQuestionGenerator


@pytest.fixture
def path(tmp_path):
    return tmp_path / 'scores.sqlite'


def cached(path, recipe='a'):
    return CalibratedCachedScorer(CountingScorer(recipe), store=ScoreCache(path))


def test_only_what_is_missing_is_scored_and_in_one_call(path):
    first = cached(path)
    first.score(examples(10))
    second = cached(path)
    pairs = examples(25)
    assert second.score(pairs) == CountingScorer().score(pairs)
    assert second.scorer.calls == [[e.response for e in pairs[10:]]]
    assert (second.reuse.hits, second.reuse.misses) == (10, 15)


def test_a_run_that_dies_has_kept_its_finished_chunks(path):
    class Dying(CountingScorer):
        def score_texts(self, examples):
            if len(self.calls) == 2:
                raise KeyboardInterrupt
            return super().score_texts(examples)

    dying = CalibratedCachedScorer(Dying(), store=ScoreCache(path))
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
    first = CalibratedCachedScorer(make(), store=ScoreCache(path)).score(pairs)
    again = CalibratedCachedScorer(make(), store=ScoreCache(path))
    assert again.score(pairs) == first == make().score(pairs)
    assert again.reuse.misses == 0


def test_stored_scores_say_what_is_wrong_even_those_of_older_versions(path):
    scorer = ConsistencyScorer(ToyNliModel())
    example = Example('The race is 42 km long.', 'The race is 42 miles long.')
    (new,) = CalibratedCachedScorer(scorer, store=ScoreCache(path)).score([example])
    assert str(new.claims[0].mistake) == 'number (reply: 42 miles; passage: 42 km)'
    signature, pair = str(scorer.signature), make_pair(example)
    (stored,) = ScoreCache(path).get(signature, [pair]).values()
    assert stored.claims == new.claims
    claims = tuple(replace(claim, mistake=None) for claim in new.claims)
    ScoreCache(path).put(signature, {pair: replace(new, claims=claims)})
    again = CalibratedCachedScorer(scorer, store=ScoreCache(path))
    assert again.score([example]) == [new]
    assert again.reuse.hits == 1
