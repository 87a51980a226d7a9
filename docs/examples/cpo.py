"""
Preference training of the reply model that ships, by TRL (1.16 or later):

    pip install "parlai_q2[trl]"
    python cpo.py

reads dpo_pairs.jsonl, which ``parlai_q2 pairs`` wrote, and writes cpo/model. CPO is DPO
without a reference model, and TRL's trainer of it takes encoder-decoders.
"""

from datasets import load_dataset
from trl.experimental.cpo import CPOConfig, CPOTrainer

from parlai_q2.models.loading import load_seq2seq

model, tokenizer = load_seq2seq('shipped:q2_mini/reply')
pairs = load_dataset('json', data_files='dpo_pairs.jsonl', split='train')
settings = CPOConfig(
    'cpo',
    num_train_epochs=3,
    per_device_train_batch_size=8,
    learning_rate=5e-5,
    beta=0.1,
    cpo_alpha=1.0,  # the chosen replies are also learnt by likelihood
    max_length=256,
    max_completion_length=64,
    remove_unused_columns=False,
    gradient_checkpointing=False,
    save_strategy='no',
    report_to='none',
    use_cpu=True,  # without a GPU, as the next line
    bf16=False,
    seed=1,
)
trainer = CPOTrainer(
    model.requires_grad_(True),
    args=settings,
    train_dataset=pairs.select_columns(['prompt', 'chosen', 'rejected']),
    processing_class=tokenizer,
)
trainer.train()
trainer.save_model('cpo/model')
