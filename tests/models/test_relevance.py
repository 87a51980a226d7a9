"""The model that reads a reply in the light of its turns."""

from pathlib import Path

import pytest
from transformers import BertForSequenceClassification

from parlai_q2.errors import ConfigError
from parlai_q2.models.converted.convert import write_converted
from parlai_q2.models.relevance import (
    CLOSE_CHARACTERS,
    KNOWLEDGE_CHARACTERS,
    LEAST,
    OUTPUTS,
    AnswerLogits,
    RelevanceModel,
    add_knowledge,
)
from parlai_q2.presets import ModelConfig
from tests.tiny import tiny_pair_model

LONG = ' '.join(f'The bees have {word} eyes.' for word in ('five', 'two', 'large') * 60)


@pytest.fixture(scope='module')
def model(tmp_path_factory) -> RelevanceModel:
    return RelevanceModel(ModelConfig(_folder(tmp_path_factory.mktemp('m'), OUTPUTS)))


def _folder(path: Path, names: tuple[str, ...]) -> str:
    model = tiny_pair_model(
        path / 'torch',
        BertForSequenceClassification,
        num_labels=len(names),
        id2label=dict(enumerate(names)),
        max_position_embeddings=400,
    )
    write_converted(model, path / 'converted')
    return str(path / 'converted')


INPUTS = [
    ('Bees have five eyes.', ['How many eyes have bees?'], 'Five.'),
    ('Bees have five eyes.', ['How many eyes have bees?'], 'They are small.'),
    ('Bees have five eyes.', [], 'Five.'),
    ('Bees.', ['Wow!'], 'Five.'),
    (LONG, ['How many eyes have bees?'], 'Five.'),
    ('Bees have five eyes.', [LONG, LONG], 'Five.'),
    ('Bees have five eyes.', ['Wow!'], LONG),
    (LONG, [LONG] * 5, LONG),
    ('x' * 5000, ['x' * 5000], 'x' * 5000),
]


def test_a_batch_gives_what_each_input_gives_alone(model):
    alone = [model.predict_answers([pair])[0] for pair in INPUTS]
    assert model.predict_answers(INPUTS) == alone
    assert model.predict_answers(INPUTS[::-1] + INPUTS) == alone[::-1] + alone
    assert len(set(alone)) > 1
    short = [(turns, reply) for _, turns, reply in INPUTS]
    alone = [model.predict_relevance([pair])[0] for pair in short]
    assert model.predict_relevance(short) == alone
    assert len(set(alone)) > 1


def test_blank_texts_are_not_read(model):
    assert model.predict_relevance([]) == []
    assert model.predict_answers([]) == []
    blank, five = model.predict_relevance([(['Hi'], ' \n'), (['Hi'], 'Five.')])
    assert blank == LEAST < five
    blank = [('Bees.', ['Hi'], ''), (' ', ['Hi'], 'No.')]
    assert model.predict_answers(blank) == [AnswerLogits(LEAST, LEAST)] * 2


def test_reads_only_the_last_turns(model):
    turns = ['Wow!', 'Bees!', 'Eyes?', 'How many?']
    assert model.predict_relevance([(turns, 'Five.')]) == model.predict_relevance(
        [(turns[1:], 'Five.')]
    )
    # For earlier ones there is room only where the last one leaves some.
    last = ' '.join(['How many?'] * 40)
    assert model.predict_relevance(
        [(['Wow!', last], 'Five.')]
    ) == model.predict_relevance([([last], 'Five.')])


@pytest.mark.parametrize('at_the_end', [False, True])
def test_reads_matching_sentences_anywhere_in_long_knowledge(at_the_end):
    filler = ' '.join(['The rock band was formed in los angeles.'] * 80)
    passages = ['Bees have five eyes.', filler]
    knowledge = ' '.join(passages[::-1] if at_the_end else passages)
    text = add_knowledge(['How many eyes have bees?'], knowledge, 'They have five.')
    assert 'Bees have five eyes.' in text
    assert len(text) < KNOWLEDGE_CHARACTERS + 50


def test_reads_the_neighbours_of_matching_sentences():
    filler = [f'The rock band {name * 40} was formed.' for name in 'abcdefgh']
    filler[4:4] = ['Bees have five eyes.', 'Two of these are large.']
    text = add_knowledge(['How many eyes?'], ' '.join(filler), 'They have five.')
    read = text.partition(' | ')[2]
    assert 'Bees have five eyes. Two of these are large.' in read
    assert [name for name in 'abcdefgh' if name * 40 in read] == ['b', 'c', 'd', 'e']


def test_reads_only_matching_sentences_of_a_page():
    filler = [f'The rock band {name * 90} was formed.' for name in 'abcdefghijkl']
    filler[4:4] = ['Bees have five eyes.', 'Two of these are large.']
    page = ' '.join(filler)
    assert len(page) > CLOSE_CHARACTERS
    text = add_knowledge(['How many eyes?'], page, 'They have five.')
    assert text == 'How many eyes? | Bees have five eyes.'


def test_reads_as_many_sentences_as_fit():
    knowledge = '\n'.join(f'Bees have {n} eyes.' for n in range(99))
    text = add_knowledge(['How many eyes have bees?'], knowledge, 'They have five.')
    assert KNOWLEDGE_CHARACTERS - 50 < len(text) < KNOWLEDGE_CHARACTERS + 50


def test_other_outputs_are_refused(tmp_path):
    folder = _folder(tmp_path, ('support', 'relevance'))
    with pytest.raises(ConfigError, match='outputs support, relevance; a model of rel'):
        RelevanceModel(ModelConfig(folder)).predict_relevance([(['Hi'], 'Hello.')])


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
