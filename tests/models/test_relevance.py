"""The model that reads knowledge, turns and reply at once."""

from pathlib import Path

import pytest
from transformers import BertForSequenceClassification

from parlai_q2.errors import ConfigError
from parlai_q2.models.converted.convert import write_converted
from parlai_q2.models.relevance import NOTHING, RelevanceModel, context_of
from parlai_q2.presets import ModelConfig
from tests.tiny import tiny_pair_model

NAMES = {0: 'relevance', 1: 'support'}
LONG = ' '.join(f'The bees have {word} eyes.' for word in ('five', 'two', 'large') * 60)


@pytest.fixture(scope='module')
def model(tmp_path_factory) -> RelevanceModel:
    return RelevanceModel(ModelConfig(_folder(tmp_path_factory.mktemp('m'), NAMES)))


def _folder(path: Path, names: dict[int, str]) -> str:
    made = tiny_pair_model(
        path / 'torch',
        BertForSequenceClassification,
        num_labels=len(names),
        id2label=names,
        max_position_embeddings=400,
    )
    write_converted(made, path / 'converted')
    return str(path / 'converted')


INPUTS = [
    ('Bees have five eyes.', ['How many eyes have bees?'], 'Five.'),
    ('Bees have five eyes.', ['How many eyes have bees?'], 'They are small.'),
    ('Bees have five eyes.', [], 'Five.'),
    ('', ['Wow!'], 'Five.'),
    ('', [], 'Five.'),
    (LONG, ['How many eyes have bees?'], 'Five.'),
    ('Bees have five eyes.', [LONG, LONG], 'Five.'),
    ('Bees have five eyes.', ['Wow!'], LONG),
    (LONG, [LONG] * 5, LONG),
    ('x' * 5000, ['x' * 5000], 'x' * 5000),
]


def test_a_batch_gives_what_each_input_gives_alone(model):
    alone = [model.predict([one])[0] for one in INPUTS]
    assert model.predict(INPUTS) == alone
    assert model.predict(INPUTS[::-1] + INPUTS) == alone[::-1] + alone
    assert all(0 < value < 1 for one in alone for value in one)
    assert len(set(alone)) > 1


def test_nothing_is_predicted_for_no_input_and_zeros_for_a_blank_reply(model):
    assert model.predict([]) == []
    blank = model.predict([('Bees.', ['Hi'], ' \n'), INPUTS[0], ('', (), '')])
    assert (blank[0], blank[2]) == (NOTHING, NOTHING) and blank[1] != NOTHING


def test_of_long_knowledge_what_matches_is_read_wherever_it_stands(model):
    filler = ' '.join(['The rock band was formed in los angeles.'] * 80)
    known = 'Bees have five eyes.'
    turns, reply = ['How many eyes have bees?'], 'They have five eyes.'
    _, tokens = model._loaded()
    for text in (f'{known} {filler}', f'{filler} {known}'):
        context, said = model._fitting(tokens, text, turns, reply)
        assert known in context and turns[0] in context and said == reply
        assert tokens.count(context, said) <= model.max_tokens


@pytest.mark.parametrize(
    'known, turns, expected',
    [
        ('It is old.', ['a', 'b', 'c', 'd'], 'b / c / d | It is old.'),
        ('It is old.', [], 'It is old.'),
        ('', ['a'], 'a'),
        ('', [], ''),
    ],
)
def test_the_last_turns_stand_before_the_knowledge(known, turns, expected):
    assert context_of(known, turns) == expected


def test_a_model_must_have_the_two_outputs(tmp_path):
    folder = _folder(tmp_path, {0: 'support', 1: 'relevance'})
    with pytest.raises(ConfigError, match='outputs support, relevance; a model of rel'):
        RelevanceModel(ModelConfig(folder)).predict([INPUTS[0]])


def test_settings_name_the_model_and_what_is_unusual():
    model = RelevanceModel(ModelConfig('some/model'), max_tokens=256)
    assert model.settings == {
        'relevance': 'some/model',
        'relevance_engine': 'transformers-float32',
        'relevance_max_tokens': 256,
    }


def test_an_input_needs_room():
    with pytest.raises(ConfigError, match='max_tokens is 8; it must be at least 16'):
        RelevanceModel(ModelConfig('some/model'), max_tokens=8)
