"""The loop that all shipped models are trained by: it learns, and it goes on."""

import itertools
import json
import random
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from parlai_q2.errors import ConfigError, ModelError
from parlai_q2.models.loading import load_model, load_tokenizer
from parlai_q2.zoo.train import data, loop
from parlai_q2.zoo.train.checkpoint import NAME, drop_checkpoint, read_checkpoint
from parlai_q2.zoo.train.data import epoch, padded, stream
from parlai_q2.zoo.train.loop import LoopSettings, progress, rate, train
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


def test_after_the_last_step_nothing_is_done_again_until_the_checkpoint_is_dropped(
    folder, tmp_path
):
    settings = replace(SETTINGS, steps=3)
    first, log = run(folder, tmp_path, settings)

    def trains_no_more(job):
        job.loss = job.validate = never

    again, log_again = run(folder, tmp_path, settings, change=trains_no_more)
    assert same(first, again) and log_again == log
    drop_checkpoint(tmp_path)
    assert not list(tmp_path.iterdir())
    with pytest.raises(pytest.fail.Exception):
        run(folder, tmp_path, settings, change=trains_no_more)


def test_a_stop_in_the_last_validation_loses_no_step(folder, tmp_path):
    settings = replace(SETTINGS, steps=3)
    whole, log = run(folder, tmp_path / 'whole', settings)

    def stops(job):
        def validate(model, device):
            raise Stopped

        job.validate = validate

    with pytest.raises(Stopped):
        run(folder, tmp_path / 'parts', settings, change=stops)

    def trains_no_more(job):
        job.loss = never

    again, log_again = run(folder, tmp_path / 'parts', settings, change=trains_no_more)
    assert same(whole, again) and timeless(log_again) == timeless(log)


def test_when_time_was_up_it_still_is_after_a_stop(folder, tmp_path):
    settings = replace(SETTINGS, max_minutes=1e-4)
    first, log = run(folder, tmp_path, settings)

    def trains_no_more(job):
        job.loss = never

    again, log_again = run(folder, tmp_path, settings, change=trains_no_more)
    assert same(first, again) and log_again == log


def test_without_checkpoints_nothing_is_left(folder, tmp_path):
    run(folder, tmp_path, replace(SETTINGS, steps=3, save_every=0))
    assert not list(tmp_path.iterdir())


def test_a_checkpoint_of_another_run_is_refused(folder, tmp_path):
    settings = replace(SETTINGS, steps=6, save_every=2)
    with pytest.raises(Stopped):
        run(folder, tmp_path, settings, stop_at=4)
    with pytest.raises(ConfigError, match='another learning_rate'):
        run(folder, tmp_path, replace(settings, learning_rate=1e-3))


@pytest.mark.parametrize(
    'identity, changed',
    [
        ({'data': {'a': 'y'}, 'frozen': []}, 'data'),
        ({'data': {'a': 'x'}, 'frozen': ['bert']}, 'frozen'),
        ({'data': {'b': 'x'}, 'frozen': [], 'rank': 4}, 'data, rank'),
        (None, 'data, frozen'),
    ],
)
def test_a_checkpoint_of_other_things_is_refused(folder, tmp_path, identity, changed):
    settings = replace(SETTINGS, steps=2)
    mine = {'data': {'a': 'x'}, 'frozen': []}
    _, log = run(folder, tmp_path, settings, identity=mine)
    with pytest.raises(ConfigError, match=f'another {changed}. Give the same'):
        run(folder, tmp_path, settings, identity=identity)
    assert run(folder, tmp_path, settings, identity=mine)[1] == log


def test_a_checkpoint_that_was_cut_short_is_named(folder, tmp_path):
    (tmp_path / NAME).write_bytes(b'PK')
    with pytest.raises(ModelError, match=NAME):
        run(folder, tmp_path)


def test_a_loss_that_is_no_number_ends_the_run(folder, tmp_path):
    model, job = new(folder)
    job.loss = lambda model, tensors: sum(p.sum() for p in model.parameters()) / 0.0
    with pytest.raises(ConfigError, match='step 1'):
        train(model, job, job.encode(CLASS_ROWS), SETTINGS, tmp_path)


def test_nothing_to_train_on_is_an_error(folder, tmp_path):
    model, job = new(folder)
    with pytest.raises(ConfigError, match='no examples'):
        train(model, job, [], SETTINGS, tmp_path)


def test_when_time_is_up_the_run_ends_and_is_logged(folder, tmp_path):
    _, log = run(folder, tmp_path, replace(SETTINGS, max_minutes=1e-4))
    assert log[-1]['step'] < 150
    assert 'accuracy' in log[-1]
    assert json.dumps(log)


def test_the_rate_rises_and_then_falls_to_zero():
    settings = LoopSettings(steps=100, batch_size=1, learning_rate=1.0, warm_up=0.1)
    # Step 0 of ten warm-up steps, of 100: 1/10; half way: 1/2.
    assert rate(0, progress(0, 0, settings), settings) == pytest.approx(0.1)
    assert rate(50, progress(50, 0, settings), settings) == pytest.approx(0.5)
    assert rate(99, progress(99, 0, settings), settings) == pytest.approx(0.01)


def test_the_rate_may_stay_until_the_last_steps():
    settings = LoopSettings(steps=100, batch_size=1, learning_rate=1.0, decay=0.2)
    assert rate(79, progress(79, 0, settings), settings) == pytest.approx(1.0)
    assert rate(90, progress(90, 0, settings), settings) == pytest.approx(0.5)
    assert rate(99, progress(99, 0, settings), settings) == pytest.approx(0.05)


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
    assert 0 < read_checkpoint(tmp_path / NAME)['step'] < 6


def test_of_steps_and_minutes_what_is_spent_first_counts():
    settings = LoopSettings(steps=100, batch_size=1, learning_rate=1.0, max_minutes=1.0)
    assert progress(10, 30, settings) == 0.5  # 30 of 60 seconds
    assert progress(80, 30, settings) == 0.8


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
    settings = replace(SETTINGS, in_order=True)
    assert known_order(settings) == known_order(settings)
    assert known_order(settings) != known_order(SETTINGS)


def known_order(settings):
    """
    The rows of an epoch's first batch as the loop takes them, five rows of two blocks.
    """
    taken = []

    class Recording:
        def length(self, sample):
            return 1

        def collate(self, batch):
            taken.extend(batch)
            raise Stopped

    model = torch.nn.Linear(1, 1)
    rows = list(range(50))
    with pytest.raises(Stopped), tempfile.TemporaryDirectory() as folder:
        train(model, Recording(), rows, settings, Path(folder))
    return taken


def test_skipping_batches_leads_where_taking_them_does():
    def taken(skip):
        batches = stream(list(range(10)), 3, random.Random(7), lambda x: x)
        return [next(batches) for _ in range(skip + 3)][skip:]

    assert [taken(n)[0] for n in range(9)] == taken(0) + taken(3) + taken(6)
    assert taken(0) != taken(4)  # the second epoch has another order


def test_short_rows_are_filled_up():
    assert padded([[1, 2], [3]], 9).tolist() == [[1, 2], [3, 9]]


@pytest.mark.parametrize('share', [0.0, 1.1])
def test_a_decay_that_is_no_share_is_refused(share):
    with pytest.raises(ConfigError, match='decay'):
        LoopSettings(steps=1, batch_size=1, learning_rate=1.0, decay=share)


def test_settings_that_make_no_run_are_refused():
    with pytest.raises(ConfigError, match='at least 1'):
        LoopSettings(steps=0, batch_size=1, learning_rate=1.0)
