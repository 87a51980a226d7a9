"""Presets that ship, broken ones, and those that build on another."""

import json
from pathlib import Path

import pytest

from parlai_q2 import load_scorer
from parlai_q2.errors import ConfigError, UnknownNameError
from parlai_q2.presets import Section, load_preset, with_detector


def written(folder: Path, text: str, name: str = 'mine.yaml') -> str:
    (folder / name).write_text(text, encoding='utf-8')
    return str(folder / name)


def test_what_is_not_said_is_the_bases(tmp_path):
    mini = load_preset('mini')
    text = 'base: mini\nquestion_generation: {num_beams: 3, num_questions: 3}\n'
    mine = load_preset(written(tmp_path, f'{text}q2: {{variant: multi}}\n'))
    assert mine.name == 'mine'
    config, usual = mine.model('question_generation'), mini.model('question_generation')
    assert config.model == usual.model
    assert config.settings == {**usual.settings, 'num_beams': 3, 'num_questions': 3}
    assert mine.model('nli') == mini.model('nli')
    assert mine.q2 == {**mini.q2, 'variant': 'multi'}


def test_another_model_takes_settings_of_the_bases_only_if_asked(tmp_path):
    text = 'base: mini\nnli: {model: roberta-large-mnli}\n'
    mine = load_preset(written(tmp_path, text))
    assert mine.model('nli').settings == {}
    assert mine.model('detector') == load_preset('mini').model('detector')
    text = 'base: mini\nnli: {model: a, settings: base, max_tokens: 9}\n'
    usual = load_preset('mini').model('nli').settings
    nli_config = load_preset(written(tmp_path, text)).model('nli')
    assert (nli_config.model, nli_config.settings) == ('a', {**usual, 'max_tokens': 9})
    for wrong in (text.replace('base: mini', ''), text.replace('s: base', 's: mini')):
        with pytest.raises(ConfigError, match='"settings" of nli can be "base"'):
            load_preset(written(tmp_path, wrong))


def test_the_same_model_may_be_named_again_and_keeps_its_revision(tmp_path):
    below = 'detector: {model: some/model, revision: v1, max_tokens: 9}\n'
    written(tmp_path, below, 'below.yaml')

    def detector(settings_text):
        path = written(tmp_path, f'base: below.yaml\ndetector: {{{settings_text}}}\n')
        return load_preset(path).model('detector')

    config = detector('model: some/model, batch_size: 2')
    assert config.reference == 'some/model@v1'
    assert config.settings == {'max_tokens': 9, 'batch_size': 2}
    assert detector('revision: v2').reference == 'some/model@v2'


def test_a_batch_size_that_is_said_holds_on_gpus_too(tmp_path):
    def on_gpu(settings_text):
        path = written(tmp_path, f'base: mini\nnli: {{{settings_text}}}\n')
        return load_preset(path).model('nli').settings.get('gpu_batch_size')

    assert on_gpu('max_tokens: 9') == 512
    assert on_gpu('batch_size: 8') is None
    assert on_gpu('batch_size: 8, gpu_batch_size: 9') == 9


def test_a_base_stands_beside_the_file_that_names_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'in').mkdir()
    written(tmp_path / 'in', 'nli: {model: a}\n', 'first.yaml')
    written(tmp_path / 'in', 'base: first.yaml\n', 'second.yaml')
    path = written(tmp_path, 'base: in/second.yaml\n')
    assert load_preset(path).model('nli').model == 'a'


def test_the_weights_of_grounded_go_with_the_detector_they_were_fitted_with(tmp_path):
    shipped = load_scorer('grounded_fast').coefficients
    weights = {'weights': {'detector': 2.0}, 'intercept': -1.0}
    (tmp_path / 'c.json').write_text(
        json.dumps({'preset': 'own', 'grounded': weights, 'grounded_fast': weights})
    )
    detector = json.dumps(load_preset('mini').model('detector').settings)
    section = f'{{model: other/model, {detector[1:]}'
    preset_file = written(
        tmp_path, f'base: mini\ndetector: {section}\ncoefficients: c.json\n', 'own.yaml'
    )
    same = written(tmp_path, 'base: own.yaml\ndetector: {batch_size: 2}\n', 's.yaml')
    other = written(tmp_path, 'base: own.yaml\ndetector: {model: a/b}\n', 'o.yaml')

    def fitted(preset, **options):
        return load_scorer('grounded_fast', preset, **options).coefficients

    for preset in (preset_file, same, with_detector(load_preset('mini'), preset_file)):
        assert fitted(preset).weights == {'detector': 2.0}
        assert 'fitted_with:own' in str(load_scorer('grounded', preset).signature)
    swapped = with_detector(load_preset(preset_file), 'a/b')
    alone = written(tmp_path, 'base: base\ndetector: {mean_with: null}\n', 'a.yaml')
    assert fitted(other) == fitted(swapped) == fitted(alone) == shipped
    assert fitted('mini', coefficients=str(tmp_path / 'c.json')) == fitted(preset_file)


@pytest.mark.parametrize(
    'text, error, says',
    [
        ('base: mine.yaml\n', ConfigError, 'is its own base'),
        ('base: [mini]\n', ConfigError, '"base" must be'),
        ('base: gone.yaml\n', ConfigError, 'gone.yaml'),
        ('base: factcc\nquestion_answering: {a: 3}\n', ConfigError, 'needs "model"'),
        ('base: mini\nq2: yes\n', ConfigError, 'q2 must be a mapping'),
        ('[]', ConfigError, 'mapping'),
        ('qestion_answering: {model: y}', UnknownNameError, 'question_answering'),
        ('a: [', ConfigError, 'Cannot read'),
        ('base: mini\nnli: {device: a}', ConfigError, 'nli has a "device".*--scorer'),
    ],
)
def test_what_is_wrong_is_said(tmp_path, text, error, says):
    with pytest.raises(error, match=says):
        load_preset(written(tmp_path, text))


def test_a_wrong_preset_name_names_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'mini'"):
        load_preset('mimi')


def test_a_missing_section_names_the_presets_that_have_it():
    with pytest.raises(ConfigError, match='preset that has it: base, mini, paper'):
        load_preset('minicheck').model(Section.QUESTION_GENERATION)


def test_two_that_name_each_other_are_found_out(tmp_path):
    written(tmp_path, 'base: mine.yaml\n', 'other.yaml')
    with pytest.raises(ConfigError, match='is its own base'):
        load_preset(written(tmp_path, 'base: other.yaml\n'))
