"""
Trains the model that judges whether a reply answers the turn, and whether it is right:

    python -m parlai_q2.zoo.train.train_relevance INIT OUT --pools POOLS.jsonl
        --questions QA.jsonl.xz --replies REPLY.jsonl.xz --dialogues DIAL.jsonl.gz

INIT is a transformers folder of a BERT model;
:mod:`~parlai_q2.zoo.train.relevance_blocks` says what it learns from. OUT gets a
checkpoint every few minutes, which ``parlai_q2.models.converted.convert`` turns into
the shipped form.
"""

import argparse
import random
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from parlai_q2.models.relevance import OUTPUTS, add_knowledge, join_turns
from parlai_q2.zoo.train.block import TrainingBlock
from parlai_q2.zoo.train.relevance_blocks import BlockSource
from parlai_q2.zoo.train.relevance_pools import read_rows

MAX_TOKENS = 192
HEAD_FACTOR, WARM_UP, LEAST_RATE = 10, 30, 0.02
# Pairs in a step; blocks are sorted by length, so many at a time.
STEP, SORTED = 64, 60
# The embeddings and the lowest layers stay as they are, which saves time.
FROZEN_LAYERS = 4
SMOOTHING = 0.03
# Of the softmax over a turn's replies, and over a reply's turns.
PAIR_WEIGHT = 0.5
REPLY_WEIGHT, TURN_WEIGHT = 0.3, 0.4
# Of the choice among a turn's replies, and among a reply's turns, for each of them.
CHOICE_WEIGHT, CHOICE_TURN_WEIGHT = 0.6, 0.4


def steps_of(
    blocks: Iterator[TrainingBlock], seed: int
) -> Iterator[list[TrainingBlock]]:
    """Steps of about ``STEP`` pairs, in blocks of about one length."""
    draw = random.Random(seed)
    while True:
        several = sorted((next(blocks) for _ in range(SORTED)), key=_length)
        steps: list[list[TrainingBlock]] = [[]]
        for block in several:
            if sum(len(b.pairs) for b in steps[-1]) >= STEP:
                steps.append([])
            steps[-1].append(block)
        draw.shuffle(steps)
        yield from steps


def _length(block: TrainingBlock) -> int:
    return max(len(first) + len(second) for first, second in texts_of(block))


def texts_of(block: TrainingBlock) -> list[tuple[str, str]]:
    if not block.knowledge:
        return [(join_turns(block.turns[t]), block.replies[r]) for t, r in block.pairs]
    return [
        (
            add_knowledge(block.turns[t], block.knowledge[t], block.replies[r]),
            block.replies[r],
        )
        for t, r in block.pairs
    ]


def loss_of(blocks: Sequence[TrainingBlock], logits: Any) -> Any:
    """
    Cross-entropy of both outputs, and of relevance among the replies to a turn and
    among the turns of a reply.

    :param logits: [pairs of all blocks, 2].
    """
    import torch
    from torch.nn import functional as F

    total = logits.new_zeros(())
    count = 0
    for block, rows in zip(blocks, logits.split([len(b.pairs) for b in blocks])):
        pairs = block.pairs
        count += len(pairs)
        if block.knowledge:
            places = [n for n, pair in enumerate(pairs) if pair in block.support]
            if places:
                total = total + support_loss(block, rows[places, 1])
            total = total + choice_loss(block, rows[:, 0])
            continue
        known = [n for n, pair in enumerate(pairs) if pair in block.relevance]
        target = torch.tensor([block.relevance[pairs[n]] for n in known])
        relevance = rows[known, 0]
        total = total + F.binary_cross_entropy_with_logits(
            relevance, SMOOTHING + (1 - 2 * SMOOTHING) * target, reduction='sum'
        )
        for side, weight in ((0, REPLY_WEIGHT), (1, TURN_WEIGHT)):
            groups: dict[int, list[int]] = {}
            for n, place in enumerate(known):
                groups.setdefault(pairs[place][side], []).append(n)
            for group in groups.values():
                own = target[group]
                if own.max() - own.min() > 0.4 and own.max() == 1:
                    best = (own == 1).float()
                    chosen = torch.log_softmax(relevance[group], 0)
                    chosen = -(chosen * best / best.sum()).sum()
                    total = total + weight * len(group) * chosen
    return total / count


def choice_loss(block: TrainingBlock, logits: Any) -> Any:
    """Cross-entropy of a turn's best replies, and of a reply's right turn."""
    import torch

    total = logits.new_zeros(())
    for side, weight in ((0, CHOICE_WEIGHT), (1, CHOICE_TURN_WEIGHT)):
        groups: dict[int, list[int]] = {}
        for n, pair in enumerate(block.pairs):
            if pair in block.best:
                groups.setdefault(pair[side], []).append(n)
        for group in groups.values():
            best = torch.tensor([float(block.best[block.pairs[n]]) for n in group])
            if 0 < best.sum() < len(group):
                chosen = torch.log_softmax(logits[group], 0)
                chosen = -(chosen * best / best.sum()).sum()
                total = total + weight * len(group) * chosen
    return total


def support_loss(block: TrainingBlock, support: Any) -> Any:
    """Cross-entropy of support, and of the right replies among those to a turn."""
    import torch
    from torch.nn import functional as F

    target = torch.tensor(
        [block.support[pair] for pair in block.pairs if pair in block.support]
    )
    loss = F.binary_cross_entropy_with_logits(
        support, SMOOTHING + (1 - 2 * SMOOTHING) * target, reduction='sum'
    )
    right, wrong = support[target == 1], support[target == 0]
    if len(right) and len(wrong):
        margins = F.softplus(wrong[None] - right[:, None])
        loss = loss + PAIR_WEIGHT * len(target) * margins.mean()
    return loss


def load_model(folder: str) -> Any:
    """The classifier with the outputs of a model of relevance."""
    from transformers import AutoModelForSequenceClassification as Classifier

    model = Classifier.from_pretrained(
        folder,
        num_labels=len(OUTPUTS),
        ignore_mismatched_sizes=True,
        # Without dropout, it learns its own pools by heart.
        hidden_dropout_prob=0.1,
        attention_probs_dropout_prob=0.1,
    )
    _keep_outputs(model, folder)
    model.config.id2label = dict(enumerate(OUTPUTS))
    model.config.label2id = {name: n for n, name in enumerate(OUTPUTS)}
    return model


def _keep_outputs(model: Any, folder: str) -> None:
    """Outputs that a model with fewer of them has stay as they are."""
    import torch
    from transformers import AutoModelForSequenceClassification as Classifier

    old = Classifier.from_pretrained(folder)
    if tuple(old.config.id2label.values()) == OUTPUTS[: old.config.num_labels]:
        with torch.no_grad():
            for name, weight in old.classifier.named_parameters():
                getattr(model.classifier, name)[: len(weight)] = weight


def train(args: argparse.Namespace) -> None:
    import torch
    from transformers import AutoTokenizer

    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    tokenizer = AutoTokenizer.from_pretrained(args.init)
    tokenizer.truncation_side = 'left'  # The last turn matters most.
    # Computing in bf16 is twice as fast; the weights that are updated stay in fp32.
    whole = load_model(args.init)
    model = load_model(args.init).to(getattr(torch, args.type)).train()
    model.load_state_dict(whole.state_dict())
    for each in (whole, model):
        for part in (each.bert.embeddings, *each.bert.encoder.layer[:FROZEN_LAYERS]):
            part.requires_grad_(False)
    both = zip(whole.parameters(), model.parameters(), strict=True)
    pairs = [(w, m) for w, m in both if w.requires_grad]
    weights = [w for w, _ in pairs]
    head = len(list(whole.classifier.parameters()))
    groups = [
        {'params': weights[:-head], 'peak': args.rate},
        {'params': weights[-head:], 'peak': HEAD_FACTOR * args.rate},
    ]
    optimizer = torch.optim.AdamW(
        groups, weight_decay=0.01, betas=(0.9, 0.98), fused=True
    )
    source = BlockSource(
        pools=[pool for path in args.pools for pool in read_rows(path)],
        questions=read_rows(args.questions),
        replies=read_rows(args.replies),
        dialogues=read_rows(args.dialogues),
        twins=[twin for path in args.twins for twin in read_rows(path)],
        detector=read_rows(args.detector)[::3],
    )
    losses: deque[float] = deque(maxlen=50)
    read, start, saved = 0, time.time(), 0.0
    steps = steps_of(source.draw(random.Random(args.seed)), args.seed)
    for step, blocks in enumerate(steps):
        loss = loss_of(blocks, model(**encode(tokenizer, blocks)).logits.float())
        loss.backward()
        for w, m in pairs:
            w.grad, m.grad = m.grad.float(), None
        spent = (time.time() - start) / 60
        fraction = spent / args.minutes
        rate = min(1, (step + 1) / WARM_UP) * max(LEAST_RATE, 1 - fraction)
        for group in optimizer.param_groups:
            group['lr'] = group['peak'] * rate
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        with torch.no_grad():
            for w, m in pairs:
                m.copy_(w)
        losses.append(loss.item())
        read += sum(len(b.pairs) for b in blocks)
        if step % 20 == 0:
            mean = sum(losses) / len(losses)
            print(f'{spent:.1f} min, {read} pairs, loss {mean:.3f}', flush=True)
        if spent - saved >= args.every or fraction >= 1:
            saved = spent
            folder = Path(args.out) / f'at_{spent:03.0f}'
            whole.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
        if fraction >= 1:
            return


def encode(tokenizer: Any, blocks: Sequence[TrainingBlock]) -> Any:
    """The pairs of blocks as tensors, cut where they are too long."""
    texts = [pair for block in blocks for pair in texts_of(block)]
    return tokenizer(
        [first for first, _ in texts],
        [second for _, second in texts],
        truncation='longest_first',
        max_length=MAX_TOKENS,
        padding=True,
        return_tensors='pt',
    )


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description='Trains the model of relevance')
    parser.add_argument('init')
    parser.add_argument('out')
    parser.add_argument('--pools', nargs='+', required=True)
    parser.add_argument('--questions', required=True)
    parser.add_argument('--replies', required=True)
    parser.add_argument('--dialogues', required=True)
    parser.add_argument('--twins', nargs='+', required=True)
    parser.add_argument('--detector', required=True)
    parser.add_argument('--minutes', type=float, default=60)
    parser.add_argument('--every', type=float, default=5, help='minutes per checkpoint')
    parser.add_argument('--threads', type=int, default=1)
    parser.add_argument('--rate', type=float, default=8e-5, help='the highest')
    parser.add_argument('--type', default='bfloat16', help='float32 where that is slow')
    parser.add_argument('--seed', type=int, default=0)
    args = parser.parse_args(argv)
    Path(args.out).mkdir(parents=True, exist_ok=True)
    train(args)


if __name__ == '__main__':
    main()
