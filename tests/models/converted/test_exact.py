"""A batch gives what its inputs give alone, to the bit: shuffled, long and short."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from parlai_q2.models.batching import equal_batches
from parlai_q2.models.nli import SequenceNliModel
from parlai_q2.models.question_answering import SpanQuestionAnswerer
from parlai_q2.models.question_generation import Seq2SeqQuestionGenerator
from parlai_q2.presets import ModelConfig, load_preset
from parlai_q2.q2.ask import context_of
from parlai_q2.scripts.bench import sample
from parlai_q2.text.spans import informative_spans

# Cores, and inputs a call: alone, many, and some on two cores. Each is a model to load.
HOW = ((1, 1), (1, 32), (2, 3))
LONG = 'Bees have five eyes and they live in a hive of wax. ' * 40


def made(kind, section, monkeypatch, cores, preset='mini', **options):
    monkeypatch.setenv('OMP_NUM_THREADS', str(cores))
    config = load_preset(preset).model(section)
    known = {'with', 'share'}
    settings = {k: v for k, v in config.settings.items() if k not in known}
    return kind(ModelConfig(config.model), **{**settings, **options})


def pairs():
    """Knowledge and responses of the sample, one token, and more than can be read."""
    found = [(f['knowledge'], f['response']) for f in sample()[:40]]
    return [*found, ('a', 'b'), (LONG, 'Bees live in wax.'), ('Bees', LONG), ('', '')]


def same_in_any_batch(read, inputs):
    alone = {one: read(1, 1)([one])[0] for one in inputs}
    rng = random.Random(5)
    for how in HOW:
        some = rng.sample(inputs, len(inputs))
        assert read(*how)(some) == [alone[one] for one in some]


@pytest.mark.slow
@pytest.mark.parametrize('preset', ['mini', 'base'])
def test_the_detectors(monkeypatch, preset):
    models = {
        (cores, size): made(
            SequenceNliModel, 'detector', monkeypatch, cores, preset, batch_size=size
        )
        for cores, size in HOW
    }
    inputs = pairs() if preset == 'mini' else pairs()[-8:]
    for model in models.values():
        model._loaded()
    same_in_any_batch(lambda *key: models[key].classify, inputs)


@pytest.mark.slow
def test_the_question_answerer(monkeypatch):
    inputs = [('what is it about?', text) for pair in pairs()[-24:] for text in pair]
    inputs += [('who has ' + 'very ' * 99 + 'many eyes?', LONG)]
    inputs = list(dict.fromkeys(inputs))
    models = {
        (cores, size): made(
            SpanQuestionAnswerer,
            'question_answering',
            monkeypatch,
            cores,
            batch_size=size,
        )  # fmt: skip
        for cores, size in HOW
    }
    same_in_any_batch(lambda *key: models[key].answer, inputs)


@pytest.mark.slow
def test_the_question_generator(monkeypatch):
    responses = [response for _, response in pairs() if response][:3]
    inputs = [
        (span.text, context_of(response, span, 90))
        for response, spans in zip(responses, informative_spans(responses), strict=True)
        for span in spans
    ]
    inputs = list(dict.fromkeys([*inputs, ('a', 'a'), ('wax', LONG)]))
    models = {
        (cores, size): made(
            Seq2SeqQuestionGenerator,
            'question_generation',
            monkeypatch,
            cores,
            batch_size=size,
        )  # fmt: skip
        for cores, size in HOW
    }
    same_in_any_batch(lambda *key: models[key].generate, inputs)


def test_in_fp32_too(monkeypatch):
    inputs = pairs()[-7:]
    models = {
        (cores, size): made(
            SequenceNliModel,
            'detector',
            monkeypatch,
            cores,
            batch_size=size,
            compute_type='float32',
        )  # fmt: skip
        for cores, size in HOW
    }
    same_in_any_batch(lambda *key: models[key].classify, inputs)


def test_calls_have_inputs_of_one_length_and_so_many_tokens():
    lengths = [7, 90, 7, 7, 90, 300, 7]
    batches = equal_batches(lengths, 32, 1, tokens=20)
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len({lengths[i] for i in batch}) == 1
        assert len(batch) == 1 or sum(lengths[i] for i in batch) <= 20
    assert len(batches) == 5  # of 7 tokens two share a call
    assert equal_batches(lengths, 32) == [[5], [1, 4], [0, 2, 3, 6]]


def test_threads_that_share_a_model_get_what_one_alone_gets(monkeypatch):
    model = made(SequenceNliModel, 'detector', monkeypatch, 2)
    inputs = pairs()[:9]
    expected = model.classify(inputs)
    with ThreadPoolExecutor(4) as threads:
        for found in threads.map(lambda _: model.classify(inputs), range(8)):
            assert found == expected
