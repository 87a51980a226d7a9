"""
Option files of the two-stage detector: each of the paper's four epochs is validated.
"""

import json
from pathlib import Path

import pytest
import torch
from parlai.core.opt import Opt
from parlai.core.script import superscript_main

import parlai_q2.agents.hf_classifier.hf_classifier as module
from parlai_q2.zoo.train.data import read_rows, write_rows
from tests.agents.tiny_classifiers import on_pairs, tiny_bert, write_pairs

RECIPES = Path(module.__file__).parent / 'training'
ROWS = 32  # two batches


def trained(folder, name, *more):
    """What ParlAI says of a training by an option file."""
    pairs = on_pairs(write_pairs(folder))
    train = folder / 'train.jsonl'
    write_rows(train, read_rows(train)[:ROWS])
    (folder / 'base').mkdir()
    options = ['-o', str(RECIPES / f'{name}.opt'), '-mf', str(folder / 'model')]
    options += ['-t', pairs['task'], '--pairs-file', pairs['pairs_file']]
    options += ['--pairs-labels', pairs['pairs_labels'], '--no-cuda']
    superscript_main(
        ['train_model', *options, '--hf-model', tiny_bert(folder / 'base'), *more]
    )
    return json.loads((folder / 'model.trainstats').read_text())


@pytest.mark.parametrize('name', ['fever', 'conv_fever'])
def test_each_of_the_papers_epochs_can_be_the_model_that_is_kept(tmp_path, name):
    # A figure that grows with each step: the last validation is the best.
    grows = ['--validation-metric', 'total_train_updates', '--validation-cutoff', '99']
    stats = trained(tmp_path, name, *grows)
    assert [report['total_epochs'] for report in stats['valid_reports']] == [1, 2, 3, 4]
    four_epochs = 4 * ROWS / 16
    kept = torch.load(tmp_path / 'model', weights_only=False)
    assert kept['number_training_updates'] == stats['best_valid'] == four_epochs
    assert stats['train_steps'] == four_epochs + 1


@pytest.mark.parametrize('name', ['fever', 'conv_fever'])
def test_the_step_more_that_this_takes_changes_no_learning_rate(name):
    recipe = Opt.load(RECIPES / f'{name}.opt')
    assert 4 < recipe['num_epochs'] < 4.05
    assert recipe['validation_every_n_epochs'] == 1
    # Nothing falls towards the end, so no step depends on how many there will be.
    assert recipe['lr_scheduler'] == 'none'
    assert 'warmup_updates' not in recipe and 'max_train_steps' not in recipe
