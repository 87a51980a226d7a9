"""One scorer shared by threads, and a scorer that is used for long."""

import gc
import os
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

import parlai_q2
from parlai_q2 import Example, load_scorer
from parlai_q2.models.nli import SequenceNliModel
from parlai_q2.presets import ModelConfig
from parlai_q2.retrieve.answers import AnswerReader
from parlai_q2.scorers import backends
from parlai_q2.scorers.nli import NliScorer
from tests.tiny import tiny_roberta

KNOWLEDGE = 'Bees have five eyes: two large compound ones and three small simple ones.'
EXAMPLES = [
    Example(KNOWLEDGE, 'They have five eyes.'),
    Example(KNOWLEDGE, 'They have two small eyes and three large ones.'),
    Example('Sephora was founded in 1969.', 'it opened in 1854 !'),
    Example(KNOWLEDGE, 'wow , that is cool !'),
]


@pytest.mark.parametrize('name', ['consistency', 'q2'])
def test_threads_that_share_a_scorer_get_what_one_alone_gets(name, monkeypatch):
    # Nothing loaded yet: the threads race for the first load too.
    monkeypatch.setattr(backends, '_LOADED', {})
    monkeypatch.setenv('OMP_NUM_THREADS', '2')
    shared = load_scorer(name)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda i: shared.score(EXAMPLES[i:]), range(4)))
    alone = load_scorer(name).score(EXAMPLES)
    for i, scores in enumerate(found):
        assert scores == alone[i:]


@pytest.mark.skipif(not sys.platform.startswith('linux'), reason='reads /proc')
def test_memory_stays_flat_over_thousands_of_scores(tmp_path):
    # A tiny model: what would grow is what scorers keep, not the weights.
    config = ModelConfig(tiny_roberta(tmp_path))
    labels = {'entailment': 0, 'neutral': 1, 'contradiction': 2}
    scorer = NliScorer(SequenceNliModel(config, labels=labels, batch_size=128))

    def megabytes() -> float:
        gc.collect()
        with open('/proc/self/statm') as figures:
            return int(figures.read().split()[1]) * os.sysconf('SC_PAGE_SIZE') / 2**20

    def score(start: int, count: int) -> None:
        for i in range(start, start + count, 500):
            numbers = range(i, i + 500)
            scorer.score([Example(f'{n} bees ' * 9, f'they are {n}') for n in numbers])

    score(0, 1_000)
    before = megabytes()
    score(1_000, 4_000)
    assert megabytes() < before + 10


def test_models_can_be_released(monkeypatch):
    monkeypatch.setattr(backends, '_LOADED', {})
    loaded = weakref.ref(load_scorer('consistency').model._loaded)
    gc.collect()
    assert load_scorer('consistency').model._loaded is loaded()
    parlai_q2.release_models()
    gc.collect()
    assert loaded() is None


def test_a_model_is_loaded_once_for_all_that_read_with_it():
    q2 = load_scorer('q2').models
    assert load_scorer('nli').model._loaded is q2.nli._loaded
    read = AnswerReader()._model
    assert read._loaded is q2.answerer._loaded
    assert read.no_answer_threshold != q2.answerer.no_answer_threshold
