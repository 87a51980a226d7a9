"""
Online training of a causal model by TRL, with groundedness as its reward:

    pip install "parlai_q2[trl]"
    python grpo.py
"""

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from parlai_q2.rerank.reward import GroundedReward

knowledge = 'Bees have five eyes: two large compound ones and three small simple ones.'
question = 'How many eyes has a bee?'
turn = {
    'prompt': f'{knowledge} {question}',
    'knowledge': knowledge,
    'history': [question],
}
settings = GRPOConfig(
    'grpo',
    max_completion_length=32,
    max_steps=20,
    report_to='none',
    use_cpu=True,  # without a GPU, as the next line
    bf16=False,
)
GRPOTrainer(
    'path/to/causal',
    reward_funcs=GroundedReward(),
    args=settings,
    train_dataset=Dataset.from_list([turn] * 8),
).train()
