"""Devices: looked at before models load; GPUs without one, where the CPU computes."""

import ctypes
import logging

import ctranslate2
import pytest
import torch

from parlai_q2 import Example, load_scorer
from parlai_q2.cli.scorer_options import reranker_from_opt, scorer_device
from parlai_q2.errors import ConfigError
from parlai_q2.generate.model_place import ModelPlace
from parlai_q2.generate.strategies import Decoding
from parlai_q2.generate.writer import Writer
from parlai_q2.models import batches, device
from parlai_q2.models.batches import in_halves
from parlai_q2.models.converted import engine
from parlai_q2.models.device import (
    check_device,
    choose_device,
    find_problem,
    load_cublas,
)
from parlai_q2.scorers import backends

EXAMPLES = [
    Example('Bees have five eyes.', f'They have {count} eyes.')
    for count in ('five', 'six', 'two', 'nine', 'ten')
]


@pytest.fixture(autouse=True)
def afresh(monkeypatch):
    """Nothing is known of GPUs, and no model is loaded."""
    cached = (load_cublas, find_problem, engine.effective_type)
    for function in cached:
        function.cache_clear()
    monkeypatch.setattr(backends, '_LOADED', {})
    monkeypatch.setattr(batches, '_warned_sizes', [])
    yield
    for function in cached:
        function.cache_clear()


class OnCpu:
    """CTranslate2's encoder of a GPU with memory for so many texts, on the CPU."""

    room = 1000

    def __init__(self, place, name, device_index=0, compute_type='', **options):
        assert (name, compute_type) == ('cuda', 'float16')
        self.encoder = ctranslate2_encoder(place, 'cpu', **options)

    def forward_batch(self, ids, lengths, token_type_ids):
        if len(token_type_ids) > self.room:
            raise RuntimeError('CUDA failed with error out of memory')
        return self.encoder.forward_batch(ids, lengths, token_type_ids=token_type_ids)


ctranslate2_encoder = ctranslate2.Encoder


@pytest.fixture
def one_gpu(monkeypatch):
    """A machine with one GPU and the libraries."""
    monkeypatch.setattr(ctranslate2, 'get_cuda_device_count', lambda: 1)
    types = {'float32', 'float16', 'int8'}
    monkeypatch.setattr(
        ctranslate2, 'get_supported_compute_types', lambda name, index: types
    )
    monkeypatch.setattr(ctypes, 'CDLL', lambda name, mode=0: None)
    monkeypatch.setattr(ctranslate2, 'Encoder', OnCpu)
    array = engine.ConvertedEncoder._array

    def from_cpu(self, view):
        self.on_gpu, before = False, self.on_gpu
        try:
            return array(self, view)
        finally:
            self.on_gpu = before

    monkeypatch.setattr(engine.ConvertedEncoder, '_array', from_cpu)
    return monkeypatch


def test_a_gpu_that_works_is_used_in_fp16(one_gpu):
    assert scorer_device({}) == 'cuda'
    assert scorer_device({'gpu': 0}) == 'cuda:0'
    assert scorer_device({'no_cuda': True}) == 'cpu'
    scorer = load_scorer('consistency', device='auto')
    assert 'ctranslate2-float16-cuda' in str(scorer.signature)
    assert len(scorer.score(EXAMPLES)) == len(EXAMPLES)


def test_questions_are_written_in_fp32_on_a_gpu(one_gpu):
    q2 = load_scorer('q2', device='cuda')
    assert 'qg_engine:ctranslate2-float32-cuda' in str(q2.signature)


@pytest.mark.parametrize('wanted', ['cuda', 'cpu'])
def test_relevance_is_read_on_the_device_of_the_scorers(one_gpu, wanted):
    reranker = reranker_from_opt({'choose': 'precision', 'scorer_device': wanted})
    settings = reranker.relevance_reader.settings.values()
    assert any('cuda' in str(value) for value in settings) == (wanted == 'cuda')


def test_logs_nothing_without_a_gpu(monkeypatch, caplog):
    monkeypatch.setattr(device, 'gpus', list)
    assert scorer_device({'scorer_device': 'auto'}) == 'cpu'
    assert not caplog.records


@pytest.mark.parametrize('step', ['load', 'call'])
def test_a_gpu_that_fails_gives_one_line_and_the_cpu(one_gpu, caplog, step):
    def fail(*args, **options):
        raise RuntimeError('CUDA driver version is insufficient')

    if step == 'load':
        one_gpu.setattr(ctranslate2, 'Encoder', fail)
    else:
        one_gpu.setattr(OnCpu, 'forward_batch', fail)
    caplog.set_level(logging.WARNING)
    for _ in range(2):
        assert choose_device() == 'cpu'
    (record,) = caplog.records
    assert 'The models run on the CPU' in record.getMessage()
    assert 'driver version is insufficient' in record.getMessage()


def find_no_library(name, mode=0):
    raise OSError(f'{name}: cannot open shared object file')


def test_a_library_that_is_missing_is_named_with_the_extra(one_gpu, caplog):
    one_gpu.setattr(ctypes, 'CDLL', find_no_library)
    with pytest.raises(ConfigError, match=r'libcublasLt.so.12.*parlai_q2\[cuda\]'):
        load_scorer('consistency', device='cuda').score(EXAMPLES)
    assert choose_device() == 'cpu'
    assert 'parlai_q2[cuda]' in caplog.text


def test_a_generator_names_a_missing_library_too(one_gpu, tmp_path):
    one_gpu.setattr(ctypes, 'CDLL', find_no_library)
    for name in ('cuda', 'cuda:0', 'auto'):
        with pytest.raises(ConfigError, match=r'libcublasLt.so.12.*--device cpu'):
            Writer(ModelPlace(tmp_path, name), 'Translator', [], 1, Decoding())


def test_libraries_come_from_where_pip_puts_them(tmp_path, monkeypatch):
    folder = tmp_path / 'nvidia' / 'cublas'
    (folder / 'lib').mkdir(parents=True)
    (folder / '__init__.py').touch()
    monkeypatch.syspath_prepend(tmp_path)
    opened = []
    monkeypatch.setattr(ctypes, 'CDLL', lambda name, mode=0: opened.append(name))
    load_cublas()
    assert opened == [f'{folder}/lib/{name}' for name in device.LIBRARIES]


def test_a_batch_that_does_not_fit_is_read_in_halves(one_gpu, caplog):
    scorer = load_scorer('consistency', device='cuda')
    scores = scorer.score(EXAMPLES)
    one_gpu.setattr(OnCpu, 'room', 2)
    assert scorer.score(EXAMPLES) == scores
    (record,) = caplog.records
    assert '--scorer-batch-size' in record.getMessage()
    loaded, _ = scorer.model._loaded()
    assert loaded.batch_size <= 2


def test_rejects_a_single_text_too_large_for_the_gpu():
    class Model:
        batch_size = 8

    def read(items):
        raise RuntimeError('CUDA out of memory')

    with pytest.raises(RuntimeError, match='out of memory'):
        in_halves(read, 'abc', Model())


@pytest.mark.parametrize('name', ['gpu0', 'cuda:x', '', 'cuda:0,cuda:1'])
def test_rejects_unknown_devices(name):
    with pytest.raises(ConfigError, match=r'no device. Use cpu or cuda:0'):
        check_device(name)


@pytest.mark.parametrize(
    'gpus, message', [([], 'none'), (['cuda:0', 'cuda:1'], 'cuda:0, cuda:1')]
)
def test_a_gpu_that_is_not_there_is_told_with_those_that_are(
    monkeypatch, gpus, message
):
    monkeypatch.setattr(device, 'gpus', lambda: gpus)
    expected = f"'cuda:2', which is not available.*are seen: {message}."
    with pytest.raises(ConfigError, match=expected):
        check_device('cuda:2')


def test_accepts_available_devices(monkeypatch):
    monkeypatch.setattr(device, 'gpus', lambda: ['cuda:0'])
    for name in ('cpu', 'cuda', 'cuda:0'):
        check_device(name)


@pytest.mark.parametrize('scorer', ['q2', 'consistency', 'nli', 'grounded_fast'])
def test_missing_devices_are_rejected_before_a_model_loads(monkeypatch, scorer):
    monkeypatch.setattr(device, 'gpus', list)
    with pytest.raises(ConfigError, match='no device'):
        load_scorer(scorer, device='gpu0')
    # Where it is made need not be where it scores.
    made = load_scorer(scorer, device=torch.device('cuda'))
    with pytest.raises(ConfigError, match='not available'):
        made.score([Example('Bees have five eyes.', 'They have five eyes.')])
