"""Model references in signatures: a folder's contents count, not its name alone."""

import json
import os

import pytest

from parlai_q2.models.model_files import DIGITS, identified
from parlai_q2.models.nli import SequenceNliModel
from parlai_q2.presets import ModelConfig


def folder_of(tmp_path, **files):
    for name, content in files.items():
        (tmp_path / f'{name}.safetensors').write_bytes(content)
    (tmp_path / 'config.json').write_text('{"model_type": "bert"}')
    return ModelConfig(str(tmp_path))


def changed(tmp_path, path, content):
    """Write, with a time of its own: some file systems do not tell two writes apart."""
    path.write_bytes(content)
    later = path.stat().st_mtime_ns + 10**9
    os.utime(path, ns=(later, later))


def test_a_folder_that_was_trained_again_has_another_name(tmp_path):
    config = folder_of(tmp_path, model=b'one')
    before = identified(config)
    assert before.startswith(f'{tmp_path}@')
    assert len(before) == len(f'{tmp_path}@') + DIGITS
    changed(tmp_path, tmp_path / 'model.safetensors', b'two')
    assert identified(config) != before
    changed(tmp_path, tmp_path / 'model.safetensors', b'one')
    assert identified(config) == before


def test_training_logs_do_not_change_a_models_identity(tmp_path):
    config = folder_of(tmp_path, model=b'one')
    before = identified(config)
    for name in ('train.log', 'training_args.bin', 'trainer_state.json', 'README.md'):
        (tmp_path / name).write_text('step 1')
    assert identified(config) == before


def test_a_list_of_checksums_stands_for_its_files(tmp_path):
    config = folder_of(tmp_path, model=b'one')
    listed = tmp_path / 'sha256.json'
    listed.write_text(json.dumps({'model.safetensors': 'a'}))
    before = identified(config)
    changed(tmp_path, listed, json.dumps({'model.safetensors': 'b'}).encode())
    assert identified(config) != before


@pytest.mark.parametrize(
    'config',
    [
        ModelConfig('roberta-large'),
        ModelConfig('roberta-large', 'v1.0'),
        ModelConfig('/nowhere/at/all'),
    ],
)
def test_missing_folders_are_treated_as_hub_names(config):
    assert identified(config) == config.reference


def test_loaded_models_keep_their_identity(tmp_path):
    config = folder_of(tmp_path, model=b'one')
    model = SequenceNliModel(config)
    before = model.settings['nli']
    changed(tmp_path, tmp_path / 'model.safetensors', b'two')
    # Its weights are those that were there; another backend has the new ones.
    assert model.settings['nli'] == before
    assert SequenceNliModel(config).settings['nli'] == identified(config) != before
