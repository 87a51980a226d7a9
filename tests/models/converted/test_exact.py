"""A batch gives what its inputs give alone, to the bit, on one core and on two."""

import random

import pytest

from parlai_q2.bench.measuring import sample
from parlai_q2.models.batches import equal_batches
from parlai_q2.models.nli import SequenceNliModel
from parlai_q2.models.question_answering import SpanQuestionAnswerer
from parlai_q2.models.question_generation import Seq2SeqQuestionGenerator
from parlai_q2.presets import ModelConfig, load_preset
from parlai_q2.scorers.backends import MEAN_WITH

LONG = 'Bees have five eyes and they live in a hive of wax. ' * 40
PAIRS = [(record['knowledge'], record['response']) for record in sample()[:12]]
# One token, and more than can be read at once.
PAIRS += [('a', 'b'), (LONG, 'Bees live in wax.'), ('Bees', LONG), ('', '')]
QUESTIONS = [('what is it about?', text) for pair in PAIRS[-9:] for text in pair]
SPANS = [(text.split()[-1], text) for _, text in PAIRS[:4]]
SPANS += [('a', 'a'), ('wax', LONG)]
FLOAT = {'compute_type': 'float32'}


def load(kind, section, monkeypatch, cores, preset='mini', **options):
    monkeypatch.setenv('OMP_NUM_THREADS', str(cores))
    config = load_preset(preset).model(section)
    settings = {k: v for k, v in config.settings.items() if k != MEAN_WITH}
    return kind(ModelConfig(config.model), **{**settings, **options})


@pytest.mark.slow
@pytest.mark.parametrize(
    'kind, section, method, inputs, options',
    [
        (SequenceNliModel, 'detector', 'classify', PAIRS, {}),
        (SequenceNliModel, 'detector', 'classify', PAIRS[-7:-3], {'preset': 'base'}),
        (SequenceNliModel, 'detector', 'classify', PAIRS[-5:], FLOAT),
        (SpanQuestionAnswerer, 'question_answering', 'answer', QUESTIONS, {}),
        (Seq2SeqQuestionGenerator, 'question_generation', 'generate', SPANS, {}),
    ],
    ids=['detector', 'base', 'float32', 'answers', 'questions'],
)
def test_a_batch_equals_each_alone(monkeypatch, kind, section, method, inputs, options):
    inputs, options = list(dict.fromkeys(inputs)), dict(options)
    rng = random.Random(5)
    model = load(kind, section, monkeypatch, 1, batch_size=1, **options)
    alone = {item: getattr(model, method)([item])[0] for item in inputs}
    for cores, batch_size in ((1, 32), (2, 3)):
        model = load(
            kind, section, monkeypatch, cores, batch_size=batch_size, **options
        )
        shuffled = rng.sample(inputs, len(inputs))
        expected = [alone[item] for item in shuffled]
        assert getattr(model, method)(shuffled) == expected


def test_calls_have_inputs_of_one_length_and_a_limit_of_tokens():
    lengths = [7, 90, 7, 7, 90, 300, 7]
    batches = equal_batches(lengths, 32, 1, tokens=20)
    assert batches == [[5], [1], [4], [0, 2], [3, 6]]
    assert equal_batches(lengths, 32) == [[5], [1, 4], [0, 2, 3, 6]]


def test_inputs_of_similar_lengths_share_a_call(monkeypatch):
    model = load(SequenceNliModel, 'detector', monkeypatch, 1)
    pairs = [
        ('Bees live in hives of wax and wood.', 'Bees eat' + n * ' eat')
        for n in range(5)
    ]
    alone = [model.classify([pair])[0] for pair in pairs]
    encoder, _ = model._loaded()
    calls = []
    run = encoder._run
    monkeypatch.setattr(encoder, '_run', lambda *args: calls.append(args) or run(*args))
    assert model.classify(pairs) == alone
    assert len({len(item) for inputs, _ in calls for item in inputs}) == 5
    assert len(calls) == 2
