"""Which generator is reranked, and which options saved with a model file count."""

import json
import shutil

import pytest
from parlai.agents.transformer.transformer import TransformerGeneratorAgent
from parlai.core.agents import create_agent, create_agent_from_model_file
from parlai.core.params import ParlaiParser

from parlai_q2.agents.grounded_rerank.generator_class import (
    find_generator_name,
    load_generator_class,
)
from parlai_q2.agents.grounded_rerank.grounded_rerank import UPGRADE_LATER
from parlai_q2.errors import ConfigError
from tests.agents.rerank_toys import AGENT, TOY, trained_generator


@pytest.mark.parametrize(
    'name, says',
    [
        ('repeat_label', 'is not a generator'),
        ('transformer/ranker', 'is not a generator'),
        ('nonsense', "There is no agent 'nonsense'"),
        ('transformer/generatr', "Did you mean 'transformer/generator'"),
        ('', 'cannot be loaded'),
        (AGENT, 'cannot itself rerank'),
    ],
)
def test_rejects_agents_that_are_no_generators(name, says):
    with pytest.raises(ConfigError, match=says):
        load_generator_class(name)


def test_the_generator_is_the_one_named_or_saved_or_shipped(tmp_path):
    saved = {'model_file': trained_generator()}
    assert find_generator_name(saved) == 'transformer/generator'
    name = find_generator_name({'init_model': trained_generator()})
    assert name == 'transformer/generator'
    assert find_generator_name({**saved, 'generator': 'seq2seq'}) == 'seq2seq'
    assert find_generator_name({}).endswith(':Ctranslate2Agent')
    assert find_generator_name(
        {'model_file': str(tmp_path / 'new')}
    ) == find_generator_name({})


def test_a_generator_named_on_the_command_line_brings_its_own_defaults():
    arguments = f'-m {AGENT} --generator transformer/generator --n-layers 3'.split()
    opt = ParlaiParser(True, True).parse_args(arguments)
    plain = ParlaiParser(True, True).parse_args(['-m', 'transformer/generator'])
    assert opt['n_layers'] == 3
    for name in ('text_truncate', 'inference', 'beam_size', 'dict_class'):
        assert opt[name] == plain[name], name


def saved_beside_a_generator(folder, options):
    """The trained generator with more in its .opt."""
    for ending in ('', '.opt', '.dict'):
        shutil.copy(trained_generator() + ending, folder / f'model{ending}')
    opt = {**json.loads((folder / 'model.opt').read_text()), **options}
    (folder / 'model.opt').write_text(json.dumps(opt))
    return str(folder / 'model')


def test_a_model_that_was_moved_is_reranked_as_what_it_is(tmp_path):
    model_file = saved_beside_a_generator(
        tmp_path, {'model_file': '/where/it/was/trained/model'}
    )
    agent = create_agent_from_model_file(
        model_file, {'model': AGENT, 'choose': TOY, 'no_cuda': True}
    )
    assert isinstance(agent, TransformerGeneratorAgent)
    assert agent.opt['generator'] == 'transformer/generator'
    assert UPGRADE_LATER not in agent.opt
    assert agent.reranker.chooser.name == 'toy'
    agent.observe({'text': '1 2 3', 'knowledge': '1 2 3', 'episode_done': True})
    assert agent.act()['text'] == '1 2 3'


# What a generator's .opt holds after training on a task of parlai_q2 or with a mutator.
LEFT_BY_TRAINING = {
    'choose': 'overlap',
    'choose_threshold': 0.9,
    'scorer_device': 'cuda:7',
    'cache': True,
    'knowledge_delimiter': '|',
}


def test_a_generators_training_options_do_not_affect_reranking(tmp_path):
    model_file = saved_beside_a_generator(tmp_path, LEFT_BY_TRAINING)
    words = ['-m', AGENT, '-mf', model_file, '--no-cuda']
    fresh = ParlaiParser(True, True).parse_args(['-m', AGENT, '--no-cuda'])
    agent = create_agent(ParlaiParser(True, True).parse_args(words))
    assert agent.reranker.chooser.name == 'grounded_fast'
    assert {name: agent.opt[name] for name in LEFT_BY_TRAINING} == {
        name: fresh[name] for name in LEFT_BY_TRAINING
    }
    said = create_agent(
        ParlaiParser(True, True).parse_args([*words, '--choose', 'consistency'])
    )
    assert said.reranker.chooser.name == 'consistency'


def test_options_set_in_code_take_effect(tmp_path):
    model_file = saved_beside_a_generator(tmp_path, LEFT_BY_TRAINING)
    options = {'choose': TOY, 'candidate_seed': 5, 'candidate_strategies': 'beam:2'}
    agent = create_agent_from_model_file(
        model_file, {'model': AGENT, 'no_cuda': True, **options}
    )
    assert agent.reranker.chooser.name == 'toy'
    assert {name: agent.opt[name] for name in options} == options
    # What nobody asked for is not what training was told.
    assert agent.opt.get('choose_threshold') is None


def test_options_saved_by_a_reranking_agent_are_kept(tmp_path):
    saved = {'model': AGENT, 'candidate_strategies': 'beam:2', 'choose': 'overlap'}
    model_file = saved_beside_a_generator(
        tmp_path, {**saved, 'generator': 'transformer/generator'}
    )
    words = ['-mf', model_file, '--no-cuda']
    agent = create_agent(ParlaiParser(True, True).parse_args(words))
    assert agent.reranker.chooser.name == 'overlap'


def test_a_model_file_without_its_opt_is_told_what_to_add(tmp_path):
    (tmp_path / 'model').write_bytes(b'weights')
    with pytest.raises(ConfigError, match='--generator'):
        find_generator_name({'model_file': str(tmp_path / 'model')})
