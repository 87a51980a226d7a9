"""ParlAI's commands with the agent: training, saving, loading, evaluating, chatting."""

import builtins
import shutil
from pathlib import Path

import pytest
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.scripts.eval_model import EvalModel
from parlai.scripts.interactive import Interactive
from parlai.scripts.train_model import TrainModel

from parlai_q2.agents.hf_seq2seq.hf_seq2seq import trained_with
from tests.agents.hf_models import AGENT, LESSONS, checkpoint, make_agent, observe

QUESTIONS = 'shipped:q2_mini/question_generation'


@pytest.fixture(scope='module')
def task(tmp_path_factory):
    """The lessons as a ParlAI task."""
    path = tmp_path_factory.mktemp('task') / 'lessons.txt'
    lines = [f'text:{t}\tlabels:{r}\tepisode_done:True\n' for t, r in LESSONS]
    path.write_text(''.join(lines))
    return {
        'task': 'fromfile:parlaiformat',
        'fromfile_datapath': str(path),
        'fromfile_datatype_extension': False,
        'no_cuda': True,
    }


@pytest.fixture(scope='module')
def trained(task, tmp_path_factory):
    """A model file that was trained from an untrained folder that is gone."""
    folder = tmp_path_factory.mktemp('trained')
    base = str(shutil.copytree(checkpoint('t5', 0), folder / 'base'))
    model_file = str(folder / 'model')
    options = {
        'model': AGENT,
        'hf_model': base,
        'optimizer': 'adam',
        'learningrate': 1e-2,
        'gradient_clip': 1.0,
        'batchsize': 4,
        'inference': 'greedy',
        **task,
    }
    before = EvalModel.main(**options)
    options.update(model_file=model_file, num_epochs=100, skip_generation=True)
    TrainModel.main(**options)
    shutil.rmtree(base)
    return model_file, before


def test_training_lowers_the_loss_and_the_model_can_be_moved(
    trained, task, monkeypatch
):
    """The folder that it came from is gone."""
    model_file, before = trained
    monkeypatch.chdir(Path(model_file).parents[1])
    moved = Path(model_file).parent.with_name('moved')
    shutil.copytree(Path(model_file).parent, moved)
    report = EvalModel.main(
        model_file=str(moved / 'model'), batchsize=3, skip_generation=False, **task
    )
    assert float(before['loss']) > 3
    assert float(report['loss']) < 0.1
    assert float(report['accuracy']) == 1.0


def test_weights_can_start_another_model(trained):
    agent = make_agent(init_model=trained[0], hf_model='/gone', inference='greedy')
    [reply] = agent.batch_act(observe(agent, [LESSONS[1][0]]))
    assert reply['text'] == LESSONS[1][1]


def test_a_training_that_starts_from_a_model_has_its_prompt(trained):
    def options(**changes):
        opt = ParlaiParser(True, True).parse_kwargs(model=AGENT, **changes)
        return opt['hf_model'], opt['prompt_template'], opt['inference']

    first = Opt.load(trained[0] + '.opt')['hf_model']
    assert options(init_model=trained[0]) == (first, None, 'greedy')
    # What is asked for goes before it, and a model of one's own before both.
    chosen = options(init_model=trained[0], prompt_template='{knowledge}')
    assert chosen == (first, '{knowledge}', 'greedy')
    shipped = 'shipped:q2_mini/reply'
    assert options(init_model=trained[0], hf_model=shipped) == (shipped, None, 'beam')
    assert trained_with({'init_model': trained[0], 'model_file': trained[0]}) == {}
    assert trained_with({'init_model': 'nowhere/model'}) == {}


def test_a_person_chats_and_the_agent_remembers(trained, monkeypatch):
    inputs = iter(
        ['what is your name ?', '[DONE]', 'hello there !', 'the cat', '[EXIT]']
    )
    monkeypatch.setattr(builtins, 'input', lambda *_: next(inputs))
    read = []
    monkeypatch.setattr(
        'parlai_q2.agents.hf_seq2seq.hf_seq2seq.HfSeq2seqDictionaryAgent.encode_text',
        lambda self, text: read.append(text) or [*self.txt2vec(text), self['</s>']],
    )
    Interactive.main(model_file=trained[0], no_cuda=True, skip_generation=False)
    assert 'what is your name ?' in read
    # The second conversation starts afresh and keeps what the agent said.
    assert 'hello there !' in read
    assert read[-1] == 'hello there !\nhello i am fine .\nthe cat'


def test_the_shipped_model_replies_with_the_turns_knowledge():
    agent = make_agent()
    assert agent.prompt.template == 'reply'
    assert agent.beam_size == 5
    message = {'text': 'Do you like ice cream?'}
    fact = {'knowledge': 'The shop on the hill sells 31 kinds of ice cream.'}
    assert '31' in agent.respond({**message, **fact})
    assert '31' not in agent.respond(message)
