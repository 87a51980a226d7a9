"""Models in folders load once, when first needed, or it is said what is wrong."""

import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from transformers import (
    AutoModelForQuestionAnswering,
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    T5ForConditionalGeneration,
)

from parlai_q2.errors import ModelError, ModelNotFoundError
from parlai_q2.models import loading
from parlai_q2.models.converted.reader import read_tensors
from parlai_q2.models.converted.weights import read_whole
from parlai_q2.models.lazy import Lazy
from parlai_q2.models.model_files import (
    CHECKSUMS,
    INT8_WEIGHTS,
    shipped_folder,
    write_checksums,
)
from parlai_q2.models.nli import SequenceNliModel
from parlai_q2.presets import ModelConfig
from tests.files import run_python
from tests.tiny import tiny_roberta, tiny_t5, write_int8

FILES = (INT8_WEIGHTS, 'config.json', 'tokenizer.json', 'tokenizer_config.json')


@pytest.fixture
def folder(tmp_path):
    """A folder as it ships: int8 weights and their checksums."""
    tiny_t5(tmp_path)
    state = T5ForConditionalGeneration.from_pretrained(tmp_path).state_dict()
    (tmp_path / 'model.safetensors').unlink()
    write_int8(state, tmp_path / INT8_WEIGHTS)
    write_checksums(tmp_path, FILES)
    return tmp_path


def change(folder, **fields):
    file = folder / 'config.json'
    file.write_text(json.dumps({**json.loads(file.read_text()), **fields}))


def load(folder: Path, auto_class=AutoModelForSeq2SeqLM, **options):
    return loading.load_model(str(folder), auto_class, **options)


def test_a_folder_loads_ready_to_use(folder):
    model = load(folder)
    assert not model.training
    assert not any(p.requires_grad for p in model.parameters())
    stored = read_tensors(folder)
    for name, tensor in model.state_dict().items():
        assert tensor.dtype == torch.float32
        assert torch.allclose(tensor, torch.tensor(read_whole(stored, name)), atol=1e-6)


def test_files_are_those_that_are_listed(folder):
    config = folder / 'config.json'
    config.write_text(config.read_text() + ' ')
    with pytest.raises(ModelError, match=r'config.json was changed or cut short'):
        load(folder)
    (folder / CHECKSUMS).unlink()  # without a list they are taken as they are
    assert load(folder).config.d_model == 16
    write_checksums(folder, FILES)
    config.unlink()
    with pytest.raises(ModelError, match=r'config.json is missing. Reinstall'):
        load(folder)


def test_a_model_of_another_kind_is_refused(folder):
    change(folder, architectures=['T5EncoderModel'])
    write_checksums(folder, FILES)
    with pytest.raises(ModelError, match="'T5EncoderModel' are not converted"):
        load(folder)
    # A configuration that names none is no seq2seq model by chance.
    change(folder, architectures=None)
    write_checksums(folder, FILES)
    with pytest.raises(ModelError, match="'nothing'"):
        load(folder, AutoModelForQuestionAnswering)


@pytest.mark.parametrize('wrong', [None, torch.zeros(3, 3)])
def test_weights_that_do_not_fit_the_configuration_are_refused(folder, wrong):
    state = load(folder).state_dict()
    name = 'encoder.block.1.layer.1.DenseReluDense.wo.weight'
    del state[name]
    if wrong is not None:
        state[name] = wrong
    write_int8(state, folder / INT8_WEIGHTS)
    write_checksums(folder, FILES)
    with pytest.raises(
        ModelError, match=f'does not fit its config.json: .*({name}|ffn/linear_1)'
    ):
        load(folder)


@pytest.fixture
def plain_folder(tmp_path):
    """A classifier as ``save_pretrained`` writes it."""
    return Path(tiny_roberta(tmp_path))


@pytest.mark.parametrize(
    'damage', ['cut short', '[]', '{"model_type": "t5"', {'hidden_size': 64}]
)
def test_errors_name_the_problem_of_a_folder(plain_folder, damage):
    load(plain_folder, AutoModelForSequenceClassification)
    weights = plain_folder / 'model.safetensors'
    if isinstance(damage, dict):
        change(plain_folder, **damage)
    elif damage == 'cut short':
        weights.write_bytes(weights.read_bytes()[:1000])
    else:
        (plain_folder / 'config.json').write_text(damage)
    with pytest.raises(ModelError, match=f'Cannot load .*{plain_folder.name}') as error:
        load(plain_folder, AutoModelForSequenceClassification)
    assert not isinstance(error.value, ModelNotFoundError)


def test_code_in_a_folder_is_not_run_and_nobody_is_asked(plain_folder, monkeypatch):
    code = "open({!r}, 'w').close()\nclass Evil: pass\n"
    ran = plain_folder / 'ran'
    (plain_folder / 'evil.py').write_text(code.format(str(ran)))
    change(plain_folder, model_type='evil', auto_map={'AutoConfig': 'evil.Evil'})

    def asked(*words):
        raise AssertionError('a person was asked')

    monkeypatch.setattr('builtins.input', asked)
    with pytest.raises(ModelError, match='code of its own, which is never run'):
        load(plain_folder, AutoModelForSequenceClassification)
    assert not ran.exists()


@pytest.mark.parametrize('scheme, port', [('http', 80), ('https', 443)])
def test_a_mirror_is_asked_at_the_port_of_its_address(monkeypatch, scheme, port):
    asked = []
    monkeypatch.setattr('huggingface_hub.constants.HF_HUB_OFFLINE', False)
    monkeypatch.setattr('huggingface_hub.constants.ENDPOINT', f'{scheme}://mirror')
    monkeypatch.delenv('TRANSFORMERS_OFFLINE', raising=False)
    monkeypatch.setattr(loading, 'getproxies', dict)
    monkeypatch.setattr(loading, 'can_connect', lambda *place: asked.append(place))
    loading.is_reachable.__wrapped__()
    assert asked == [('mirror', port)]


@pytest.mark.parametrize('proxy', ['proxy:3128', 'http://proxy:3128'])
def test_a_proxy_needs_no_scheme(monkeypatch, proxy):
    asked = []
    monkeypatch.setattr('huggingface_hub.constants.HF_HUB_OFFLINE', False)
    monkeypatch.setattr('huggingface_hub.constants.ENDPOINT', 'https://hub')
    monkeypatch.delenv('TRANSFORMERS_OFFLINE', raising=False)
    monkeypatch.setattr(loading, 'getproxies', lambda: {'https': proxy})
    monkeypatch.setattr(loading, 'can_connect', lambda *place: asked.append(place))
    loading.is_reachable.__wrapped__()
    assert asked == [('proxy', 3128)]


def test_an_installation_without_its_models_says_so():
    with pytest.raises(ModelNotFoundError, match='incomplete; reinstall parlai_q2'):
        shipped_folder('q2_maxi/consistency')


@pytest.mark.parametrize('reference', ['folder', 'shipped:q2_mini/consistency'])
def test_the_host_programs_settings_do_not_round_weights(plain_folder, reference):
    change(plain_folder, dtype=None)
    reference = str(plain_folder) if reference == 'folder' else reference
    plain = loading.load_model(reference, AutoModelForSequenceClassification)
    torch.set_default_dtype(torch.bfloat16)
    try:
        model = loading.load_model(reference, AutoModelForSequenceClassification)
        assert torch.get_default_dtype() == torch.bfloat16
    finally:
        torch.set_default_dtype(torch.float32)
    expected = plain.state_dict()
    for name, weights in model.state_dict().items():
        assert torch.equal(weights, expected[name]), name


def test_autocast_does_not_change_scores(plain_folder):
    labels = {'entailment': 0, 'neutral': 1, 'contradiction': 2}
    config = ModelConfig(str(plain_folder))
    pairs = [('they are in la', 'the band formed in 1983'), ('wow', 'wow')]
    expected = SequenceNliModel(config, labels=labels).classify(pairs)
    with torch.autocast('cpu', dtype=torch.bfloat16):
        assert SequenceNliModel(config, labels=labels).classify(pairs) == expected


def test_threads_that_come_at_once_get_one_model():
    loads = []

    def load():
        loads.append(None)
        return object()

    lazy = Lazy(load)
    assert loads == []
    with ThreadPoolExecutor(8) as pool:
        values = set(pool.map(lambda _: lazy(), range(64)))
    assert len(values) == len(loads) == 1


def test_another_process_loads_its_own():
    lazy = Lazy(dict)
    lazy()['mine'] = 1
    assert pickle.loads(pickle.dumps(lazy))() == {}


def test_a_forked_process_loads_its_own_and_scores():
    code = (
        'import os\nfrom parlai_q2 import Example, load_scorer\n'
        'scorer = load_scorer("consistency")\n'
        'pair = [Example("Bees have five eyes.", "Bees have six eyes.")]\n'
        'value = scorer.score(pair)[0].value\n'
        'child = os.fork()\n'
        'if not child:\n    os._exit(scorer.score(pair)[0].value != value)\n'
        'assert os.waitpid(child, 0)[1] == 0\n'
    )
    assert run_python(code, timeout=120).returncode == 0
