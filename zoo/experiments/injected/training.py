"""
Trains the generator of one condition, and lets it reply to the held-out contexts.

All conditions start from the same weights, which cannot reply yet, with the same seed,
and take the same number of steps of the same size. Like the shipped reply model, each
one trains a low-rank term (:mod:`parlai_q2.models.lora`).
"""

from pathlib import Path
from typing import Any, Sequence

import torch
from tqdm import tqdm

from parlai_q2.models.loading import load_seq2seq
from parlai_q2.models.lora import adapter_state, add_adapters, merge_adapter
from parlai_q2.zoo.experiments.injected.files import Fields
from parlai_q2.zoo.experiments.injected.settings import Settings
from parlai_q2.zoo.train import loop
from parlai_q2.zoo.train.identity import model_identity, rows_identity
from parlai_q2.zoo.train.train_seq2seq import REPLIES, TextJob

WARM_UP = 0.05  # of the steps
LOG_EVERY = 20  # steps
REPLIES_AT_ONCE = 48


def train(
    turns: Sequence[Fields], settings: Settings, seed: int, folder: Path
) -> tuple[Any, TextJob, list[dict[str, Any]]]:
    """
    Train a generator.

    :param turns: its training set.
    :param seed: decides its initial adapter weights, dropout and the order of turns.
    :param folder: holds the checkpoint until the caller drops it.
    :return: the model, with the adapter merged into its weights; the job that writes
        its prompts; and the log, with losses in nats for each token.
    """
    torch.manual_seed(seed)
    model, tokenizer = load_seq2seq(settings.base)
    add_adapters(model, settings.rank)
    job, rows = TextJob(tokenizer, REPLIES), rows_of(turns)
    log = loop.train(
        model,
        job,
        job.encode(rows),
        loop.LoopSettings(
            steps=settings.steps,
            batch_size=settings.batch_size,
            learning_rate=settings.learning_rate,
            seed=seed,
            warm_up=WARM_UP,
            log_every=LOG_EVERY,
            valid_every=settings.steps,
            save_every=LOG_EVERY,
        ),
        folder,
        identity={
            'turns': rows_identity(rows),
            'base': model_identity(settings.base),
            'rank': settings.rank,
        },
    )
    plain, _ = load_seq2seq(settings.base)
    return merge_adapter(plain, adapter_state(model)), job, log


@torch.no_grad()
def reply(
    model: Any, job: TextJob, turns: Sequence[Fields], settings: Settings, seed: int
) -> list[dict[str, str]]:
    """
    Reply to contexts.

    :param turns: B turns; their own replies are ignored.
    :param seed: decides the sampling.
    :return: for each turn a reply of the likeliest words (``greedy``) and one sampled
        from the likelier words (``sampled``; Holtzman et al. 2020).
    """
    torch.manual_seed(seed)
    found: list[dict[str, str]] = []
    data = job.encode(rows_of(turns))
    for start in tqdm(range(0, len(data), REPLIES_AT_ONCE), desc='replies'):
        batch = job.collate(data[start : start + REPLIES_AT_ONCE])
        del batch['labels']
        texts = {}
        for way, options in (
            ('greedy', {'do_sample': False}),
            ('sampled', {'do_sample': True, 'top_p': settings.top_p, 'top_k': 0}),
        ):
            ids = model.generate(
                **batch, **options, num_beams=1, max_new_tokens=settings.reply_tokens
            )
            texts[way] = job.tokenizer.batch_decode(ids, skip_special_tokens=True)
        found += [dict(zip(texts, row)) for row in zip(*texts.values())]
    return found


def rows_of(turns: Sequence[Fields]) -> list[dict[str, Any]]:
    """
    Turns in the form that training the shipped reply model reads.
    """
    return [
        {'k': t['knowledge'], 'h': [t['text']] if t['text'] else [], 'r': t['reply']}
        for t in turns
    ]
