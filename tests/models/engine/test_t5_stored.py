"""
T5 from int8 weights against transformers': the same sequences and scores, and the same
numbers for distances.
"""

import pytest
import torch

from parlai_q2.errors import ConfigError, ModelError
from parlai_q2.models.engine.int8_weights import INT8_WEIGHTS, read_int8
from parlai_q2.models.engine.stored import StoredModel
from parlai_q2.models.engine.t5.beams import BeamSettings
from parlai_q2.models.engine.t5.search import T5Search, searchable
from parlai_q2.models.engine.t5.stored import stored_t5
from parlai_q2.models.loading import load_model
from parlai_q2.models.question_generation import Seq2SeqQuestionGenerator
from parlai_q2.presets import ModelConfig
from tests.tiny import in_int8, int8_layers, t5, tokenizer

SETTINGS = BeamSettings(start=0, end=1, num_beams=3, max_new_tokens=12)


def folder(place, act='gated-gelu', tied=False, **generation):
    """A folder with a random T5 in int8."""
    model = t5(
        max(80, tokenizer(place, pair_tokens=False)),
        2,
        d_model=96,
        d_kv=16,
        d_ff=128,
        num_decoder_layers=3,
        num_heads=4,
        feed_forward_proj=act,
        tie_word_embeddings=tied,
    ).eval()
    for name, value in generation.items():
        setattr(model.generation_config, name, value)
    in_int8(model, place)
    return place


def hugging_face(place):
    from transformers import AutoModelForSeq2SeqLM

    model = load_model(str(place), AutoModelForSeq2SeqLM)
    return int8_layers(model, read_int8(place / INT8_WEIGHTS))


def prompts(count=9):
    generator = torch.Generator().manual_seed(1)
    lengths = torch.randint(1, 30, (count,), generator=generator).tolist()
    return [
        [*torch.randint(2, 80, (n,), generator=generator).tolist(), 1] for n in lengths
    ]


@pytest.mark.parametrize('act', ['gated-gelu', 'relu'])
def test_its_search_is_that_of_the_hugging_face_model(tmp_path, act):
    place = folder(tmp_path, act)
    model = hugging_face(place)
    assert searchable(model)
    expected = T5Search(model).search(prompts(), SETTINGS, 4)
    found = T5Search(stored_t5(StoredModel(place))).search(prompts(), SETTINGS, 4)
    assert found == expected
    assert len({tuple(one.tokens) for row in found for one in row}) > 5


def search(place):
    generator = Seq2SeqQuestionGenerator(ModelConfig(str(place)), arithmetic='int8')
    return generator.searcher()


def test_without_its_own_file_the_configuration_says_how_to_generate(tmp_path):
    assert search(folder(tmp_path, top_k=50)) is not None
    (tmp_path / 'generation_config.json').unlink()
    assert search(tmp_path).generation.eos_token_id == 1


@pytest.mark.parametrize(
    'said',
    [
        {'act': 'gated-silu'},
        {'tied': True},
        {'repetition_penalty': 2.0},  # which the search does not have
    ],
)
def test_what_it_does_not_have_computes_in_fp32_alone(tmp_path, said):
    with pytest.raises(ConfigError, match='cannot compute in int8.*"arithmetic: fl'):
        search(folder(tmp_path, **said))


def test_a_damaged_generation_config_is_named(tmp_path):
    place = folder(tmp_path)
    (place / 'generation_config.json').write_text('{"num_beams": ')
    with pytest.raises(ModelError, match='Cannot load .*generation_config.json'):
        hugging_face(place)
    with pytest.raises(ModelError, match='Cannot load .*generation_config.json'):
        stored_t5(StoredModel(place))
