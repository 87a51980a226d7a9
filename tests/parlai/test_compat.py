"""Each break of ParlAI under current torch, numpy and setuptools, and its bridge."""

import argparse
import io
import json
import os
import sys
from importlib.util import find_spec, module_from_spec
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer

from parlai_q2.errors import ConfigError
from parlai_q2.parlai import compat
from tests.files import run_python
from tests.tiny import tiny_t5

TASK = 'integration_tests:nocandidate'
TINY_GENERATOR = ['-m', 'transformer/generator', '--n-layers', '1', '--n-heads', '2']
TINY_GENERATOR += ['--embedding-size', '8', '--ffn-size', '8']
TINY_SEQ2SEQ = ['-m', 'seq2seq', '--embeddingsize', '8', '--hiddensize', '8']
TINY_SEQ2SEQ += '--numlayers 1 --lr-scheduler invsqrt --warmup-updates 2'.split()


# As with setuptools 81 and later, whatever is installed here.
WITHOUT_PKG_RESOURCES = """
import importlib.util, sys
find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: (
    None if name == 'pkg_resources' else find_spec(name, *rest)
)
class Hide:
    def find_spec(name, *rest):
        if name == 'pkg_resources':
            raise ModuleNotFoundError("No module named 'pkg_resources'")
sys.meta_path.insert(0, Hide)
"""


def train(model_file: Path, *options: str) -> list[str]:
    """The options of a training run of a few steps."""
    words = ['-t', TASK, '-mf', str(model_file), '--skip-generation', 'true']
    words += ['--max-train-steps', '4', '--batchsize', '8', '--loglevel', 'error']
    words += ['--validation-metric', 'ppl', '--validation-every-n-steps', '2']
    words += ['--validation-max-exs', '8', '--short-final-eval', 'true']
    return [*words, *options]


def test_training_and_loading_work_with_the_bridges(tmp_path):
    from parlai.scripts.train_model import TrainModel

    compat.apply()
    # The training script loads the best model it has saved, and tests it.
    for name, options in (('one', TINY_GENERATOR), ('other', TINY_SEQ2SEQ)):
        _, report = TrainModel.main(*train(tmp_path / name, *options))
        assert report['exs'] > 0
    saved = json.loads((tmp_path / 'one.opt').read_text())
    assert saved['lr_scheduler'] == 'reduceonplateau'


def test_checkpoints_load_with_weights_only():
    compat.apply()
    # fairseq's options, and a learning rate that a schedule computed.
    states = {'args': argparse.Namespace(arch='bart_large'), 'lr': np.float32(0.5)}
    saved = io.BytesIO()
    torch.save(states, saved)
    saved.seek(0)
    assert torch.load(saved, map_location=lambda storage, _: storage) == states


def test_command_runs_without_pkg_resources():
    code = WITHOUT_PKG_RESOURCES + (
        'from parlai_q2.__main__ import run; run()\n'
        'assert not {"pkg_resources", "parlai.scripts.vacuum"} & set(sys.modules)'
    )
    words = ['display_data', '-t', TASK, '--num-examples', '1']
    one_thread = {**os.environ, 'OMP_NUM_THREADS': '1', 'PYTHONWARNINGS': 'ignore'}
    completed = run_python(code, *words, env=one_thread, timeout=300)
    assert completed.returncode == 0, completed.stderr[-2000:]
    assert 'NEW EPISODE' in completed.stdout


def test_the_dictionary_of_parlais_t5_reads_with_a_fast_tokenizer(
    tmp_path, monkeypatch
):
    # A copy of its own: the bridge may be there already.
    name = 'parlai.agents.hugging_face.dict'
    spec = find_spec(name)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(sys.modules, name, module)

    class Plain(module.HuggingFaceDictionaryAgent):
        def get_tokenizer(self, opt):
            return AutoTokenizer.from_pretrained(tiny_t5(tmp_path))

        def override_special_tokens(self, opt):
            pass

        add_special_tokens, skip_decode_special_tokens = False, True

    dictionary = Plain.__new__(Plain)
    dictionary.hf_tokenizer, dictionary.max_length = dictionary.get_tokenizer({}), 4
    with pytest.raises((TypeError, ValueError), match='pad_to_max_length'):
        dictionary.txt2vec('when was it')
    compat.bridge_hugging_face_dictionary()
    assert len(dictionary.txt2vec('when was it formed in 1983')) == 4


@pytest.mark.parametrize(
    'program, message',
    [('/bin/parlai', True), ('/of/parlai/__main__.py', True), ('x', False)],
)
def test_only_parlais_own_command_hides_tracebacks(
    program, message, monkeypatch, capsys
):
    passed_on = []
    hook = lambda *rest: passed_on.append(rest)  # noqa: E731
    monkeypatch.setattr(sys, 'argv', [program])
    monkeypatch.setattr(sys, 'excepthook', hook)
    compat.bridge_errors()
    for error in (ConfigError('No such scorer.'), ZeroDivisionError('of others')):
        sys.excepthook(type(error), error, None)
    assert capsys.readouterr().err == 'No such scorer.\n' * message
    assert [str(error) for _, error, _ in passed_on][-1] == 'of others'
    assert len(passed_on) == 2 - message
