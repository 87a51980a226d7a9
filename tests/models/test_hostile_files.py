"""
Damaged and hostile model folders and presets: an error of one line that names the file.
"""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest
from safetensors.torch import load_file, save_file

from parlai_q2 import Example
from parlai_q2.models.converted import binary
from parlai_q2.models.converted.folder import HEAD, MODEL
from parlai_q2.models.folder import (
    CHECKSUMS,
    INT8_WEIGHTS,
    read_object,
    write_checksums,
)
from parlai_q2.models.hub import can_connect
from parlai_q2.models.references import shipped_folder
from parlai_q2.presets import load_preset

PAIR = [Example('Rome was built in 1776 by Bo.', 'Bo built Rome in 1778.')]
SECTIONS = {
    'consistency': ('detector', 'nli'),
    'question_answering': ('question_answering',),
    'question_generation': ('question_generation',),
}
# How many damaged files the fuzzers try.
PRESETS, FOLDERS = 40, 16
WORDS = 'name|model|[|]|{|}|: |\n|&a|*a|!!python/x|- '.split('|')
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


def one_line(error):
    assert '\n' not in str(error.value), str(error.value)
    return str(error.value)


def spoil(folder, weight):
    """Makes one number of a weight, or of its scales, no number."""
    if (folder / INT8_WEIGHTS).exists():
        stored = load_file(folder / INT8_WEIGHTS)
        stored[weight].view(-1)[0] = float('nan')
        save_file(stored, folder / INT8_WEIGHTS)
    elif weight in (head := load_file(folder / HEAD)):
        head[weight].view(-1)[0] = float('nan')
        save_file(head, folder / HEAD)
    else:
        read = binary.read((folder / MODEL).read_bytes())
        arrays = {name: array.copy() for name, array in read.arrays.items()}
        arrays[weight].reshape(-1)[0] = float('nan')
        (folder / MODEL).write_bytes(binary.write(replace(read, arrays=arrays)))
    relisted(folder)


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
    run = subprocess.run(
        [sys.executable, '-c', code], env=offline, capture_output=True, text=True
    )
    assert 'the hub cannot be reached' in run.stdout and 'False' in run.stdout
