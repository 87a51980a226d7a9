"""Plain ``parlai`` finds our mutators on tasks named through us, or by one file."""

import pytest

from tests.mutators.running import plain_parlai

TASK = 'integration_tests:nocandidate'
SAMPLE = 'parlai_q2.tasks.grounded_sample.agents'
DISPLAY = ['display_data', '-dt', 'train:evalmode', '-n', '3', '--choose', 'overlap']


@pytest.mark.slow
def test_plain_parlai_finds_a_mutator(tmp_path):
    def on_any(*tasks):
        return ','.join(f'parlai_q2.parlai.any_task:{task}' for task in tasks)

    filtering = [*DISPLAY, '--mutators', 'q2_filter']
    annotating = ['--mutators', 'q2_annotate', '--verbose', '--q2-metrics', 'false']
    filtered, ours = plain_parlai(
        tmp_path,
        [*filtering, '-t', on_any(TASK, 'integration_tests')],
        [*DISPLAY, '-t', SAMPLE, *annotating],
    )
    # Each task has a mutator of its own.
    line = 'q2_filter kept {0} of {0} turns that were read, and dropped 0'
    assert any(line.format(n) in filtered for n in (2, 3)), filtered[-2000:]
    assert ours.count('[q2_score]') == 3, ours[-2000:]
