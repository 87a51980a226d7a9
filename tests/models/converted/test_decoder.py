"""A short decoder over another model's encoder: made, read, and refused."""

import json
import random
import struct

import numpy as np
import pytest
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from parlai_q2.errors import ModelError, Q2Error
from parlai_q2.models.converted import binary
from parlai_q2.models.converted.folder import MODEL, read_any
from parlai_q2.models.converted.from_decoder import KEPT
from parlai_q2.models.converted.layout import ENCODER, SEQ2SEQ
from parlai_q2.models.folder import write_checksums
from parlai_q2.models.loading import load_model
from parlai_q2.models.question_generation import Seq2SeqQuestionGenerator
from parlai_q2.presets import ModelConfig
from parlai_q2.zoo.train.convert import write_converted
from parlai_q2.zoo.train.train_decoder import DecoderJob, kept_tokens
from tests.tiny import in_int8, t5, tokenizer

ROWS = [
    {'a': '1983', 'c': 'the band formed in 1983', 'q': 'when formed the band ?'},
    {'a': 'la', 'c': 'the band formed in la', 'q': 'where formed the band ?'},
    {'a': 'rock', 'c': 'the band was rock', 'q': 'what was the band ?'},
]
PAIRS = [(row['a'], row['c']) for row in ROWS]


def make_base(folder, seed=3):
    folder.mkdir()
    size = tokenizer(folder, pair_tokens=False)
    special = {'eos_token_id': 4, 'tie_word_embeddings': False}
    model = t5(size, num_layers=4, seed=seed, **special)
    in_int8(model, folder)
    model.config.architectures = ['T5ForConditionalGeneration']
    model.config.save_pretrained(folder)
    write_checksums(folder, sorted(p.name for p in folder.iterdir()))
    return str(folder)


def write_decoder(base, out, layers=(0, 2)):
    words = AutoTokenizer.from_pretrained(base)
    job = DecoderJob(words, layers)
    model = job.student(load_model(base, AutoModelForSeq2SeqLM), ROWS)
    job.write(model, base, out)
    return job


@pytest.fixture(scope='module')
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp('models')
    base = make_base(place / 'base')
    write_decoder(base, place / 'decoder')
    return place


def asked(folder, **options):
    config = ModelConfig(str(folder))
    return Seq2SeqQuestionGenerator(
        config, 'greedy', max_new_tokens=8, **options
    ).generate(PAIRS)


def test_it_is_the_model_with_some_of_its_layers(made, tmp_path):
    whole = load_model(str(made / 'base'), AutoModelForSeq2SeqLM)
    short = load_model(str(made / 'decoder'), AutoModelForSeq2SeqLM)
    assert len(short.decoder.block) == 2
    old, new = whole.state_dict(), short.state_dict()
    renamed = {'decoder.block.1.': 'decoder.block.2.'}
    for name, tensor in new.items():
        before = next(
            (name.replace(a, b) for a, b in renamed.items() if name.startswith(a)), name
        )
        if not name.startswith('lm_head'):
            assert np.allclose(tensor, old[before], atol=1e-3), name
    kept = kept_tokens(AutoTokenizer.from_pretrained(made / 'base'), ROWS)
    assert np.allclose(new['lm_head.weight'][kept], old['lm_head.weight'][kept])


def test_both_engines_write_the_same(made):
    one, other = (
        asked(made / 'decoder', engine=engine, compute_type=kind)
        for engine, kind in (('ctranslate2', 'float32'), ('transformers', 'auto'))
    )
    assert one == other and any(questions[0] for questions in one)


def test_what_is_not_kept_is_not_written(made):
    words = AutoTokenizer.from_pretrained(made / 'base')
    kept = words.convert_ids_to_tokens(kept_tokens(words, ROWS))
    assert {'the', 'band', 'formed', '</s>', '[PAD]', '[UNK]', '?'} <= {*kept}
    assert 'hot' not in kept and 'la' not in kept
    for questions in asked(made / 'decoder'):
        assert {*questions[0].split()} <= {*kept}


def test_the_whole_can_be_written_as_one_converted_model(made):
    converted = read_any(made / 'decoder', SEQ2SEQ)
    model = binary.read(converted.files[MODEL])
    assert 'decoder/layer_1/ffn/linear_0/weight' in model
    assert 'decoder/layer_2/ffn/linear_0/weight' not in model
    assert len(model['decoder/embeddings/weight']) == len(converted.target())
    assert converted.place.name == 'decoder' and converted.tokenizer.name == 'base'


def test_an_encoder_is_not_to_be_had_of_it(made):
    with pytest.raises(ModelError, match='an encoder is needed'):
        read_any(made / 'decoder', ENCODER)


def test_a_base_that_was_changed_is_refused(tmp_path):
    base = make_base(tmp_path / 'base')
    write_decoder(base, tmp_path / 'decoder')
    path = tmp_path / 'base' / 'sha256.json'
    path.write_text(path.read_text() + ' ')
    with pytest.raises(ModelError, match='made for another version of .*base'):
        asked(tmp_path / 'decoder')


def test_the_identity_follows_the_base(tmp_path):
    def identity(seed):
        place = tmp_path / str(seed)
        place.mkdir()
        write_decoder(make_base(place / 'base', seed=seed), place / 'decoder')
        config = ModelConfig(str(place / 'decoder'))
        return Seq2SeqQuestionGenerator(config).identity().partition('@')[2]

    assert identity(1) != identity(2)


@pytest.mark.parametrize(
    'said, match',
    [
        ({}, 'must name the "base" of the decoder'),
        ({'base': 'roberta-large'}, "no model in a folder 'roberta-large'"),
        ({'base': '/nowhere/at/all'}, 'There is no folder /nowhere/at/all'),
        ([], 'must contain an object'),
    ],
)
def test_a_decoder_without_a_base_is_refused(made, tmp_path, said, match):
    (tmp_path / 'decoder.json').write_text(json.dumps(said))
    (tmp_path / 'decoder.bin').write_bytes((made / 'decoder/decoder.bin').read_bytes())
    with pytest.raises(Q2Error, match=match):
        asked(tmp_path)


def test_a_decoder_of_a_decoder_is_refused(made, tmp_path):
    (tmp_path / 'decoder.json').write_text(json.dumps({'base': str(made / 'decoder')}))
    with pytest.raises(ModelError, match='there is no model in a folder'):
        asked(tmp_path)


def test_a_converted_base_does_too(made, tmp_path):
    base = tmp_path / 'base'
    write_converted(str(made / 'base'), base)
    folder = tmp_path / 'decoder'
    write_decoder(str(base), folder)
    assert asked(folder) == asked(made / 'decoder')


@pytest.mark.parametrize('part', ['kept', 'layer', 'name', 'shape', 'order', 'start'])
def test_what_does_not_fit_is_refused(made, tmp_path, part):
    folder = tmp_path / 'decoder'
    folder.mkdir()
    (folder / 'decoder.json').write_bytes((made / 'decoder/decoder.json').read_bytes())
    own = binary.read((made / 'decoder/decoder.bin').read_bytes())
    arrays = dict(own.arrays)
    if part == 'kept':
        arrays[KEPT] = np.append(arrays[KEPT], np.int32(10_000))
    elif part == 'order':
        arrays[KEPT] = arrays[KEPT][::-1].copy()
    elif part == 'start':
        arrays[KEPT] = arrays[KEPT][1:]
    elif part == 'layer':
        arrays = {n: a for n, a in arrays.items() if 'layer_1/' not in n}
        arrays['decoder/layer_2/ffn/layer_norm/gamma'] = np.ones(16, np.float32)
    elif part == 'name':
        arrays['encoder/num_heads'] = np.int16(64)
    else:
        name = 'decoder/layer_1/attention/linear_0/weight'
        arrays[name] = arrays[name][:-2]
    data = binary.write(binary.Model(own.spec, own.revision, arrays, own.aliases))
    (folder / 'decoder.bin').write_bytes(data)
    with pytest.raises(ModelError, match='decoder.bin') as error:
        asked(folder)
    assert '\n' not in str(error.value)


def test_a_damaged_decoder_is_an_error_or_writes(made, tmp_path):
    data = (made / 'decoder/decoder.bin').read_bytes()
    said = (made / 'decoder/decoder.json').read_bytes()
    rng, refused = random.Random(3), 0
    for n in range(60):
        folder = tmp_path / str(n)
        folder.mkdir()
        (folder / 'decoder.json').write_bytes(said)
        changed = bytearray(data)
        if n % 3 == 0:
            del changed[rng.randrange(len(changed)) :]
        elif n % 3 == 1:  # within the names, shapes and sizes
            marks = [i for i in range(len(data)) if data.startswith(b'coder/', i)]
            changed[rng.choice(marks) + rng.randrange(-8, 60)] ^= 1 << rng.randrange(8)
        else:
            at = rng.randrange(len(changed) - 4)
            changed[at : at + 4] = struct.pack('<I', rng.choice([0, 1, 2**31, 65535]))
        (folder / 'decoder.bin').write_bytes(changed)
        try:
            read_any(folder, SEQ2SEQ)
        except ModelError as e:
            assert str(folder) in str(e)
            refused += 1
    assert refused > 30
