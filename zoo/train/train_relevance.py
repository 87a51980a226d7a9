"""
Trains the model that judges whether a reply answers the turn, and whether it is right:

    python -m parlai_q2.zoo.train.train_relevance INIT OUT --pools POOLS.jsonl
        --questions QA.jsonl.xz --replies REPLY.jsonl.xz --dialogues DIAL.jsonl.gz
        --twins TWINS.jsonl --detector CONS.jsonl.xz

INIT is a transformers folder of BERT or MPNet, such as a detector's;
:mod:`~parlai_q2.zoo.train.relevance_blocks` describes the training data. A checkpoint
is written to OUT every few minutes; ``parlai_q2.models.converted.convert`` turns it
into the shipped form. With ``--teacher base``, it also learns to predict as that
preset's model of relevance does.
"""

import argparse
import random
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional as F
from transformers import AutoConfig, AutoTokenizer
from transformers import AutoModelForSequenceClassification as Classifier

from parlai_q2.models.relevance import OUTPUTS, add_knowledge, join_turns
from parlai_q2.presets import load_preset
from parlai_q2.scorers import backends
from parlai_q2.zoo.train.block import TrainingBlock
from parlai_q2.zoo.train.relevance_blocks import BlockSource
from parlai_q2.zoo.train.rows import read_rows
from parlai_q2.zoo.train.train_detector import CLASSES
from parlai_q2.zoo.train.training import chunks, freeze

MAX_TOKENS = 192
HEAD_FACTOR, WARM_UP, LEAST_RATE = 10, 30, 0.02
# Pairs in a step, and the number of blocks that are sorted by length at a time.
STEP, SORTED = 64, 60
# Blocks of a step that are computed together, which bounds the memory.
AT_ONCE = 2
SMOOTHING = 0.03
PAIR_WEIGHT = 0.5
# The weights of the softmax over a turn's replies and over a reply's turns, with labels
# of how they answer, or of the best ones.
RELEVANCE_WEIGHTS, CHOICE_WEIGHTS = (0.3, 0.4), (0.6, 0.4)
# Where all have more, they are as good as the best.
LEAST_BEHIND = 0.6
# The bound of a teacher's logits.
TEACHER_BOUND = 6.0


def steps_of(
    blocks: Iterator[TrainingBlock], seed: int
) -> Iterator[list[TrainingBlock]]:
    """Group blocks of similar length into steps of about :data:`STEP` pairs."""
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
    The mean loss per pair, over all labels that the blocks have.

    :param logits: [pairs of all blocks, 2].
    """
    total = logits.new_zeros(())
    for block, rows in zip(blocks, logits.split([len(b.pairs) for b in blocks])):
        relevance = rows[:, 0]
        total = total + ranking_loss(block, block.best, relevance, CHOICE_WEIGHTS)
        if block.knowledge:
            places = [n for n, pair in enumerate(block.pairs) if pair in block.support]
            if places:
                total = total + support_loss(block, rows[places, 1])
        else:
            labels = torch.tensor([block.relevance[pair] for pair in block.pairs])
            total = total + smoothed_loss(relevance, labels)
            weights = RELEVANCE_WEIGHTS
            total = total + ranking_loss(block, block.relevance, relevance, weights)
    return total / len(logits)


def smoothed_loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Binary cross-entropy with smoothed labels, summed."""
    target = SMOOTHING + (1 - 2 * SMOOTHING) * labels
    return F.binary_cross_entropy_with_logits(logits, target, reduction='sum')


def ranking_loss(
    block: TrainingBlock,
    labels: Mapping[tuple[int, int], float],
    logits: torch.Tensor,
    weights: Sequence[float],
) -> torch.Tensor:
    """
    Cross-entropy of choosing the best of a turn's replies, and of a reply's turns.

    :param labels: by context and reply; the best have 1.
    :param weights: of the two terms.
    """
    total = logits.new_zeros(())
    for side, weight in enumerate(weights):
        groups: dict[int, list[int]] = {}
        for n, pair in enumerate(block.pairs):
            if pair in labels:
                groups.setdefault(pair[side], []).append(n)
        for group in groups.values():
            values = torch.tensor([float(labels[block.pairs[n]]) for n in group])
            best = (values == 1).float()
            if best.any() and values.min() < LEAST_BEHIND:
                share = torch.log_softmax(logits[group], 0) * best / best.sum()
                total = total - weight * len(group) * share.sum()
    return total


def support_loss(block: TrainingBlock, support: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of support, and a margin between supported and other replies."""
    labels = [block.support[pair] for pair in block.pairs if pair in block.support]
    target = torch.tensor(labels)
    loss = smoothed_loss(support, target)
    right, wrong = support[target == 1], support[target == 0]
    if len(right) and len(wrong):
        margins = F.softplus(wrong[None] - right[:, None])
        loss = loss + PAIR_WEIGHT * len(target) * margins.mean()
    return loss


def read_teacher(model: Any, blocks: Sequence[TrainingBlock]) -> torch.Tensor:
    """
    The logits of a model of relevance for the pairs of blocks.

    :return: [pairs of all blocks, 2], bounded by :data:`TEACHER_BOUND`; NaN for support
        without knowledge, which the model does not read then.
    """
    rows: list[tuple[float, float]] = []
    for block in blocks:
        turns = [block.turns[t] for t, _ in block.pairs]
        replies = [block.replies[r] for _, r in block.pairs]
        if block.knowledge:
            known = [block.knowledge[t] for t, _ in block.pairs]
            rows += model.predict_answers(list(zip(known, turns, replies)))
        else:
            logits = model.predict_relevance(list(zip(turns, replies)))
            rows += [(logit, float('nan')) for logit in logits]
    return torch.tensor(rows).clamp(-TEACHER_BOUND, TEACHER_BOUND)


def teacher_loss(logits: torch.Tensor, teacher: torch.Tensor) -> torch.Tensor:
    """The mean distance of logits [N, 2] to a teacher's (Huber loss), without NaN."""
    known = ~teacher.isnan()
    return F.smooth_l1_loss(logits[known], teacher[known], reduction='sum') / len(known)


def load_model(folder: str) -> Any:
    """
    Load a classifier with the two outputs of a relevance model. Both outputs of a
    detector begin as its log odds of support.
    """
    config = AutoConfig.from_pretrained(
        folder,
        # Without dropout, the model would memorise its pools.
        hidden_dropout_prob=0.1,
        attention_probs_dropout_prob=0.1,
    )
    is_detector = config.num_labels == CLASSES
    if not is_detector:
        config.num_labels = len(OUTPUTS)
    model = Classifier.from_pretrained(
        folder, config=config, ignore_mismatched_sizes=True
    )
    if is_detector:
        layer = output_layer(model)
        for weight in layer.parameters():
            # Entailed, against unsupported or contradicted.
            odds = weight.data[0] - weight.data[1:3].mean(0)
            weight.data = torch.stack([odds] * len(OUTPUTS))
        layer.out_features = len(OUTPUTS)
    model.config.id2label = dict(enumerate(OUTPUTS))
    model.config.label2id = {name: n for n, name in enumerate(OUTPUTS)}
    return model


def output_layer(model: Any) -> Any:
    """The last layer: of BERT the classifier itself, of MPNet a part of it."""
    return getattr(model.classifier, 'out_proj', model.classifier)


def train(args: argparse.Namespace) -> None:
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    # Computing in bf16 is twice as fast; the weights that are updated stay in fp32.
    kind = getattr(torch, args.type)
    tokenizer = AutoTokenizer.from_pretrained(args.init)
    tokenizer.truncation_side = 'left'  # The last turn matters most.
    model = load_model(args.init).train()
    freeze(model, args.frozen_layers)
    weights = [w for w in model.parameters() if w.requires_grad]
    head = len(list(model.classifier.parameters()))
    groups = [
        {'params': weights[:-head], 'peak': args.rate},
        {'params': weights[-head:], 'peak': HEAD_FACTOR * args.rate},
    ]
    optimizer = torch.optim.AdamW(
        groups, weight_decay=0.01, betas=(0.9, 0.98), fused=True
    )
    source = BlockSource(
        pools=read_rows(*args.pools),
        questions=read_rows(args.questions),
        replies=read_rows(args.replies),
        dialogues=read_rows(args.dialogues),
        twins=read_rows(*args.twins),
        detector=read_rows(args.detector)[::3],
    )
    losses: deque[float] = deque(maxlen=50)
    distances: deque[float] = deque(maxlen=500)
    teacher = None
    if args.teacher:
        teacher = backends.relevance(load_preset(args.teacher))
    read, start, saved = 0, time.time(), 0.0
    steps = steps_of(source.draw(random.Random(args.seed)), args.seed)
    for step, blocks in enumerate(steps):
        loss, pairs = 0.0, sum(len(block.pairs) for block in blocks)
        for part in chunks(blocks, AT_ONCE):
            with torch.autocast('cpu', kind, enabled=kind != torch.float32):
                logits = model(**encode(tokenizer, part)).logits
            logits = logits.float()
            part_loss = loss_of(part, logits)
            loss += part_loss.item() * len(logits) / pairs
            if teacher:
                distance = teacher_loss(logits, read_teacher(teacher, part))
                distances.append(distance.item())
                part_loss = args.label_weight * part_loss + distance
            (part_loss * len(logits) / pairs).backward()
        spent = (time.time() - start) / 60
        fraction = spent / args.minutes
        rate = min(1, (step + 1) / WARM_UP) * max(LEAST_RATE, 1 - fraction)
        for group in optimizer.param_groups:
            group['lr'] = group['peak'] * rate
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss)
        read += pairs
        if step % 20 == 0:
            mean = sum(losses) / len(losses)
            line = f'{spent:.1f} min, {read} pairs, loss {mean:.3f}'
            if distances:
                line += f', from the teacher {sum(distances) / len(distances):.3f}'
            print(line, flush=True)
        if spent - saved >= args.every or fraction >= 1:
            saved = spent
            folder = Path(args.out) / f'at_{spent:03.0f}'
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
        if fraction >= 1:
            return


def encode(tokenizer: Any, blocks: Sequence[TrainingBlock]) -> Any:
    """Tokenize the pairs of blocks; pairs that are too long are cut."""
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
    parser.add_argument('--teacher', help='a preset, such as base')
    parser.add_argument(
        '--label-weight', type=float, default=1.0, help='beside that of the teacher, 1'
    )
    parser.add_argument('--minutes', type=float, default=60)
    parser.add_argument('--every', type=float, default=5, help='minutes per checkpoint')
    parser.add_argument('--threads', type=int, default=1)
    parser.add_argument('--rate', type=float, default=8e-5, help='the highest')
    parser.add_argument('--type', default='bfloat16', help='float32 where that is slow')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument(
        '--frozen-layers', type=int, default=4, help='lowest layers that do not learn'
    )
    args = parser.parse_args(argv)
    Path(args.out).mkdir(parents=True, exist_ok=True)
    train(args)


if __name__ == '__main__':
    main()
