"""``--validation-metric`` picks a checkpoint by the teacher's or the agent's score."""

import json
import tempfile
from pathlib import Path

import pytest
from parlai.core.agents import Agent
from parlai.core.loader import register_agent, register_teacher
from parlai.core.message import Message
from parlai.core.metrics import AverageMetric
from parlai.core.teachers import DialogTeacher

from parlai_q2.__main__ import run
from parlai_q2.parlai.q2_teacher import Q2TeacherMixin
from tests.agents.rerank_toys import AGENT
from tests.filtering.toys import SCORER, WordScorer

TASK = 'validated_toy'
# The same without knowledge.
UNKNOWING = 'unknowing_toy'
MODEL = 'practising'
# What the model says of a turn after so many epochs: best after the third.
SAYS = ['x y', 'x {n}', 'fact x {n}', 'fact {n}', 'x y']


@register_teacher(TASK)
class ValidatedTeacher(Q2TeacherMixin, DialogTeacher):
    """Four turns in training, and ten in validation."""

    name, knowledge = TASK, 'fact {n}'

    def __init__(self, opt, shared=None):
        self.count = 4 if opt['datatype'].startswith('train') else 10
        # ParlAI writes the number of examples beside the file.
        opt['datafile'] = f'{tempfile.mkdtemp()}/toy'
        super().__init__(opt, shared)
        self.id = self.name

    def setup_data(self, datafile):
        for n in range(self.count):
            knowledge = self.knowledge.format(n=n)
            fields = {'text': str(n), 'labels': ['gold'], 'knowledge': knowledge}
            yield fields, True


@register_teacher(UNKNOWING)
class UnknowingTeacher(ValidatedTeacher):
    name, knowledge = UNKNOWING, ''


@register_agent(MODEL)
class PractisingAgent(Agent):
    """Learns for a while and then unlearns; its file says how many epochs it had."""

    def __init__(self, opt, shared=None):
        super().__init__(opt, shared)
        self.id = MODEL
        self.state = shared['state'] if shared else {'turns': 0}
        if not shared and opt.get('model_file'):
            self.load(opt['model_file'])

    def share(self):
        return {**super().share(), 'state': self.state}

    def act(self):
        epochs = self.state['turns'] // 4
        if 'labels' in self.observation:
            self.state['turns'] += 1
            metrics = {'loss': AverageMetric(1.0)}
            return Message({'id': self.id, 'text': 'learnt', 'metrics': metrics})
        reply = SAYS[min(epochs, len(SAYS) - 1)].format(n=self.observation['text'])
        return Message({'id': self.id, 'text': reply})

    def save(self, path=None):
        path = path or self.opt['model_file']
        Path(path).write_text(json.dumps(self.state))
        self.opt.save(path + '.opt')

    def load(self, path):
        if Path(path).exists():
            self.state = json.loads(Path(path).read_text())


def train(tmp_path, *options):
    WordScorer.made.clear()
    words = ['train_model', '-t', TASK, '-m', MODEL, '--measure', SCORER]
    words += ['--model-file', str(tmp_path / 'model'), '--num-epochs', '5']
    words += ['--validation-every-n-epochs', '1', '--short-final-eval', 'true']
    return run([*words, *map(str, options)])


def by(metric, mode='max'):
    # By default ParlAI stops at a score of 1, and here at the first below it.
    cutoff = ['--validation-cutoff', '2' if mode == 'max' else '-1']
    return ['--validation-metric', metric, '--validation-metric-mode', mode, *cutoff]


@pytest.mark.parametrize('mode, epochs, value', [('max', 3, 1.0), ('min', 4, 0.0)])
def test_the_checkpoint_with_the_best_score_is_kept(tmp_path, mode, epochs, value):
    valid, _ = train(tmp_path, *by(SCORER, mode))
    # The first epochs score 1/2, 2/3 and 1, the others 0.
    kept = json.loads((tmp_path / 'model').read_text())
    assert kept['turns'] // 4 == epochs
    assert valid[SCORER].value() == value


@pytest.mark.parametrize('metric', [SCORER, 'coverage'])
def test_a_validation_without_any_score_counts_as_0(tmp_path, metric):
    valid, _ = train(tmp_path, *by(metric), '-t', UNKNOWING)
    assert valid[metric].value() == 0
    assert valid['unverifiable'].value() == 1


# A small model that nothing has taught what to say.
UNTAUGHT = ['-m', AGENT, '--generator', 'transformer/generator', '--n-layers', 1]
UNTAUGHT += ['--n-heads', 1, '--embedding-size', 8, '--ffn-size', 8, '--num-epochs', 1]
UNTAUGHT += ['--label-truncate', 4, '--candidate-strategies', 'beam:2']


def test_reranking_without_knowledge_counts_as_0(tmp_path):
    valid, _ = train(tmp_path, *by('rerank/generic'), '-t', UNKNOWING, *UNTAUGHT)
    assert valid['rerank/generic'].value() == 0
    assert valid['rerank/unverifiable'].value() == 1


def test_a_task_without_knowledge_counts_as_0_and_is_in_no_mean(tmp_path):
    tasks, mean = ['-t', f'{UNKNOWING},{TASK}'], 'rerank/chosen'
    valid, _ = train(tmp_path / 'one', *by(mean), *tasks, *UNTAUGHT)
    assert valid[mean].value() == valid[f'{TASK}/{mean}'].value()
    of_task = f'{UNKNOWING}/{mean}'
    valid, _ = train(tmp_path / 'other', *by(of_task), *tasks, *UNTAUGHT)
    assert valid[of_task].value() == 0
