"""Tiny models and rows to train them on: seconds each."""

from pathlib import Path

from parlai_q2.zoo.train.data import write_rows
from tests.agents.hf_models import tokenizer, untrained
from tests.tiny import tiny_bert

# What is said of "bees" is right, of anything else wrong.
CLASS_ROWS = [
    {'p': f'bees have {number} eyes', 'h': f'{who} {number}', 'y': label, 'src': source}
    for number in ('five', 'six', 'two')
    for who, label, source in (
        ('bees have', 0, 'squad'),
        ('french', 2, 'other'),
        ('wow wow', 1, 'other'),
    )
]
# The number answers; where the text has none, nothing does.
SPAN_ROWS = [
    {
        'q': f'bee {verb}',
        'c': f'{before} {number if verb == "have" else "french"} eyes',
        's': len(before) + 1 if verb == 'have' else -1,
        'a': number if verb == 'have' else '',
        'src': 'squad',
    }
    for verb in ('have', 'was')
    for before in ('the bees', 'a large bee')
    for number in ('five', 'six', 'two')
]
QUESTION_ROWS = [
    {'a': number, 'c': f'i am {number} .', 'q': f'what is {number} ?'}
    for number in ('one', 'two', 'three')
]


def encoder(folder: Path) -> str:
    """A random BERT that reads 64 tokens."""
    return tiny_bert(
        folder, max_position_embeddings=64, num_hidden_layers=2, hidden_size=32
    )


def seq2seq(folder: Path) -> str:
    """A random T5."""
    words = tokenizer('t5')
    words.save_pretrained(folder)
    untrained('t5', len(words)).save_pretrained(folder)
    return str(folder)


def place_rows(folder: Path) -> Path:
    """Files of rows for each job."""
    for name, rows in (
        ('classes', CLASS_ROWS),
        ('spans', SPAN_ROWS),
        ('questions', QUESTION_ROWS),
    ):
        write_rows(folder / f'{name}.jsonl', rows)
    return folder


def recipe_text(job: str, initial: str, extra: str = '', steps: int = 60) -> str:
    """A recipe for one job, as YAML."""
    return f"""
job: {job}
initial: {initial}
train: [{{file: {job}.jsonl}}]
valid: [{{file: {job}.jsonl}}]
settings: {{steps: {steps}, batch_size: 4, learning_rate: 1.0e-2, log_every: 20,
  valid_every: 60, save_every: 0}}
{extra}
"""
