"""TRL's online trainers learn from the reward, and the examples for pairs run."""

import runpy
import sys

import pytest
import torch

from parlai_q2.models import loading
from parlai_q2.rerank.reward import GroundedReward
from tests.conftest import ROOT
from tests.files import write_lines
from tests.tiny import tiny_t5, word_tokenizer

if sys.version_info < (3, 11):
    pytest.skip('TRL needs Python 3.11', allow_module_level=True)
trl = pytest.importorskip('trl')

WORDS = ['say', 'red', 'blue', *(f'w{n}' for n in range(9))]


def tiny_model(positions=16):
    from transformers import GPT2Config, GPT2LMHeadModel

    words = word_tokenizer(
        WORDS, ['<pad>', '</s>', '<unk>'], False, None,
        pad_token='<pad>', eos_token='</s>', unk_token='<unk>',
    )  # fmt: skip
    torch.manual_seed(1)
    ends = {'bos_token_id': 1, 'eos_token_id': 1, 'pad_token_id': 0}
    sizes = {'n_embd': 16, 'n_layer': 1, 'n_head': 2, 'n_positions': positions}
    config = GPT2Config(vocab_size=len(words), **sizes, **ends)
    return GPT2LMHeadModel(config), words


@pytest.mark.slow
def test_a_model_learns_to_say_what_its_knowledge_says(tmp_path):
    from datasets import Dataset

    model, words = tiny_model()
    settings = trl.GRPOConfig(
        str(tmp_path),
        per_device_train_batch_size=16,
        num_generations=8,
        max_completion_length=3,
        max_steps=25,
        learning_rate=2e-2,
        beta=0.0,
        logging_steps=1,
        save_strategy='no',
        report_to='none',
        disable_tqdm=True,
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        seed=1,
    )
    turns = Dataset.from_list(
        [{'prompt': 'say', 'knowledge': 'red or blue', 'history': ['say']}] * 8
    )
    learning = trl.GRPOTrainer(
        model,
        reward_funcs=GroundedReward('precision', guards=False),
        args=settings,
        train_dataset=turns,
        processing_class=words,
    )
    learning.train()
    logged = [step for step in learning.state.log_history if 'reward' in step]
    rewards = [step['reward'] for step in logged]
    assert sum(rewards[-5:]) / 5 > sum(rewards[:5]) / 5 + 0.3
    assert any('grounded_precision/consistent' in key for key in logged[0])


@pytest.mark.slow
@pytest.mark.parametrize('example', ['dpo', 'cpo'])
def test_the_examples_train_on_preference_pairs(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('TRL_EXPERIMENTAL_SILENCE', '1')
    for part in tiny_model(positions=512):
        part.save_pretrained('path/to/causal')
    replies = loading.load_seq2seq(tiny_t5(tmp_path / 'replies'))
    monkeypatch.setattr(loading, 'load_seq2seq', lambda name: replies)
    pair = {'prompt': 'say', 'chosen': 'red', 'rejected': 'blue', 'score_chosen': 1.0}
    write_lines(tmp_path / 'dpo_pairs.jsonl', *[pair] * 2)
    names = runpy.run_path(str(ROOT / f'docs/examples/{example}.py'))
    assert names['trainer'].state.global_step == 3
    assert (tmp_path / example / 'model' / 'model.safetensors').is_file()
