"""Mutators under ParlAI's commands: names, batches, background processes."""

import sys

import pytest

from parlai_q2.__main__ import run
from parlai_q2.cache import ScoreCache
from parlai_q2.models import device
from parlai_q2.parlai import mutators
from tests.files import run_python
from tests.filtering.toys import SCORER, TASK
from tests.mutators.running import make_opt

# ParlAI forks its background processes. A process of tests has threads that a fork
# would not take along, so these run where a person's would: in a process of their own.
RUN = """
import faulthandler, sys
import tests.filtering.toys
from parlai_q2.__main__ import run
faulthandler.enable()
run(sys.argv[1:])
"""


def run_apart(*words):
    """Run a command of parlai_q2's, which knows the toy task."""
    process = run_python(RUN, *words, timeout=240)
    assert process.returncode == 0, process.stdout + process.stderr


def test_a_model_trains_in_background_processes(tmp_path, monkeypatch):
    # ParlAI builds a dictionary in one process only.
    dictionary = str(tmp_path / 'dict')
    monkeypatch.setattr(sys, 'argv', ['parlai_q2'])
    run(['build_dict', '-t', TASK, '--dict-file', dictionary])
    words = ['-t', TASK, '--dict-file', dictionary]
    words += '--num-workers 2 --dynamic-batching full --truncate 32'.split()
    words += ['--mutators', 'q2_filter+q2_control_tokens']
    words += '--model seq2seq --hiddensize 8 --embeddingsize 8 --no-cuda'.split()
    words += '--short-final-eval true --batchsize 4 --max-train-steps 6'.split()
    words += ['--choose', SCORER, '--model-file', str(tmp_path / 'model')]
    run_apart('train_model', *words)
    assert (tmp_path / 'model').exists()
    # The processes keep their scores in one cache.
    (signature,) = ScoreCache().signatures()
    assert 0 < signature.rows <= 36


def test_a_background_process_scores_on_the_cpu(monkeypatch):
    monkeypatch.setattr(device, 'gpus', lambda: ['cuda:3'])
    opt = make_opt('q2_filter')
    opt['background_index'] = 1
    assert mutators.FilterMutator(opt).scorer.scorer.device == 'cpu'
    opt['scorer_device'] = 'cuda:3'
    assert mutators.FilterMutator(opt).scorer.scorer.device == 'cuda:3'


TASKS = ('integration_tests:nocandidate', 'integration_tests')
SAMPLE = 'parlai_q2.tasks.grounded_sample.agents'
DISPLAY = ['display_data', '-dt', 'train:evalmode', '-n', '3', '--choose', 'overlap']


def plain_parlai(folder, *words):
    """What ``parlai`` prints, which does not import us by itself."""
    code = 'from parlai.__main__ import main; main()'
    completed = run_python(code, *words, '--datapath', str(folder), cwd=folder)
    assert completed.returncode == 0, completed.stderr[-2000:]
    return completed.stdout + completed.stderr


@pytest.mark.slow
def test_plain_parlai_finds_a_mutator(tmp_path):
    tasks = ','.join(f'parlai_q2.parlai.any_task:{task}' for task in TASKS)
    filtered = plain_parlai(tmp_path, *DISPLAY, '-t', tasks, '--mutators', 'q2_filter')
    # Each task has a mutator of its own.
    line = 'q2_filter kept {0} of {0} turns that were read, and dropped 0'
    assert any(line.format(n) in filtered for n in (2, 3)), filtered[-2000:]
    annotating = ['--mutators', 'q2_annotate', '--verbose', '--q2-metrics', 'false']
    ours = plain_parlai(tmp_path, *DISPLAY, '-t', SAMPLE, *annotating)
    assert ours.count('[q2_score]') == 3, ours[-2000:]
