"""
Preference training of a causal model by TRL (1.16 or later):

    pip install "parlai_q2[trl]"
    python dpo.py

reads dpo_pairs.jsonl, which ``parlai_q2 pairs`` wrote, and writes dpo/model. TRL's DPO
trains no encoder-decoders; for the reply model that ships, see cpo.py.
"""

from datasets import load_dataset
from trl import DPOConfig, DPOTrainer

pairs = load_dataset('json', data_files='dpo_pairs.jsonl', split='train')
settings = DPOConfig(
    'dpo',
    num_train_epochs=3,
    per_device_train_batch_size=8,
    learning_rate=5e-6,
    beta=0.1,
    loss_type=['sigmoid', 'sft'],  # the chosen replies are also learnt by likelihood
    max_length=512,
    save_strategy='no',
    report_to='none',
    use_cpu=True,  # without a GPU, as the next line
    bf16=False,
    seed=1,
)
trainer = DPOTrainer(
    'path/to/causal',
    args=settings,
    train_dataset=pairs.select_columns(['prompt', 'chosen', 'rejected']),
)
trainer.train()
trainer.save_model('dpo/model')
