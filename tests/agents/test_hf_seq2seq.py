"""The agent gives what transformers gives: the same loss, greedy and beam outputs."""

import copy
from types import SimpleNamespace

import pytest
import torch
from parlai.core.params import ParlaiParser

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
