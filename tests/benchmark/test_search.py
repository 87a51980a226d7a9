"""
The searches side by side, on a small model.
"""

from parlai_q2.benchmark import describe
from parlai_q2.benchmark.metric import as_published, measure_loop
from parlai_q2.benchmark.search import measure_search
from parlai_q2.models.question_generation import (
    AUTO,
    CTRANSLATE2,
    GENERATE,
    Seq2SeqQuestionGenerator,
)
from parlai_q2.presets import ModelConfig
from parlai_q2.q2.metric import Q2Models
from parlai_q2.records import Span
from parlai_q2.scorers.q2 import Q2Scorer
from parlai_q2.scripts.bench import by_ctranslate2
from tests.models.checkpoints import tiny_t5
from tests.toys import ToyNliModel, ToyQuestionAnswerer, ToyQuestionGenerator


def first_words(responses):
    return [[Span(r.split()[0], 0, len(r.split()[0]))] for r in responses]


def with_generator(generator):
    return Q2Models(generator, ToyQuestionAnswerer(), ToyNliModel(), first_words)


def test_both_searches_are_timed_and_compared(tmp_path):
    generator = Seq2SeqQuestionGenerator(ModelConfig(tiny_t5(tmp_path)))
    scorer = Q2Scorer(with_generator(generator))
    found = measure_search(scorer, ['los angeles', 'the band', 'los angeles'])
    assert found['spans'] == 2  # the same prompt once
    assert found['differ'] == 0
    assert found['auto'] > 0 and found['generate'] > 0
    text = describe.describe_search(found)
    assert 'our search' in text and 'generate' in text


def test_ctranslate2_takes_part_where_it_is(tmp_path, monkeypatch):
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
    model = ModelConfig(tiny_t5(tmp_path / 'model'))
    scorer = Q2Scorer(with_generator(Seq2SeqQuestionGenerator(model)))
    found = measure_search(scorer, ['los angeles', 'the band'])
    assert found['ctranslate2'] > 0 and 0 <= found['differ_in_first'] <= 2
    assert 'CTranslate2' in describe.describe_search(found)

    monkeypatch.setattr('parlai_q2.benchmark.search.find_spec', lambda name: None)
    found = measure_search(scorer, ['los angeles', 'the band'])
    assert 'ctranslate2' not in found
    assert 'CTranslate2' not in describe.describe_search(found)


def test_the_loop_of_the_published_code_generates(tmp_path):
    generator = Seq2SeqQuestionGenerator(ModelConfig(tiny_t5(tmp_path)))
    published = as_published(with_generator(generator)).generator
    assert published.search == GENERATE
    assert published._loaded is generator._loaded  # the same model
    assert generator.search != GENERATE


def test_a_generator_without_searches_stays(tmp_path):
    models = with_generator(ToyQuestionGenerator())
    assert as_published(models) is models


def test_a_loop_with_the_scorers_own_search(tmp_path, monkeypatch):
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
    model = ModelConfig(tiny_t5(tmp_path / 'model'))
    generator = Seq2SeqQuestionGenerator(model, search=CTRANSLATE2, max_new_tokens=6)
    scorer = Q2Scorer(with_generator(generator))
    assert by_ctranslate2(scorer)
    assert not by_ctranslate2(Q2Scorer(with_generator(generator.with_search(AUTO))))
    pairs = [('the band formed in 1983', 'los angeles'), ('the band', 'wow')]
    asked = []

    def recorded(self, given):
        asked.append(self.search)
        return [['What is it?'] for _ in given]

    monkeypatch.setattr(Seq2SeqQuestionGenerator, 'generate', recorded)
    for published, search in ((True, GENERATE), (False, CTRANSLATE2)):
        asked.clear()
        measure_loop(scorer, pairs, published)
        assert set(asked) == {search}
