"""The loop that all shipped models are trained by: it learns, and it goes on."""

import itertools
import random
from dataclasses import replace

import pytest
import torch

from parlai_q2.errors import ConfigError, ModelError
from parlai_q2.models.loading import load_model, load_tokenizer
from parlai_q2.zoo.train import data, loop
from parlai_q2.zoo.train.checkpoint import NAME
from parlai_q2.zoo.train.data import epoch
from parlai_q2.zoo.train.loop import LoopSettings, rate, train
from parlai_q2.zoo.train.train_classifier import ClassJob
from tests.zoo.tiny_training import CLASS_ROWS, encoder

SETTINGS = LoopSettings(
    steps=150, batch_size=3, learning_rate=3e-3, log_every=50, valid_every=150
)


class Stopped(Exception):
    """What stands for a kill."""


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    return encoder(tmp_path_factory.mktemp('models') / 'bert')


def new(folder):
    from transformers import AutoModelForSequenceClassification

    torch.manual_seed(2)
    model = load_model(folder, AutoModelForSequenceClassification, num_labels=3)
    job = ClassJob(load_tokenizer(folder), max_tokens=32)
    job.valid = job.encode(CLASS_ROWS)
    return model.requires_grad_(True), job


def run(folder, outdir, settings=SETTINGS, stop_at=0, change=None, identity=None):
    model, job = new(folder)
    if change:
        change(job)
    torch.manual_seed(settings.seed)
    loss, steps = job.loss, iter(range(1, 1000))

    def stopping(model, tensors):
        if next(steps) == stop_at:
            raise Stopped
        return loss(model, tensors)

    job.loss = stopping
    data = job.encode(CLASS_ROWS)
    return model, train(model, job, data, settings, outdir, identity=identity)


def never(*_):
    pytest.fail('trained or validated again')


def timeless(log):
    return [{k: v for k, v in entry.items() if k != 'seconds'} for entry in log]


def same(one, other):
    pairs = zip(one.state_dict().values(), other.state_dict().values(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


def test_what_can_be_told_apart_is_learnt(folder, tmp_path):
    _, log = run(folder, tmp_path, replace(SETTINGS, dropout=0.0))
    assert [entry['step'] for entry in log] == [50, 100, 150]
    assert log[-1]['train'] < log[0]['train'] / 2
    assert log[-1]['accuracy'] == 1.0


@pytest.mark.parametrize('stop_at', [5, 8, 12])
def test_a_stopped_run_ends_with_the_weights_it_would_have_had(
    folder, tmp_path, stop_at
):
    # Dropout is on, so torch's random state matters.
    settings = replace(SETTINGS, steps=14, save_every=4)
    whole, log = run(folder, tmp_path / 'whole', settings)
    with pytest.raises(Stopped):
        run(folder, tmp_path / 'parts', settings, stop_at=stop_at)
    torch.manual_seed(99)
    again, log_again = run(folder, tmp_path / 'parts', settings)
    assert same(whole, again)
    assert timeless(log_again) == timeless(log)


def test_a_checkpoint_that_was_cut_short_is_named(folder, tmp_path):
    (tmp_path / NAME).write_bytes(b'PK')
    with pytest.raises(ModelError, match=NAME):
        run(folder, tmp_path)


def test_what_cannot_be_trained_is_told(folder, tmp_path):
    model, job = new(folder)
    with pytest.raises(ConfigError, match='no examples'):
        train(model, job, [], SETTINGS, tmp_path)
    job.loss = lambda model, tensors: sum(p.sum() for p in model.parameters()) / 0.0
    with pytest.raises(ConfigError, match='step 1'):
        train(model, job, job.encode(CLASS_ROWS), SETTINGS, tmp_path)


@pytest.mark.parametrize(
    'changes, step, expected, why',
    [
        ({'warm_up': 0.1}, 0, 0.1, 'step 0 of ten warm-up steps: 1/10'),
        ({'warm_up': 0.1}, 50, 0.5, 'half way'),
        ({'warm_up': 0.1}, 99, 0.01, 'nearly zero'),
        ({'decay': 0.2}, 79, 1.0, 'the rate stays until the last fifth'),
        ({'decay': 0.2}, 90, 0.5, 'half of the fifth'),
        ({'decay': 0.2}, 99, 0.05, 'nearly zero'),
    ],
)
def test_the_rate_rises_and_then_falls_to_zero(changes, step, expected, why):
    settings = LoopSettings(steps=100, batch_size=1, learning_rate=1.0, **changes)
    assert rate(step, settings) == pytest.approx(expected), why


def test_a_run_whose_rate_has_not_fallen_yet_may_be_made_longer(folder, tmp_path):
    settings = replace(SETTINGS, steps=10, save_every=2, warm_up=0.0, decay=0.5)
    with pytest.raises(Stopped):
        run(folder, tmp_path / 'longer', settings, stop_at=5)
    settings = replace(settings, steps=12, log_every=5, save_every=0, save_minutes=9)
    longer, _ = run(folder, tmp_path / 'longer', settings)
    whole, log = run(folder, tmp_path / 'whole', settings)
    assert log[-1]['step'] == 12 and same(longer, whole)


def test_a_checkpoint_is_kept_when_its_minutes_are_over(folder, tmp_path, monkeypatch):
    seconds = itertools.count(0, 40)
    monkeypatch.setattr(loop.time, 'time', lambda: next(seconds))
    settings = replace(SETTINGS, steps=9, save_every=0, save_minutes=1.0)
    with pytest.raises(Stopped):
        run(folder, tmp_path, settings, stop_at=6)
    saved = torch.load(tmp_path / NAME, weights_only=True)
    assert 0 < saved['step'] < 6


def test_an_epoch_has_each_example_once_and_batches_of_similar_length():
    data = [[0] * n for n in range(40)]
    batches = epoch(data, 4, random.Random(1), len)
    assert sorted(len(x) for batch in batches for x in batch) == list(range(40))
    assert all(len(batch[-1]) - len(batch[0]) == 3 for batch in batches)
    assert batches != sorted(batches)


def test_rows_in_order_are_taken_block_by_block(monkeypatch):
    monkeypatch.setattr(data, 'BLOCK', 2)
    rows = list(range(16))
    batches = epoch(rows, 2, random.Random(1), lambda x: x, shuffle=False)
    # Four rows a block: sorted into two batches, whose order is drawn.
    blocks = [batches[i : i + 2] for i in range(0, 8, 2)]
    assert [sorted(a + b) for a, b in blocks] == [
        rows[i : i + 4] for i in range(0, 16, 4)
    ]
    assert any(a > b for a, b in blocks)
