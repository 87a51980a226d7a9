"""Recipes: from rows and initial weights to a model that loads as any other."""

import json

import pytest

from parlai_q2.errors import UnknownNameError
from parlai_q2.models.int8_weights import load_int8
from parlai_q2.models.question_answering import SpanQuestionAnswerer
from parlai_q2.models.question_generation import Seq2SeqQuestionGenerator
from parlai_q2.presets import ModelConfig
from parlai_q2.zoo.train import detector_rows, question_rows
from parlai_q2.zoo.train.data import read_rows, write_rows
from parlai_q2.zoo.train.recipe import load_recipe, main, recipe_names
from tests.zoo.tiny_training import (
    CLASS_ROWS,
    QUESTION_ROWS,
    encoder,
    place_rows,
    recipe_text,
)
from tests.zoo.tiny_training import seq2seq as t5_folder


@pytest.fixture(scope='module')
def data(tmp_path_factory):
    return place_rows(tmp_path_factory.mktemp('rows'))


@pytest.fixture(scope='module')
def bert(tmp_path_factory):
    return encoder(tmp_path_factory.mktemp('models') / 'bert')


def trained(tmp_path, data, text, *options):
    (tmp_path / 'recipe.yaml').write_text(text)
    out = tmp_path / 'out'
    paths = ['--data', str(data), '--outdir', str(out)]
    main([str(tmp_path / 'recipe.yaml'), *paths, *options])
    return out, json.loads((out / 'training.json').read_text())


def test_a_reader_learns_when_to_abstain(tmp_path, data, bert):
    text = recipe_text('spans', bert, 'options: {max_tokens: 32}', steps=120)
    text = text.replace('1.0e-2', '3.0e-3, dropout: 0.0')
    out, report = trained(tmp_path, data, text)
    assert report['log'][-1]['answer_f1'] == 1.0
    assert report['log'][-1]['no_answer_recall'] == 1.0
    reader = SpanQuestionAnswerer(ModelConfig(str(out)))
    answers = reader.answer(
        [('bee have', 'the bees five eyes'), ('bee was', 'the bees french eyes')]
    )
    assert answers[0].text == 'five' and answers[1] is None


def test_frozen_parameters_stay_as_they_are(tmp_path, data, bert):
    start = 'classes: 3\nfrozen: [bert.embeddings]'
    first, _ = trained(tmp_path, data, recipe_text('classes', bert, start, steps=1))
    (tmp_path / 'next').mkdir()
    text = recipe_text('classes', first, 'frozen: [bert.embeddings]', steps=5)
    out, _ = trained(tmp_path / 'next', data, text)
    old, new = (load_int8(f / 'model.int8.safetensors') for f in (first, out))
    for name, tensor in old.items():
        assert tensor.equal(new[name]) is name.startswith('bert.embeddings'), name


def test_options_take_the_place_of_the_recipes_settings(tmp_path, data, bert):
    text = recipe_text('classes', 'nowhere', 'classes: 3')
    _, report = trained(
        tmp_path, data, text, '--initial', bert, '--steps', '3', '--seed', '8'
    )
    settings = report['recipe']['settings']
    assert (settings['steps'], settings['seed']) == (3, 8)
    assert report['log'][-1]['step'] == 3
    assert report['initial'] and report['data']['classes.jsonl']
    assert report['examples'] == len(CLASS_ROWS)


def test_a_short_decoder_learns_from_the_whole_one(tmp_path, data, monkeypatch):
    monkeypatch.setattr('parlai_q2.zoo.train.train_decoder.LEAST', 1)
    base = tmp_path / 'base'
    trained(tmp_path, data, recipe_text('questions', t5_folder(base), steps=40))
    teacher = tmp_path / 'teacher'
    (tmp_path / 'out').rename(teacher)
    text = recipe_text('decoder', str(teacher), 'options: {layers: [0]}', steps=60)
    text = text.replace('decoder.jsonl', 'questions.jsonl')
    out, report = trained(tmp_path, data, text)
    assert sorted(p.name for p in out.iterdir()) == [
        'decoder.bin', 'decoder.json', 'sha256.json', 'training.json'
    ]  # fmt: skip
    before, after = report['log'][0]['train'], report['log'][-1]['train']
    assert after < before / 2 and report['shipped']['agreement'] > 0.9
    pairs = [(row['a'], row['c']) for row in QUESTION_ROWS]
    asked = [
        Seq2SeqQuestionGenerator(ModelConfig(str(folder)), 'greedy').generate(pairs)
        for folder in (teacher, out)
    ]
    assert asked[0] == asked[1] and asked[0][0] != asked[0][1]


def test_rows_of_a_generators_own_questions(tmp_path, monkeypatch):
    write_rows(tmp_path / 'turns.jsonl', [{'r': 'Bees have five eyes.'}] * 2)
    out = tmp_path / 'own.jsonl'
    turns = str(tmp_path / 'turns.jsonl')
    question_rows.main(['--rows', turns, turns, '--outfile', str(out)])
    rows = read_rows(out)
    assert {row['c'] for row in rows} == {'Bees have five eyes.'}
    spans = {row['a'] for row in rows}
    assert {'Bees', 'five eyes'} <= spans
    assert len(rows) == 2 * len(spans) and all(row['q'].endswith('?') for row in rows)


def test_a_teacher_marks_the_rows_of_its_pupil(tmp_path, data, bert):
    teacher, _ = trained(
        tmp_path, data, recipe_text('classes', bert, 'classes: 3', steps=2)
    )
    soft = tmp_path / 'soft' / 'classes.jsonl'
    detector_rows.main(
        ['--teacher', str(teacher), '--rows', str(data / 'classes.jsonl')]
        + ['--outfile', str(soft), '--max-tokens', '32']
    )
    rows = read_rows(soft)
    assert [{k: v for k, v in row.items() if k != 'z'} for row in rows] == CLASS_ROWS
    assert all(len(row['z']) == 3 for row in rows)


@pytest.mark.parametrize('name', recipe_names())
def test_each_recipe_that_ships_is_whole(name):
    found = load_recipe(name)
    assert found.licences['initial'] and found.licences['data']
    assert found.train and found.valid
    trained_on = {part.file for part in found.train}
    assert not trained_on & {part.file for part in found.valid}


def test_names_that_nobody_knows_are_errors(tmp_path):
    with pytest.raises(UnknownNameError, match='question_answering'):
        load_recipe('question_answer')
    (tmp_path / 'bad.yaml').write_text(recipe_text('span', 'x'))
    with pytest.raises(UnknownNameError, match='spans'):
        load_recipe(str(tmp_path / 'bad.yaml'))
