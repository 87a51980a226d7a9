"""
``multiprocessing_eval`` without a GPU: the same metrics as one
process, and the counts exactly.
"""

import signal

import pytest
import torch
from parlai.core.metrics import GlobalMetric
from parlai.scripts.eval_model import EvalModel

from parlai_q2.errors import ConfigError, WorkerError
from parlai_q2.io.files import locked
from parlai_q2.scripts.multiprocessing_eval import MultiprocessingEvalScript
from tests.agents.rerank_toys import AGENT, trained_generator
from tests.scale.killing import Forked
from tests.scale.parlai_toys import RECORDING

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(torch.cuda.is_available(), reason='is about having no GPU'),
]
TOYS = 'tests.scale.parlai_toys'
# Clocks, and tokens of a batch: how large the last batch is depends on the sharing out.
OF_A_PROCESS = {'exps', 'rerank/scorer_ms', 'gpu_mem'}
OF_A_BATCH = {f'{kind}tp{of}' for kind in ('', 'l', 'c') for of in 'bs'}


def both(**options):
    """The reports of one process and of two."""
    alone = EvalModel.main(**options)
    together = MultiprocessingEvalScript.main(**options, distributed_world_size=2)
    return alone, together


def assert_agree(alone, together, left_out=frozenset()):
    left_out = left_out | OF_A_PROCESS | OF_A_BATCH
    assert set(alone) == set(together)
    for name in set(alone) - left_out:
        expected, found = alone[name], together[name]
        assert type(expected) is type(found)
        assert found.value() == pytest.approx(expected.value(), rel=1e-6), name
        # Sums of ones: how many turns, questions, unverifiable ones there were.
        for part in ('_denom', '_sum'):
            if hasattr(expected, part) and not isinstance(expected, GlobalMetric):
                assert getattr(found, part) == getattr(expected, part), (name, part)


def test_the_q2_teacher_reports_the_same_in_two_processes():
    alone, together = both(
        task=f'{TOYS}:AnnotatedTeacher',
        model='repeat_label',
        scorer=RECORDING,
        batchsize=4,
    )
    assert {'q2_f1', 'coverage', 'questions', 'no_answer', 'exs'} <= set(alone)
    assert together['exs'].value() == 84
    assert_agree(alone, together)


def test_the_reranking_agent_reports_the_same_in_two_processes():
    alone, together = both(
        task='tests.agents.rerank_toys:ToyTeacher',
        model=AGENT,
        model_file=trained_generator(),
        scorer='precision',
        candidate_strategies='beam:3,nucleus:2',
        batchsize=3,
        skip_generation=False,
        datatype='valid',
    )
    assert {'rerank/chosen', 'rerank/gain', 'rerank/oracle', 'ppl', 'f1'} <= set(alone)
    assert together['exs'].value() == 10
    assert_agree(alone, together)


@pytest.mark.parametrize(
    'model, scorer, error, says',
    [
        (f'{TOYS}:FailingAgent', 'overlap', Exception, 'The second process fails.'),
        (
            f'{TOYS}:KilledAgent',
            'overlap',
            WorkerError,
            'Process 1 .* by SIGKILL.*memory',
        ),
        # As one process alone would say it.
        (
            'repeat_label',
            'nonesuch',
            WorkerError,
            "^There is no scorer 'nonesuch'. Known",
        ),
    ],
    ids=['fails', 'is killed', 'refuses'],
)
def test_a_process_that_ends_ends_the_run_and_is_told(model, scorer, error, says):
    with pytest.raises(error, match=says):
        MultiprocessingEvalScript.main(
            task=f'{TOYS}:AnnotatedTeacher',
            model=model,
            scorer=scorer,
            distributed_world_size=2,
        )


def test_processes_end_with_the_command(tmp_path):
    def evaluate():
        # As in the background of a script; torch's own remedy is a SIGINT.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        MultiprocessingEvalScript.main(
            task=f'{TOYS}:AnnotatedTeacher',
            model=f'{TOYS}:OrphanedAgent',
            scorer='overlap',
            distributed_world_size=2,
        )

    assert Forked(tmp_path, evaluate).wait() == -signal.SIGKILL
    # It is held no more, so nothing runs.
    with locked(tmp_path / 'held', 20):
        pass


def test_no_processes_are_an_error():
    with pytest.raises(ConfigError, match='--distributed-world-size'):
        MultiprocessingEvalScript.main(
            task=f'{TOYS}:AnnotatedTeacher',
            model='repeat_label',
            distributed_world_size=0,
        )
