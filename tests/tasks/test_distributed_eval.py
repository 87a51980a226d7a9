"""
``multiprocessing_eval`` on a CPU: the metrics of one process, and the counts exactly.
"""

import pytest
import torch
from parlai.scripts.eval_model import EvalModel

from parlai_q2.errors import ConfigError, WorkerError
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


class MeasuredTeacher(Q2TeacherMixin, ToyTeacher):
    """The toy task, whose replies are measured, too."""


@pytest.mark.parametrize(
    'options, names, examples',
    [
        (
            {
                'task': f'{__name__}:MeasuredTeacher',
                'model': AGENT,
                'choose': 'precision',
                'measure': RECORDING,
                'candidate_strategies': 'beam:3,nucleus:2',
                'batchsize': 3,
                'skip_generation': False,
                'datatype': 'valid',
            },
            {
                *('q2_f1', 'coverage', 'questions', 'nli'),
                *('rerank/chosen', 'rerank/gain', 'rerank/oracle', 'f1'),
            },
            10,
        ),
        # A teacher that ParlAI does not share out: a FixedDialogTeacher.
        (
            {
                'task': 'parlai_q2.tasks.conv_fever.agents',
                'model': 'fixed_response',
                'fixed_response': 'consistent',
                'datatype': 'valid',
            },
            {'accuracy', 'negation_accuracy'},
            None,
        ),
    ],
    ids=['the agent and a Q2 teacher', 'a fixed teacher'],
)
def test_two_processes_report_what_one_reports(request, options, names, examples):
    if 'conv_fever' in options['task']:
        request.getfixturevalue('conv_fever')
    if options['model'] == AGENT:
        options = {**options, 'model_file': trained_generator()}
    alone = EvalModel.main(**options)
    together = MultiprocessingEvalScript.main(**options, distributed_world_size=2)
    assert names <= set(alone)
    assert set(alone) == set(together)
    assert examples in (None, together['exs'].value())
    assert together['exs'].value() == alone['exs'].value()
    for name in set(alone) - OF_A_PROCESS - OF_A_BATCH:
        expected = pytest.approx(alone[name].value(), rel=1e-6)
        assert together[name].value() == expected, name


def test_what_a_process_refuses_is_told_as_one_alone_would():
    with pytest.raises(WorkerError, match=r"^There is no scorer 'nonesuch'. Known"):
        MultiprocessingEvalScript.main(
            task=SAMPLE,
            model='repeat_label',
            measure='nonesuch',
            distributed_world_size=2,
        )


def test_no_processes_are_an_error():
    with pytest.raises(ConfigError, match='--distributed-world-size'):
        MultiprocessingEvalScript.main(
            task=SAMPLE, model='repeat_label', distributed_world_size=0
        )
