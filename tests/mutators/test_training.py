"""Mutators under ParlAI's commands: names, batches, background processes."""

import subprocess
import sys

from parlai_q2.models import device
from parlai_q2.parlai.mutators import base
from tests.mutators.running import make_opt

SAMPLE = 'parlai_q2.tasks.grounded_sample.agents'


def command(program, *words):
    """What a command prints, in a process of its own."""
    done = subprocess.run(
        [sys.executable, '-m', program, *words],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_plain_parlai_knows_the_names_with_a_task_of_ours():
    words = ['display_data', '-t', SAMPLE, '--mutators', 'q2_annotate', '-n', '2']
    words += ['--choose', 'overlap', '--verbose', '--q2-metrics', 'false']
    shown = command('parlai', *words)
    assert shown.count('[q2_score]') == 2


def test_a_background_process_scores_on_the_cpu(monkeypatch):
    monkeypatch.setattr(device, 'gpus', lambda: ['cuda:3'])
    opt = make_opt('q2_filter')
    opt['background_index'] = 1
    assert base.mutator_scorer(opt).scorer.device == 'cpu'
    opt['scorer_device'] = 'cuda:3'
    assert base.mutator_scorer(opt).scorer.device == 'cuda:3'
