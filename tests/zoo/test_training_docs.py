"""Each command of the page on training runs, on small files and tiny models."""

import runpy
import shlex
import sys
from pathlib import Path

import pytest
import yaml

from parlai_q2.models.folder import write_checksums
from parlai_q2.zoo.train.data import write_rows
from parlai_q2.zoo.train.recipe import recipe_names
from tests.docs.code_in_docs import code_of
from tests.tiny import tiny_pair_model
from tests.zoo.tiny_training import (
    CLASS_ROWS,
    QUESTION_ROWS,
    SPAN_ROWS,
    encoder,
    recipe_text,
    seq2seq,
)

PAGE = Path(__file__).resolve().parents[2] / 'docs' / 'training.md'
COMMANDS = [c.text for c in code_of(PAGE) if c.kind == 'command']
SHIPPED = 'shipped:q2_mini/consistency'
TURNS = [
    {'k': f'The old {one} chased the grey {other} through the garden in {year}.',
     'h': [f'What did the {one} do?'], 'r': f'it chased the {other} in {year} .'}
    for one, other, year in (('cat', 'mouse', 1990), ('dog', 'fox', 1854))
]  # fmt: skip
# One of the passages that the rows that ship were written about.
WRITTEN_ABOUT = {
    'k': 'The party is named after republicanism, a major ideology of the American '
    'Revolution.',
    'h': ['Which party?'],
    'r': 'The republican one.',
}


@pytest.fixture(scope='module')
def place(tmp_path_factory):
    """A folder with the files that the page names."""
    folder = tmp_path_factory.mktemp('training')
    data = folder / 'data'
    for part in ('train.jsonl.xz', 'valid.jsonl.gz'):
        write_rows(data / f'qa.{part}', SPAN_ROWS)
        write_rows(data / f'cons.{part}', CLASS_ROWS)
        write_rows(data / f'qg.{part}', QUESTION_ROWS)
    write_rows(data / 'cons_soft.train.jsonl.gz', CLASS_ROWS)
    for name in ('dial.train.jsonl.gz', 'reply.train.jsonl.xz'):
        write_rows(data / name, [*TURNS, WRITTEN_ABOUT])
    return folder


@pytest.fixture(scope='module')
def detector(tmp_path_factory):
    """A folder in place of the shipped detector's."""
    from transformers import BertForSequenceClassification

    folder = tmp_path_factory.mktemp('detector')
    size = {'num_labels': 4, 'max_position_embeddings': 64}
    tiny_pair_model(folder, BertForSequenceClassification, **size)
    write_checksums(folder, sorted(p.name for p in folder.iterdir()))
    return str(folder)


@pytest.fixture(scope='module')
def tiny(tmp_path_factory, detector):
    """
    Gives a recipe of one step on a tiny model, of the same files as one that ships.
    """
    models = tmp_path_factory.mktemp('models')
    bert, t5 = encoder(models / 'bert'), seq2seq(models / 't5')

    def of(name):
        from importlib.resources import files

        path = Path(str(files('parlai_q2.zoo.train'))) / 'configs' / f'{name}.yaml'
        fields = yaml.safe_load(path.read_text())
        text = yaml.safe_load(recipe_text(fields['job'], '', steps=1))
        fields['settings'] = text['settings']
        others = {'questions': t5, 'adapter': detector}
        fields['initial'] = others.get(fields['job'], bert)
        fields['options'] = {} if fields['job'] == 'questions' else {'max_tokens': 32}
        if fields['job'] == 'classes':
            fields['classes'] = 4
            fields['frozen'] = ['bert.embeddings']
        made = models / f'{name}.yaml'
        made.write_text(yaml.safe_dump(fields))
        return str(made)

    return of


def outputs(arguments):
    names = ('--outfile', '--outdir')
    found = [arguments[i + 1] for i, word in enumerate(arguments) if word in names]
    return found or arguments[1:2]  # "convert FOLDER OUT"


def run_module(module, arguments, monkeypatch):
    # One that is imported already would not be run anew.
    monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setattr(sys, 'argv', [module, *arguments])
    runpy.run_module(module, run_name='__main__', alter_sys=True)


@pytest.mark.parametrize('command', COMMANDS, ids=lambda c: c.split('train.')[1][:40])
def test_a_documented_command_runs(command, place, tiny, detector, monkeypatch):
    monkeypatch.chdir(place)
    program, option, module, *arguments = shlex.split(command)
    assert (program, option) == ('python', '-m')
    if module.endswith('.recipe'):
        assert arguments[0] in recipe_names()
        arguments[0] = tiny(arguments[0])
    if '--teacher' in arguments:
        arguments += ['--max-tokens', '32']
    arguments = [word.replace('cuda', 'cpu') for word in arguments]
    arguments = [word.replace(SHIPPED, detector) for word in arguments]
    run_module(module, arguments, monkeypatch)
    made = outputs(arguments)
    assert made and all((place / name).exists() for name in made)
