"""``multiprocessing_eval`` on a CPU has the metrics of one process."""

import pytest
import torch
from parlai.core import teachers
from parlai.core.teachers import FixedDialogTeacher
from parlai.scripts import eval_model
from parlai.scripts.eval_model import EvalModel

from parlai_q2.errors import ConfigError, WorkerError
from parlai_q2.parlai.distributed import evaluate_share, merge_reports
from parlai_q2.parlai.q2_teacher import Q2TeacherMixin
from parlai_q2.scripts.multiprocessing_eval import MultiprocessingEvalScript
from tests.agents.rerank_toys import AGENT, ToyTeacher, trained_generator
from tests.tasks.recording import NAME as RECORDING

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(torch.cuda.is_available(), reason='is about having no GPU'),
]
SAMPLE = 'parlai_q2.tasks.grounded_sample.agents:AnnotatedTeacher'
# Clocks, and tokens of a batch: how large the last batch is depends on the sharing out.
OF_A_PROCESS = {'exps', 'rerank/scorer_ms', 'gpu_mem'}
OF_A_BATCH = {f'{kind}tp{unit}' for kind in ('', 'l', 'c') for unit in 'bs'}
CHANGED = {
    teachers: ('is_distributed', 'get_rank', 'num_workers'),
    eval_model: ('is_distributed', 'get_rank'),
}


class MeasuredTeacher(Q2TeacherMixin, ToyTeacher):
    """The toy task, whose replies are measured, too."""


def compare(alone, together):
    """Two reports are equal but for what depends on the processes."""
    assert set(alone) == set(together)
    for name in set(alone) - OF_A_PROCESS - OF_A_BATCH:
        expected = pytest.approx(alone[name].value(), rel=1e-6)
        assert together[name].value() == expected, name


def test_two_processes_report_what_one_reports():
    options = {
        'task': f'{__name__}:MeasuredTeacher',
        'model': AGENT,
        'model_file': trained_generator(),
        'choose': 'precision',
        'measure': RECORDING,
        'candidate_strategies': 'beam:3,nucleus:2',
        'batchsize': 3,
        'skip_generation': False,
        'datatype': 'valid',
    }
    alone = EvalModel.main(**options)
    together = MultiprocessingEvalScript.main(**options, distributed_world_size=2)
    names = {'q2_f1', 'coverage', 'questions', 'nli', 'f1'}
    assert names | {'rerank/chosen', 'rerank/gain', 'rerank/oracle'} <= set(alone)
    assert together['exs'].value() == 10
    compare(alone, together)


def evaluate_shares(opt, size):
    """The shares of all processes, one after the other in this one."""
    shares = []
    for rank in range(size):
        with pytest.MonkeyPatch.context() as patch:
            # What share_episodes() sets for good is set back.
            for module, names in CHANGED.items():
                for name in names:
                    patch.setattr(module, name, getattr(module, name))
            patch.setattr(FixedDialogTeacher, '__init__', FixedDialogTeacher.__init__)
            patch.setattr(torch, 'set_num_threads', lambda count: None)
            shares.append(evaluate_share(opt, rank, size))
    return shares


def test_a_teacher_that_parlai_does_not_share_out_is_shared_out(conv_fever):
    options = {
        'task': 'parlai_q2.tasks.conv_fever.agents',
        'model': 'fixed_response',
        'fixed_response': 'consistent',
        'datatype': 'valid',
    }
    alone = EvalModel.main(**options)
    opt = MultiprocessingEvalScript.setup_args().parse_kwargs(**options)
    shares = evaluate_shares(opt, 2)
    counts = [share['exs'].value() for [share] in shares]
    assert min(counts) > 0
    assert {'accuracy', 'negation_accuracy'} <= set(alone)
    compare(alone, merge_reports(opt, shares))


def test_the_number_of_examples_is_shared_out():
    opt = MultiprocessingEvalScript.setup_args().parse_kwargs(
        task=SAMPLE,
        model='repeat_label',
        datatype='valid',
        num_examples=3,
        q2_metrics=False,
    )
    shares = evaluate_shares(opt, 2)
    assert [share['exs'].value() for [share] in shares] == [2, 1]


def test_what_a_process_refuses_is_told_as_one_alone_would():
    with pytest.raises(WorkerError, match=r"^There is no scorer 'nonesuch'. Known"):
        MultiprocessingEvalScript.main(
            task=SAMPLE,
            model='repeat_label',
            measure='nonesuch',
            distributed_world_size=1,
        )


def test_no_processes_are_an_error():
    with pytest.raises(ConfigError, match='--distributed-world-size'):
        MultiprocessingEvalScript.main(
            task=SAMPLE, model='repeat_label', distributed_world_size=0
        )
