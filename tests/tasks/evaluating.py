"""Runs teachers and models, on the sample and with the recording scorer unless told."""

import json
from collections import Counter

from parlai.core.agents import create_agent
from parlai.core.params import ParlaiParser
from parlai.core.teachers import create_task_agent_from_taskname
from parlai.core.worlds import create_task
from parlai.scripts.eval_model import EvalModel

from tests.tasks.recording import NAME

SAMPLE = 'parlai_q2.tasks.grounded_sample.agents'
ANNOTATED = f'{SAMPLE}:AnnotatedTeacher'
TURNS = 84
MODELS = 'tests.tasks.models:'
Q2_METRICS = ('q2_f1', 'nli', 'coverage', 'no_answer', 'questions', 'unverifiable')


def evaluate(task=ANNOTATED, model='repeat_label', measure=NAME, **options):
    report = EvalModel.main(task=task, model=model, measure=measure, **options)
    return {k: getattr(v, 'value', lambda v=v: v)() for k, v in report.items()}


def make_opt(task=ANNOTATED, model='repeat_label', measure=NAME, **options):
    options = {'datatype': 'valid', **options}
    parser = ParlaiParser(True, True)
    return parser.parse_kwargs(task=task, model=model, measure=measure, **options)


def make_world(**options):
    opt = make_opt(**options)
    return create_task(opt, create_agent(opt))


def run(world):
    while not world.epoch_done():
        world.parley()
    return {k: v.value() for k, v in world.report().items()}


def texts(scorer):
    return Counter(e.response for call in scorer.calls for e in call)


def logged(path):
    with open(path) as lines:
        return [turn for line in lines for turn in json.loads(line)['dialog']]


def messages(task, datatype='valid', **options):
    """All that a teacher says."""
    opt = ParlaiParser(True, True).parse_kwargs(task=task, datatype=datatype, **options)
    teacher = create_task_agent_from_taskname(opt)[0]
    turn_messages = [m for m in teacher if not m.get('batch_padding')]
    assert teacher.num_examples() == len(turn_messages)
    assert teacher.num_episodes() == sum(m['episode_done'] for m in turn_messages)
    return turn_messages
