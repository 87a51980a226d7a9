"""
Trains the model that says whether a reply answers the turn, and whether it is free of
unsupported claims, from pools of replies to one turn:

    python -m parlai_q2.zoo.train.train_relevance INIT OUT --pools POOLS.jsonl
        --qa QA.jsonl.xz --twins TWINS.jsonl.gz --detector CONS.jsonl.xz
        --dialogues DIAL.jsonl.gz --minutes 50

INIT is a transformers folder of a BERT classifier, here the detector's;
:mod:`~parlai_q2.zoo.train.relevance_pools` says what a pool is. OUT gets a checkpoint
every few minutes, which ``parlai_q2.models.converted.convert`` turns into the shipped
form.
"""

import argparse
import random
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from parlai_q2.models.relevance import context_of
from parlai_q2.zoo.train.relevance_pools import (
    Pool,
    PoolSource,
    QaPools,
    is_best,
    is_held_out,
    read_rows,
)

MAX_TOKENS = 256
PEAK_RATE, HEAD_FACTOR, WARM_UP, LEAST_RATE = 7e-5, 10, 30, 0.03
# Candidates in a step of a process; steps are made of so many pools at a time, so that
# those of about one length come together.
STEP, SORTED = 8, 60
# The lowest layers stay as they are, which saves a sixth of the time.
FROZEN_LAYERS = 3
SMOOTHING, TWIN_MARGIN = 0.02, 1.5


def steps_of(pools: Iterator[Pool], seed: int) -> Iterator[list[Pool]]:
    """Steps of about ``STEP`` candidates, of pools of about one length."""
    draw = random.Random(seed)
    while True:
        several = [next(pools) for _ in range(SORTED)]
        several.sort(key=lambda pool: len(context(pool)))
        steps: list[list[Pool]] = [[]]
        for pool in several:
            if sum(len(p['candidates']) for p in steps[-1]) >= STEP:
                steps.append([])
            steps[-1].append(pool)
        draw.shuffle(steps)
        yield from steps


def loss_of(pools: Sequence[Pool], logits: Any) -> Any:
    """
    Cross-entropy of relevance and of support, and of the choice: the softmax over a
    pool of log P(relevant) + log P(supported), whose target is every best reply.

    :param logits: [candidates of all pools, 2].
    """
    import torch
    from torch.nn import functional as F

    total = logits.new_zeros(())
    sizes = [len(p['candidates']) for p in pools]
    for pool, rows in zip(pools, logits.split(sizes), strict=True):
        replies = pool['candidates']
        answers = [-1.0 if c['a'] is None else c['a'] / 2 for c in replies]
        relevant = torch.tensor(answers)
        supported = smoothed(torch.tensor([float(c['g'] != 0) for c in replies]))
        total = total + F.binary_cross_entropy_with_logits(rows[:, 1], supported)
        known = relevant >= 0
        if known.any():
            target = smoothed(relevant[known])
            total = total + F.binary_cross_entropy_with_logits(rows[known, 0], target)
        best = torch.tensor([float(is_best(c)) for c in replies])
        if 0 < best.sum() < len(replies):
            both = F.logsigmoid(rows).sum(1)
            total = total - (torch.log_softmax(both, 0) * (best / best.sum())).sum()
        elif len(replies) == 2 and not known.any():  # twins
            total = total + F.softplus(TWIN_MARGIN - (rows[0, 1] - rows[1, 1]))
    return total / len(pools)


def smoothed(targets: Any) -> Any:
    return SMOOTHING + (1 - 2 * SMOOTHING) * targets


def load_model(folder: str) -> Any:
    """The classifier with two outputs, of which support starts as the detector's."""
    import torch
    from transformers import AutoModelForSequenceClassification as Classifier

    model = Classifier.from_pretrained(folder)
    if model.config.num_labels == 2:
        return model
    old = model.classifier
    model.classifier = torch.nn.Linear(model.config.hidden_size, 2)
    with torch.no_grad():
        for name, new in model.classifier.named_parameters():
            entailed, neutral, contradicted, generic = getattr(old, name)
            new.zero_()
            new[1] = (entailed + generic - neutral - contradicted) / 2
    model.config.id2label = {0: 'relevance', 1: 'support'}
    model.config.label2id = {'relevance': 0, 'support': 1}
    model.num_labels = 2
    return model


def freeze(model: Any) -> None:
    """Train neither the embeddings nor the lowest layers."""
    for part in (model.bert.embeddings, *model.bert.encoder.layer[:FROZEN_LAYERS]):
        part.requires_grad_(False)


def train(rank: int, args: argparse.Namespace) -> None:
    """
    Train in one of several processes of one thread each, which together are faster than
    one process of several threads where others use the processors, too.
    """
    import torch
    from torch import distributed
    from transformers import AutoTokenizer

    torch.manual_seed(args.seed + rank)
    torch.set_num_threads(1)
    place = f'file://{Path(args.out).resolve()}/processes'
    distributed.init_process_group('gloo', place, rank=rank, world_size=args.processes)
    tokenizer = AutoTokenizer.from_pretrained(args.init)
    # Computing in bf16 is twice as fast; the weights that are updated stay in fp32.
    whole, model = load_model(args.init), load_model(args.init).to(torch.bfloat16)
    freeze(whole)
    freeze(model)
    both = zip(whole.parameters(), model.train().parameters(), strict=True)
    pairs = [(w, m) for w, m in both if w.requires_grad]
    weights = [w for w, _ in pairs]
    head = list(whole.classifier.parameters())
    groups = [
        {'params': weights[: -len(head)], 'peak': PEAK_RATE},
        {'params': head, 'peak': HEAD_FACTOR * PEAK_RATE},
    ]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01, betas=(0.9, 0.98))
    labelled = [p for f in args.pools for p in read_rows(f) if not is_held_out(p)]
    detector = [
        r for r in read_rows(args.detector)[:: args.processes * 4] if r['src'] != 'anli'
    ]
    source = PoolSource(
        labelled,
        QaPools(read_rows(args.qa)),
        read_rows(args.twins),
        detector,
        read_rows(args.dialogues),
    )
    pools = source.draw(random.Random(args.seed + 1000 * rank))
    losses: deque[float] = deque(maxlen=50)
    start, saved = time.time(), 0.0
    for step, some in enumerate(steps_of(pools, args.seed + rank)):
        loss = loss_of(some, model(**encoded(tokenizer, some)).logits.float())
        loss.backward()
        spent = (time.time() - start) / 60
        said = torch.tensor([spent, loss.item()])
        flat = torch.cat([*(m.grad.float().flatten() for _, m in pairs), said])
        distributed.all_reduce(flat)
        flat /= args.processes
        for (w, m), part in zip(pairs, flat.split([w.numel() for w in weights] + [2])):
            w.grad, m.grad = part.view_as(w), None
        spent, mean = flat[-2:].tolist()
        fraction = args.begin + (1 - args.begin) * spent / args.minutes
        rate = min(1, (step + 1) / WARM_UP) * max(LEAST_RATE, 1 - fraction)
        for group in optimizer.param_groups:
            group['lr'] = group['peak'] * rate
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        with torch.no_grad():
            for w, m in pairs:
                m.copy_(w)
        losses.append(mean)
        if rank == 0 and step % 20 == 0:
            mean = sum(losses) / len(losses)
            print(f'{spent:.1f} min, step {step}, loss {mean:.3f}', flush=True)
        if spent - saved >= args.every or fraction >= 1:
            saved = spent
            if rank == 0:
                folder = Path(args.out) / f'at_{spent:03.0f}'
                whole.save_pretrained(folder)
                tokenizer.save_pretrained(folder)
        if fraction >= 1:
            return


def context(pool: Pool) -> str:
    return context_of(' '.join(pool['knowledge']), pool['history'])


def encoded(tokenizer: Any, pools: Sequence[Pool]) -> Any:
    """The replies of pools as tensors, the contexts cut where they are too long."""
    first = [context(p) for p in pools for _ in p['candidates']]
    second = [c['text'] for p in pools for c in p['candidates']]
    return tokenizer(
        first,
        second,
        truncation='only_first',
        max_length=MAX_TOKENS,
        padding=True,
        return_tensors='pt',
    )


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description='Trains the model of relevance')
    parser.add_argument('init')
    parser.add_argument('out')
    parser.add_argument('--pools', nargs='+', required=True)
    parser.add_argument('--qa', required=True)
    parser.add_argument('--twins', required=True)
    parser.add_argument('--detector', required=True)
    parser.add_argument('--dialogues', required=True)
    parser.add_argument('--minutes', type=float, default=50)
    parser.add_argument(
        '--begin', type=float, default=0, help='of the schedule, in [0, 1)'
    )
    parser.add_argument('--every', type=float, default=5, help='minutes per checkpoint')
    parser.add_argument('--processes', type=int, default=2)
    parser.add_argument('--seed', type=int, default=0)
    args = parser.parse_args(argv)
    Path(args.out).mkdir(parents=True, exist_ok=True)
    (Path(args.out) / 'processes').unlink(missing_ok=True)

    from torch.multiprocessing import spawn

    spawn(train, (args,), args.processes)


if __name__ == '__main__':
    main()
