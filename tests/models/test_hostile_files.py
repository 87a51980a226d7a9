"""Damaged and hostile models and presets: an error of one line names the file."""

import json
import os
import random
import re
import shutil
import threading
import time
from dataclasses import replace

import pytest
from safetensors.torch import load_file, save_file

from parlai_q2 import Example, load_scorer
from parlai_q2.errors import ModelError, Q2Error
from parlai_q2.models.converted import binary
from parlai_q2.models.converted.reader import (
    ADAPTER,
    CONFIG_FILE,
    HEAD_FILE,
    MODEL_FILE,
)
from parlai_q2.models.loading import can_connect, load_seq2seq
from parlai_q2.models.model_files import (
    CHECKSUMS,
    INT8_WEIGHTS,
    read_object,
    shipped_folder,
    write_checksums,
)
from parlai_q2.models.question_generation import Seq2SeqQuestionGenerator
from parlai_q2.presets import ModelConfig, load_preset
from tests.files import run_python
from tests.tiny import tiny_t5

PAIR = [Example('Rome was built in 1776 by Bo.', 'Bo built Rome in 1778.')]
SECTIONS = {
    'consistency': ('detector', 'nli'),
    'question_answering': ('question_answering',),
    'question_generation': ('question_generation',),
}
VALUES = (None, True, -1, 0, 3, 1e400, 'x', [], [1], {}, {'a': []}, '\u0000', 10**30)


@pytest.fixture
def model(tmp_path):
    """Copies a shipped model to a folder."""

    def copied(name='consistency'):
        return shutil.copytree(shipped_folder(f'q2_mini/{name}'), tmp_path / name)

    return copied


def relisted(folder):
    write_checksums(folder, list(read_object(folder / CHECKSUMS)))


def preset_of(folder, name='consistency'):
    # A section with another model inherits nothing, so it repeats the settings.
    mini = load_preset('mini')
    path = folder.parent / 'own.yaml'
    fields = {
        section: {'model': str(folder), **mini.model(section).settings}
        for section in SECTIONS[name]
    }
    path.write_text(json.dumps({'name': 'own', 'base': 'mini', **fields}))
    return str(path)


def use(folder):
    """Loads a copied model, and scores with it if a scorer runs it."""
    if folder.name == 'reply':
        load_seq2seq(str(folder))
    else:
        scorer = 'q2' if folder.name == 'question_generation' else 'consistency'
        load_scorer(scorer, preset=preset_of(folder, folder.name)).score(PAIR)


@pytest.mark.parametrize('name', ['model.bin', 'config.json', 'tokenizer.json'])
def test_a_pipe_in_place_of_a_file_is_refused(model, name):
    folder = model()
    (folder / CHECKSUMS).unlink()
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(ModelError, match=re.escape(str(folder))):
        use(folder)


def one_line(error):
    assert '\n' not in str(error.value), str(error.value)
    return str(error.value)


def spoil(folder, weight):
    """Makes one number of a weight, or of its scales, no number."""
    if (folder / INT8_WEIGHTS).exists():
        stored = load_file(folder / INT8_WEIGHTS)
        stored[weight].view(-1)[0] = float('nan')
        save_file(stored, folder / INT8_WEIGHTS)
    elif weight in (head := load_file(folder / HEAD_FILE)):
        head[weight].view(-1)[0] = float('nan')
        save_file(head, folder / HEAD_FILE)
    else:
        read = binary.read((folder / MODEL_FILE).read_bytes())
        arrays = {name: array.copy() for name, array in read.arrays.items()}
        arrays[weight].reshape(-1)[0] = float('nan')
        (folder / MODEL_FILE).write_bytes(binary.write(replace(read, arrays=arrays)))
    relisted(folder)


@pytest.mark.parametrize(
    'name, weight, scorer',
    [
        ('consistency', 'weight', 'consistency'),
        ('consistency', 'encoder/layer_0/ffn/linear_1/weight_scale', 'grounded_fast'),
        ('question_generation', 'lm_head.weight.s', 'q2'),
    ],
)
def test_a_nan_among_the_weights_is_an_error_and_no_score(model, name, weight, scorer):
    folder = model(name)
    spoil(folder, weight)
    with pytest.raises(ModelError, match=r'not numbers|_scale does not fit') as error:
        load_scorer(scorer, preset=preset_of(folder, name)).score(PAIR)
    assert str(folder) in one_line(error)


def test_generation_rejects_values_that_are_not_finite(tmp_path):
    generator = Seq2SeqQuestionGenerator(
        ModelConfig(tiny_t5(tmp_path)),
        engine='transformers',
        num_beams=1,
        num_questions=1,
    )
    generator._loaded().model.lm_head.weight[5] = float('nan')
    with pytest.raises(ModelError, match='not numbers'):
        generator.generate([('Rome', 'Rome is old.')])


@pytest.mark.parametrize(
    'name, file, content',
    [
        ('consistency', CHECKSUMS, '{"config.json": 3}'),
        ('consistency', CHECKSUMS, '{"../x": "y"}'),
        ('consistency', CHECKSUMS, '[' * 100_000),
        ('reply', ADAPTER, '[]'),
        ('reply', ADAPTER, '{"base": 3}'),
        ('consistency', 'tokenizer_config.json', '[]'),
        ('consistency', CONFIG_FILE, '[]'),
        ('consistency', CONFIG_FILE, {'pad_token_id': []}),
        ('consistency', CONFIG_FILE, {'id2label': 3}),
        ('consistency', CONFIG_FILE, {'architectures': 3}),
        ('consistency', CONFIG_FILE, {'layer_norm_epsilon': 2147483648}),
        ('question_generation', CONFIG_FILE, '[]'),
        ('question_generation', CONFIG_FILE, {'num_heads': 0}),
        ('question_generation', CONFIG_FILE, {'layer_norm_epsilon': 'x'}),
        ('question_generation', CONFIG_FILE, {'num_layers': -1}),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_malformed_file_is_named(model, name, file, content):
    folder = model(name)
    path = folder / file
    if isinstance(content, dict):
        content = json.dumps({**json.loads(path.read_text()), **content})
    path.write_text(content)
    if file != CHECKSUMS:
        relisted(folder)
    with pytest.raises(Q2Error, match=str(folder)) as error:
        use(folder)
    one_line(error)
    if file != CONFIG_FILE:
        assert isinstance(error.value, ModelError)
        assert file in str(error.value)


def test_a_deeply_nested_preset_is_named(tmp_path):
    path = tmp_path / 'deep.yaml'
    path.write_text('name: ' + '[' * 1500 + ']' * 1500)
    with pytest.raises(Q2Error, match=r'deep.yaml.*nested') as error:
        load_preset(str(path))
    one_line(error)


@pytest.mark.parametrize('seed', range(12))
def test_a_preset_with_an_odd_value_loads_or_is_an_error_of_one_line(tmp_path, seed):
    rng = random.Random(seed)
    mini = load_preset('mini')
    path = tmp_path / 'mine.yaml'
    section = rng.choice(list(mini.models))
    settings = dict(mini.model(section).settings, model='some/model')
    settings[rng.choice([*settings, 'other', 'kernel'])] = rng.choice(VALUES)
    path.write_text(json.dumps({'base': 'mini', section: settings}))
    for scorer in ('q2', 'grounded_fast'):
        try:
            load_scorer(scorer, preset=str(path))
        except Q2Error as e:
            assert '\n' not in str(e), str(e)


def test_a_host_that_does_not_answer_is_given_up_soon(monkeypatch):
    started = time.monotonic()
    has_ended = threading.Event()

    def look_up(*_):
        # Looking up the address takes as long as it takes.
        has_ended.wait(30)
        raise TimeoutError

    monkeypatch.setattr('socket.create_connection', look_up)
    assert not can_connect('hub.invalid', 443, timeout=0.2)
    assert time.monotonic() - started < 5
    has_ended.set()


def test_a_hub_name_offline_is_refused_before_torch_is_imported(tmp_path):
    code = (
        'import sys\n'
        'from parlai_q2 import Example, Q2Error, load_preset, load_scorer\n'
        'preset = load_preset("paper")\n'
        'try:\n'
        '    load_scorer("nli", preset).score([Example("Bees sing.", "Bees sing.")])\n'
        'except Q2Error as e:\n'
        '    print(e, "torch" in sys.modules)\n'
    )
    offline = {**os.environ, 'HF_HUB_OFFLINE': '1', 'HF_HOME': str(tmp_path)}
    completed = run_python(code, env=offline)
    assert 'the hub cannot be reached' in completed.stdout
    assert 'False' in completed.stdout
