"""
Preference training of the reply model that ships, by TRL up to version 0.24:

    pip install trl==0.24.0 transformers==4.57.6
    python dpo.py

reads dpo_pairs.jsonl, which ``parlai_q2 pairs`` wrote, and writes dpo/model.
"""

from datasets import load_dataset
from trl import DPOConfig, DPOTrainer

from parlai_q2.models.loading import load_seq2seq

model, tokenizer = load_seq2seq('shipped:q2_mini/reply')
pairs = load_dataset('json', data_files='dpo_pairs.jsonl', split='train')
settings = DPOConfig(
    'dpo',
    num_train_epochs=3,
    per_device_train_batch_size=8,
    learning_rate=5e-5,
    beta=0.1,
    rpo_alpha=1.0,  # the chosen replies are also learnt by likelihood
    max_prompt_length=256,
    max_completion_length=64,
    save_strategy='no',
    report_to='none',
    use_cpu=True,  # without a GPU
    seed=1,
)
trainer = DPOTrainer(
    model.requires_grad_(True),
    args=settings,
    train_dataset=pairs.select_columns(['prompt', 'chosen', 'rejected']),
    processing_class=tokenizer,
)
trainer.train()
trainer.save_model('dpo/model')
