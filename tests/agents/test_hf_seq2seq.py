"""The agent gives what transformers gives, and works in ParlAI's commands."""

import builtins
import copy
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.scripts.eval_model import EvalModel
from parlai.scripts.interactive import Interactive
from parlai.scripts.train_model import TrainModel

from parlai_q2.agents.hf_seq2seq.hf_seq2seq import trained_with
from parlai_q2.agents.hf_seq2seq.modules import FewRowsLinear, quicken_output
from parlai_q2.errors import ConfigError
from parlai_q2.generate.generator import REPLY_OPTIONS
from tests.agents.hf_models import AGENT, LESSONS, checkpoint, make_agent, observe

TEXTS = [*(text for text, _ in LESSONS), 'a cat', 'what is the name of the park ?']


@pytest.fixture(params=['t5', 'bart'])
def folder(request):
    return checkpoint(request.param)


@pytest.fixture
def t5():
    return checkpoint('t5')


def hf_outputs(agent, text, **settings):
    """What ``generate`` gives for one text, in new tokens."""
    ids = torch.tensor([agent.dict.encode_text(text)])
    out = agent.model.hf.eval().generate(ids, max_new_tokens=12, **settings)
    return [row.tolist()[1:] for row in out]


def trimmed(tokens, agent):
    return [int(t) for t in tokens if int(t) != agent.NULL_IDX]


@pytest.mark.parametrize('beams', [1, 5])
def test_outputs_are_those_of_generate_token_for_token(folder, beams):
    search = {'inference': 'beam' if beams > 1 else 'greedy', 'beam_size': beams}
    agent = make_agent(
        hf_model=folder, label_truncate=12, beam_length_penalty=0.0, **search
    )
    batch = agent.batchify(observe(agent, TEXTS[:4]))
    with torch.no_grad():
        outputs, _ = agent._generate(batch, beams, 12)
    settings = {'num_beams': beams, 'length_penalty': 0.0}
    if beams == 1:
        # ParlAI ends an output at its limit with the end token.
        settings = {'forced_eos_token_id': agent.END_IDX}
    for text, (tokens, _, _) in zip(TEXTS[:4], outputs, strict=True):
        best = hf_outputs(agent, text, **settings)[0]
        assert trimmed(tokens[1:], agent) == trimmed(best, agent)


def test_the_loss_is_that_of_the_model_with_labels(folder):
    agent = make_agent(hf_model=folder, skip_generation=True)
    labels = ['the park .', 'a cat ran on the mat there !', 'hello', 'i am']
    agents = [agent.clone() for _ in labels]
    batch = agent.batchify(
        [
            a.observe({'text': text, 'eval_labels': [label], 'episode_done': True})
            for a, text, label in zip(agents, TEXTS[:4], labels, strict=True)
        ]
    )
    with torch.no_grad():
        ours = agent.compute_loss(batch)
        theirs = agent.model.hf(
            input_ids=batch.text_vec,
            attention_mask=batch.text_vec != agent.NULL_IDX,
            labels=batch.label_vec.masked_fill(batch.label_vec == agent.NULL_IDX, -100),
        ).loss
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-5)


def test_a_batch_gives_what_its_members_give_alone(folder):
    options = {'inference': 'beam', 'beam_size': 4}
    agent = make_agent(hf_model=folder, label_truncate=10, **options)
    together = agent.batch_act(observe(agent, TEXTS))
    for text, reply in zip(TEXTS, together, strict=True):
        [alone] = agent.batch_act(observe(agent, [text]))
        assert alone['text'] == reply['text']
        texts, scores = zip(*reply['beam_texts'], strict=True)
        assert [text for text, _ in alone['beam_texts']] == list(texts)
        assert [s for _, s in alone['beam_texts']] == pytest.approx(scores, abs=1e-4)


def test_a_forced_first_token_is_the_first_token():
    untaught = checkpoint('bart', 0)
    agent = make_agent(hf_model=untaught, inference='greedy', label_truncate=5)
    agent.model.hf.generation_config.forced_bos_token_id = word = agent.dict['cat']
    batch = agent.batchify(observe(agent, TEXTS))
    with torch.no_grad():
        prefix = agent.get_prefix_tokens(batch)
        outputs, _ = agent._generate(batch, 1, 5, prefix_tokens=prefix)
    assert [tokens[1].item() for tokens, _, _ in outputs] == [word] * len(TEXTS)
    for reply in agent.batch_act(observe(agent, TEXTS)):
        assert reply['text'].startswith('cat')


def test_halving_keeps_the_layers_that_overflow(t5):
    agent = make_agent(hf_model=t5, inference='greedy')
    agent.model.half()
    weights = dict(agent.model.hf.named_parameters())
    kinds = {n.endswith('.wo.weight'): w.dtype for n, w in weights.items()}
    assert kinds == {True: torch.float32, False: torch.float16}
    [reply] = agent.batch_act(observe(agent, [LESSONS[0][0]]))
    assert reply['text'] == LESSONS[0][1]


def test_positions_a_model_has_not_learned_are_never_asked_for():
    agent = make_agent(hf_model=checkpoint('bart', 0), inference='greedy')
    assert (agent.text_truncate, agent.label_truncate) == (64, 64)
    [reply] = agent.batch_act(observe(agent, ['cat ' * 500]))
    assert 'text' in reply


def test_rejects_unsupported_options_with_a_message(t5):
    with pytest.raises(ConfigError, match='--history-reversed'):
        make_agent(hf_model=t5, history_reversed=True)
    with pytest.raises(ConfigError, match='facts'):
        make_agent(hf_model=t5, prompt_template='{facts} {text}')


def test_greedy_search_has_one_beam_whatever_the_beam_size(t5):
    agent = make_agent(hf_model=t5, inference='greedy', beam_size=5)
    assert agent.beam_size == agent.opt['beam_size'] == 1
    assert agent.clone().beam_size == 1


def options(*args):
    return ParlaiParser(True, True).parse_args(['-m', AGENT, *args])


def test_the_shipped_model_brings_its_decoding_and_others_have_parlais():
    shipped = options()
    assert {name: shipped[name] for name in REPLY_OPTIONS} == REPLY_OPTIONS
    assert options('--beam-size', '2')['beam_size'] == 2
    other = options('--hf-model', 'some/folder')
    parlais = ParlaiParser(True, True).parse_args(['-m', 'transformer/generator'])
    assert other['beam_size'] == 1
    assert other['inference'] == 'greedy'
    assert {n: other[n] for n in REPLY_OPTIONS} == {
        n: parlais[n] for n in REPLY_OPTIONS
    }
    chosen = options('--inference', 'nucleus', '--hf-model', 'some/folder')
    assert chosen['inference'] == 'nucleus'
    assert chosen['beam_size'] == 1


@pytest.mark.parametrize('bias', [True, False])
def test_the_output_layer_for_a_few_rows_gives_what_a_plain_layer_gives(bias):
    plain = torch.nn.Linear(16, 50, bias=bias)
    quick = copy.deepcopy(plain)
    quicken_output(SimpleNamespace(get_output_embeddings=lambda: quick))
    assert type(quick) is FewRowsLinear
    for shape in ((1,), (2,), (3, 1), (2, 4), (11,), (3, 5), (0,)):
        rows = torch.randn(*shape, 16)
        with torch.no_grad():
            torch.testing.assert_close(quick(rows), plain(rows))


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
