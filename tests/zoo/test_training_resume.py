"""
Commands that train go on where they were stopped, wherever that was; and only if they
are given what they were begun with.
"""

import json

import pytest

from parlai_q2.errors import ConfigError
from parlai_q2.zoo.train import loop, recipe, whole_model
from parlai_q2.zoo.train.checkpoint import NAME
from parlai_q2.zoo.train.data import write_rows
from tests.zoo.tiny_training import CLASS_ROWS, encoder, place_rows, recipe_text


class Stopped(Exception):
    """What stands for a kill."""


def stops(*_, **__):
    raise Stopped


def stopped_in(module, name, command):
    """Run a command until it comes to a function."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, name, stops)
        with pytest.raises(Stopped):
            command()


def without_steps(command):
    """Run a command that has no step to take any more."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, 'rate', lambda *_: pytest.fail('trained again'))
        command()


def report_of(out):
    """What ``training.json`` says, but for the seconds that were needed."""
    report = json.loads((out / 'training.json').read_text())
    for entry in report['log']:
        del entry['seconds']
    return report


@pytest.fixture(scope='module')
def bert(tmp_path_factory):
    return encoder(tmp_path_factory.mktemp('models') / 'bert')


@pytest.fixture
def trains(tmp_path, bert):
    """Gives a recipe's run with checkpoints; its text can be changed."""
    place_rows(tmp_path)
    extra = 'classes: 3\nfrozen: [bert.embeddings]'
    text = recipe_text('classes', bert, extra, steps=7)
    text = text.replace('save_every: 0', 'save_every: 3')

    def train(out, *options, change=('', '')):
        (tmp_path / 'recipe.yaml').write_text(text.replace(*change))
        arguments = [str(tmp_path / 'recipe.yaml'), '--data', str(tmp_path)]
        recipe.main([*arguments, '--outdir', str(tmp_path / out), *options])

    return train


@pytest.mark.parametrize(
    'module, name', [(whole_model, 'write_folder'), (recipe, 'write_text')]
)
def test_a_recipe_loses_no_step_until_all_is_written(tmp_path, trains, module, name):
    trains('whole')
    stopped_in(module, name, lambda: trains('parts'))
    assert (tmp_path / 'parts' / NAME).exists()
    without_steps(lambda: trains('parts'))
    whole, parts = tmp_path / 'whole', tmp_path / 'parts'
    assert report_of(parts) == report_of(whole)
    weights = 'model.int8.safetensors'
    assert (parts / weights).read_bytes() == (whole / weights).read_bytes()
    assert not (parts / NAME).exists()


@pytest.mark.parametrize(
    'old, new, named',
    [
        ('[bert.embeddings]', '[]', 'frozen'),
        ('job: classes', 'job: classes\noptions: {max_tokens: 32}', 'options'),
        ('train: [{file: classes.jsonl}]', 'train: [{file: classes.jsonl, most: 9}]')
        + ('train',),
    ],
)
def test_a_recipe_does_not_go_on_when_it_or_its_data_was_changed(
    tmp_path, trains, old, new, named
):
    stopped_in(whole_model, 'write_folder', lambda: trains('out'))
    with pytest.raises(ConfigError, match=f'another {named}. Give the same'):
        trains('out', change=(old, new))
    write_rows(tmp_path / 'classes.jsonl', CLASS_ROWS[::-1])
    with pytest.raises(ConfigError, match='another data. Give the same'):
        trains('out')
