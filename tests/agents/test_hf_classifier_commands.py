"""ParlAI's commands with the classifier: training, saving, loading, scoring."""

import shlex
import shutil
from pathlib import Path

import pytest
import yaml
from parlai.core.opt import Opt
from parlai.core.script import superscript_main
from parlai.scripts.eval_model import EvalModel
from parlai.scripts.train_model import TrainModel

import parlai_q2.agents.hf_classifier.hf_classifier as module
from parlai_q2 import Example, load_scorer
from parlai_q2.__main__ import run
from tests.agents.tiny_classifiers import AGENT, on_pairs, tiny_bert, write_pairs
from tests.docs.code_in_docs import ROOT, read_code
from tests.docs.scratch import place_data
from tests.files import read_lines, write_lines
from tests.tasks import annotated_sets

PAGE = ROOT / 'docs' / 'agents' / 'classifiers.md'
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
        learningrate=2e-3,
        num_epochs=12,
        batchsize=16,
        seed=0,
        **on_pairs(pairs),
    )
    shutil.rmtree(base)
    return model_file


def test_training_learns_what_holds_for_things_it_has_not_seen(
    trained, pairs, tmp_path
):
    # Chance is one half, and so is what either text alone would give.
    moved = tmp_path / 'moved'
    shutil.copytree(Path(trained).parent, moved)
    options = {'datatype': 'test', 'batchsize': 5, **on_pairs(pairs)}
    report = EvalModel.main(model_file=str(moved / 'model'), **options)
    assert float(report['accuracy']) > 0.9


def test_a_trained_model_is_a_scorer(trained, pairs):
    preset = trained + '.hf/classifier.yaml'
    records = read_lines(Path(pairs.format(fold='valid')))
    scorer = load_scorer('consistency', preset)
    scores = scorer.score([Example(r['evidence'], r['claim']) for r in records])
    right = [
        (score.label == 'consistent') == (record['label'] == 'SUPPORTS')
        for score, record in zip(scores, records)
    ]
    assert sum(right) / len(right) > 0.9
    section = yaml.safe_load(Path(preset).read_text())['detector']
    assert section['model'] == str(Path(trained + '.hf').resolve())


@pytest.mark.parametrize('name', ['fever', 'conv_fever'])
def test_a_recipe_holds_options_that_there_are(name):
    recipe = Opt.load(RECIPES / f'{name}.opt')
    options = {**recipe, 'pairs_file': 'x'}
    if name == 'conv_fever':
        options.update(task='parlai_q2.tasks.pairs.agents')
    TrainModel.setup_args().parse_kwargs(**options)


def test_its_page_runs_one_command_after_the_other(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv('PARLAI_DATAPATH', str(tmp_path))
    monkeypatch.chdir(tmp_path)
    place_data(tmp_path)
    annotated_sets.expect(monkeypatch)
    (tmp_path / 'agents').symlink_to(ROOT / 'agents')
    for folder in ('fever', 'bert'):
        (tmp_path / folder).mkdir()
    write_pairs(tmp_path / 'fever')
    bert = tiny_bert(tmp_path / 'bert')
    record = {'knowledge': 'the tea is red .', 'response': 'it is red .'}
    write_lines(tmp_path / 'pairs.jsonl', record)
    commands = [shlex.split(c.text) for c in read_code(PAGE) if c.kind == 'command']
    fever, conv_fever, rome, score = commands[-4:]

    once = ['--num-epochs', '1', '--no-cuda']
    superscript_main([*fever[1:], '--hf-model', bert, *once])
    # Conv-FEVER's own files have tests of their own.
    pairs = on_pairs('fever/{fold}.jsonl')
    other = ['-t', pairs['task'], '--pairs-file', pairs['pairs_file']]
    other += ['--pairs-labels', pairs['pairs_labels']]
    superscript_main([*conv_fever[1:], *other, *once])
    capsys.readouterr()
    superscript_main([*rome[1:], '--no-cuda', '--num-examples', '3'])
    assert 'class_inconsistent_f1' in capsys.readouterr().out
    assert score[0] == 'parlai_q2'
    run(score[1:])
    [scored] = read_lines(tmp_path / 'scores.jsonl')
    assert 0 < scored['score'] < 1
