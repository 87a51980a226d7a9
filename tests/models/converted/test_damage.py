"""Damaged models, given by their path: an error that names them, never a crash."""

import json
import shutil

import numpy as np
import pytest

from parlai_q2.errors import ModelError
from parlai_q2.models.converted import binary
from parlai_q2.models.converted.binary import ENCODER, SEQ2SEQ, check
from parlai_q2.models.converted.reader import MODEL_FILE, read_model
from tests.models.converted.damage import damage, make_models, tried


@pytest.fixture(scope='module')
def models(tmp_path_factory):
    return make_models(tmp_path_factory.mktemp('models'))


@pytest.mark.slow
def test_a_damaged_model_is_an_error_or_a_score(models, tmp_path):
    damaged = [damage(models, tmp_path / str(n), n) for n in (*range(6), 482)]
    outcomes = tried(*damaged)
    assert len(outcomes) == len(damaged)
    assert set(outcomes) == {'error', 'scored'}


def test_written_models_are_read_back(models):
    data = (models['seq2seq'] / MODEL_FILE).read_bytes()
    assert binary.write(binary.read(data)) == data


@pytest.mark.parametrize(
    'kind, name, value, says',
    [
        ('encoder', 'encoder/num_heads', np.int16(0), 'num_heads is 0'),
        ('encoder', 'encoder/num_heads', np.int16(5), '96 features for 5 heads'),
        ('encoder', 'encoder/activation', np.int8(9), 'activation is 9'),
        ('encoder', 'encoder/layer_1/ffn/linear_1/bias', np.zeros(7, 'f4'), 'bias'),
        ('encoder', 'encoder/layer_0/ffn/linear_0/weight', None, 'different parts'),
        ('encoder', 'encoder/layer_3/x', np.int8(0), 'layer of the encoder is miss'),
        ('encoder', 'elsewhere', np.int8(0), "'elsewhere' is no part"),
        ('encoder', 'pooler_dense/weight', np.zeros((96, 4), 'f4'), 'shape'),
        ('seq2seq', 'decoder/projection/weight', np.zeros((9, 16), 'f4'), 'shape'),
        (
            'seq2seq',
            'decoder/layer_0/self_attention/relative_attention_max_distance',
            np.int32(3),
            'relative_attention_bias does not fit',
        ),
        (
            'encoder',
            'encoder/layer_0/ffn/layer_norm/gamma',
            np.full(96, np.nan, 'f4'),
            'not numbers',
        ),
    ],
)
def test_errors_name_parts_that_do_not_fit(models, kind, name, value, says):
    model = binary.read((models[kind] / MODEL_FILE).read_bytes())
    arrays = dict(model.arrays)
    if value is None:
        del arrays[name]
    else:
        arrays[name] = value
        arrays.pop(f'{name}_scale', None)
    architecture = ENCODER if kind == 'encoder' else SEQ2SEQ
    with pytest.raises(ValueError, match=says):
        check(
            binary.Model(model.spec, model.revision, arrays, model.aliases),
            architecture,
        )


def test_a_vocabulary_of_another_size_is_refused(models, tmp_path):
    folder = shutil.copytree(models['seq2seq'], tmp_path / 'model')
    words = json.loads((folder / 'shared_vocabulary.json').read_text())
    (folder / 'shared_vocabulary.json').write_text(json.dumps(words[:-1]))
    with pytest.raises(ModelError, match=r'has not .* rows, one for each word'):
        read_model(folder, SEQ2SEQ)
