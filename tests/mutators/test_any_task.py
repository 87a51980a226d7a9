"""Plain ``parlai`` finds our mutators on tasks named through us, or by one file."""

import pytest

from tests.files import run_python

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
