"""
ParlAI's commands with the classifier agent: training in two stages, saving, loading,
and the trained model as a scorer.
"""

import builtins
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from parlai.core.agents import create_agent_from_model_file
from parlai.core.opt import Opt
from parlai.core.script import superscript_main
from parlai.scripts.eval_model import EvalModel
from parlai.scripts.interactive import Interactive
from parlai.scripts.train_model import TrainModel

import parlai_q2.agents.hf_classifier.hf_classifier as module
from parlai_q2 import Example, load_scorer
from tests.agents.tiny_classifiers import AGENT, on_pairs, tiny_bert, write_pairs

ROOT = Path(__file__).resolve().parents[2]
RECIPES = Path(module.__file__).parent / 'training'


@pytest.fixture(scope='module')
def pairs(tmp_path_factory):
    return write_pairs(tmp_path_factory.mktemp('pairs'))


@pytest.fixture(scope='module')
def trained(pairs, tmp_path_factory):
    """A model file that was trained from a folder that is gone."""
    folder = tmp_path_factory.mktemp('trained')
    (folder / 'base').mkdir()
    base = tiny_bert(folder / 'base')
    model_file = str(folder / 'model')
    TrainModel.main(
        model=AGENT,
        model_file=model_file,
        classifier='bert_conv_fever',
        hf_model=base,
        learningrate=5e-3,
        num_epochs=8,
        batchsize=16,
        save_hf_weights=True,
        **on_pairs(pairs),
    )
    shutil.rmtree(base)
    return model_file


def accuracy(**options):
    return float(EvalModel.main(**options)['accuracy'])


def test_training_learns_what_holds_for_things_it_has_not_seen(trained, pairs):
    """Chance is one half, and so is what either text alone would give."""
    assert accuracy(model_file=trained, datatype='test', **on_pairs(pairs)) > 0.9


def test_a_saved_model_can_be_moved(trained, pairs, tmp_path):
    moved = tmp_path / 'moved'
    shutil.copytree(Path(trained).parent, moved)
    options = {'datatype': 'valid', 'batchsize': 5, **on_pairs(pairs)}
    assert accuracy(model_file=str(moved / 'model'), **options) > 0.9


def test_a_saved_model_keeps_its_classes_and_how_it_reads_pairs(trained):
    agent = create_agent_from_model_file(trained, {'no_cuda': True})
    assert agent.class_list == ['consistent', 'inconsistent']
    assert agent.network.config.id2label == {0: 'consistent', 1: 'inconsistent'}
    assert agent.pair_input.max_tokens == 64, 'what the model can read'
    assert agent.opt['model'] == AGENT


def test_a_trained_model_is_a_scorer(trained, pairs):
    preset = trained + '.hf/classifier.yaml'
    records = [
        json.loads(line)
        for line in Path(pairs.format(fold='valid')).read_text().splitlines()
    ]
    scorer = load_scorer('consistency', preset)
    scores = scorer.score([Example(r['evidence'], r['claim']) for r in records])
    right = [
        (score.label == 'consistent') == (record['label'] == 'SUPPORTS')
        for score, record in zip(scores, records)
    ]
    assert sum(right) / len(right) > 0.9
    section = yaml.safe_load(Path(preset).read_text())['detector']
    assert section['model'] == str(Path(trained + '.hf').resolve())


def test_without_saved_weights_there_is_no_scorer(trained, tmp_path):
    shutil.copytree(trained + '.hf', tmp_path / 'm.hf')
    agent = create_agent_from_model_file(trained, {'no_cuda': True})
    agent.opt['save_hf_weights'] = False
    agent.save(str(tmp_path / 'own'))
    assert (tmp_path / 'm.hf' / 'model.safetensors').exists()
    assert not (tmp_path / 'own.hf' / 'model.safetensors').exists()
    assert json.loads((tmp_path / 'own.hf' / 'config.json').read_text())[
        'architectures'
    ] == ['BertForSequenceClassification']


def test_the_two_stages_of_the_paper_run_from_their_recipes(pairs, tmp_path):
    (tmp_path / 'base').mkdir()
    base = tiny_bert(tmp_path / 'base')
    first, second = str(tmp_path / 'fever'), str(tmp_path / 'conv_fever')
    small = ['--num-epochs', '1', '--no-cuda']
    own = ['-t', on_pairs(pairs)['task'], '--pairs-file', pairs]
    labels = ['--pairs-labels', on_pairs(pairs)['pairs_labels']]
    fever, conv_fever = (str(RECIPES / f'{n}.opt') for n in ('fever', 'conv_fever'))
    superscript_main(
        ['train_model', '-o', fever, '--pairs-file', pairs, '-mf', first]
        + ['--hf-model', base, *small]
    )
    shutil.rmtree(base)
    superscript_main(
        ['train_model', '-o', conv_fever, *own, *labels, '-mf', second]
        + ['--init-model', first, '--learningrate', '0', *small]
    )
    # A learning rate of 0 leaves what the first stage learnt as it was.
    one, two = (
        create_agent_from_model_file(path, {'no_cuda': True})
        for path in (first, second)
    )
    theirs = two.network.state_dict()
    for name, tensor in one.network.state_dict().items():
        assert tensor.equal(theirs[name]), name
    assert (tmp_path / 'conv_fever.hf' / 'model.safetensors').exists()


@pytest.mark.parametrize('name', ['fever', 'conv_fever'])
def test_a_recipe_holds_the_papers_numbers_and_options_that_there_are(name):
    recipe = Opt.load(RECIPES / f'{name}.opt')
    assert recipe['learningrate'] == 2e-5 and recipe['optimizer'] == 'adam'
    assert recipe['batchsize'] == 16 and int(recipe['num_epochs']) == 4
    assert recipe['classes'] == ['consistent', 'inconsistent']
    assert recipe['classifier'] == 'bert_conv_fever'
    given = {**recipe, 'classes': ['consistent', 'inconsistent'], 'pairs_file': 'x'}
    if name == 'conv_fever':
        given.update(task='parlai_q2.tasks.pairs.agents')
    TrainModel.setup_args().parse_kwargs(**given)


def test_a_person_asks_about_a_response(trained, monkeypatch, capsys):
    said = iter(['hello', r'the tea is red .\nit is not red .', '[EXIT]'])
    monkeypatch.setattr(builtins, 'input', lambda *_: next(said))
    Interactive.main(model_file=trained, no_cuda=True, print_scores=True)
    shown = capsys.readouterr().out
    assert 'line break' in shown
    assert 'Predicted class: inconsistent\nwith probability: ' in shown


@pytest.mark.slow
def test_plain_parlai_loads_a_trained_model(trained, pairs):
    options = [
        part
        for name, value in on_pairs(pairs).items()
        for part in ('--' + name.replace('_', '-'), value)
        if part is not True
    ]
    done = subprocess.run(
        [sys.executable, '-m', 'parlai', 'eval_model', '-mf', trained, *options],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    assert 'class_inconsistent_f1' in done.stdout + done.stderr
