"""
Pipelines against their model alone, on clocks set by hand and on a small model.
"""

import json

import pytest

from parlai_q2.benchmark import throughput
from parlai_q2.benchmark.shares import compare, describe, share
from parlai_q2.benchmark.throughput import InTurns, Seconds, Turn, model_alone
from parlai_q2.cache import CachedScorer, ScoreCache
from parlai_q2.models.nli import SequenceNliModel
from parlai_q2.presets import ModelConfig
from parlai_q2.records import Example
from parlai_q2.scorers.consistency import ConsistencyScorer
from parlai_q2.scripts.score import score_file
from tests.cache.counting import examples
from tests.models.checkpoints import tiny_roberta

# Knowledge of more than sixty words is read a sentence at a time.
LONG = ' '.join(f'Band {n} was formed in the year {n}.' for n in range(12))


@pytest.fixture(scope='module')
def detector(tmp_path_factory):
    """
    The detector with a model of a few numbers.
    """
    folder = str(tiny_roberta(tmp_path_factory.mktemp('model')))
    labels = {'entailment': 0, 'neutral': 1, 'contradiction': 2}
    return ConsistencyScorer(SequenceNliModel(ModelConfig(folder), labels=labels))


def test_the_model_alone_finds_the_scores_of_the_scorer(detector):
    given = [*examples(9), Example(LONG, 'Band 3. It was formed.'), Example(LONG, 'b')]
    found, tokenizing, model = model_alone(detector, given)
    assert found == detector.score(given)
    assert min(*tokenizing, *model) > 0


def test_a_pipeline_and_its_model_take_turns(detector, tmp_path):
    infile = tmp_path / 'in.jsonl'
    with open(infile, 'w') as stream:
        for e in examples(50):
            fields = {'knowledge': e.knowledge, 'response': e.response}
            stream.write(json.dumps(fields) + '\n')
    turns = InTurns(detector, turn=12)
    scorer = CachedScorer(turns, ScoreCache(tmp_path / 'scores.sqlite'))
    turns.start()
    score_file(infile, tmp_path / 'out.jsonl', scorer, chunk_size=8)
    turns.finish()
    # Chunks of 8 make turns of 16: three, and what is left. The first, in which all is
    # begun, does not count.
    assert [turn.pairs for turn in turns.turns] == [16, 16, 2]
    assert turns.differing == 0
    score_file(infile, tmp_path / 'plain.jsonl', detector)
    assert (tmp_path / 'out.jsonl').read_bytes() == (
        tmp_path / 'plain.jsonl'
    ).read_bytes()


def test_what_comes_after_the_last_pair_counts_for_the_last_turn(detector, monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr(throughput, 'now', lambda: Seconds(*[next(clock)] * 2))
    turns = InTurns(detector, turn=4)
    turns.start()
    turns.score(examples(4))
    turns.score(examples(4, 4))
    turns.finish()
    # Every look at the clocks is a second: one for the turn, one for what came after.
    (last,) = turns.turns
    assert last == Turn(4, Seconds(2, 2), Seconds(1, 1), Seconds(1, 1))


def test_a_score_that_differs_is_counted(detector, monkeypatch):
    turns = InTurns(detector, turn=4)
    monkeypatch.setattr(detector, 'threshold', 0.5)
    turns.start()
    scores = detector.score(examples(4))
    wrong = [*scores[:3], scores[0].__class__(0.123, 'consistent')]
    monkeypatch.setattr(detector, 'score_texts', lambda given: wrong)
    turns.score(examples(4))
    turns.finish()
    assert turns.differing == 1


def test_shares_worked_out_by_hand():
    # 9 of 10, 19 of 20 and 10 of 10 seconds: 38 of 40 in all.
    found = share([9, 19, 10], [10, 20, 10])
    assert found['share'] == pytest.approx(0.95)
    assert (found['least'], found['median'], found['most']) == (0.9, 0.95, 1.0)
    assert 0.9 <= found['low'] <= 0.95 <= found['high'] <= 1.0


def test_both_clocks_with_and_without_tokenizing():
    turn = Turn(100, Seconds(10, 20), Seconds(1, 2), Seconds(8, 14))
    found = compare([turn, turn], 0)
    assert found['pairs'] == 200
    assert found['processor']['pairs_a_second'] == 10
    assert found['processor']['model']['share'] == pytest.approx(0.8)
    assert found['processor']['model_and_tokenizing']['share'] == pytest.approx(0.9)
    assert found['clock']['model']['share'] == pytest.approx(0.7)
    shown = describe({'score': found})
    assert '0.900 [0.900, 0.900]' in shown and '10.0 a second' in shown
