"""
Trains a detector: does the knowledge support the response?

    python -m parlai_q2.zoo.train.train_detector --rows cons.train.jsonl.xz \
      twins.train.jsonl.gz --held-out twins.valid.jsonl.gz \
      --initial shipped:q2_mini/consistency --outdir out

A row has ``p`` (knowledge), ``h`` (response) and ``y`` (class: 0 entailed, 1
unsupported, 2 contradicted, 3 generic; none: learn from the teacher alone). A twin also
has ``wrong`` and ``y_wrong``, a wrong response that differs in one thing.

The loss is cross-entropy with smoothed labels, mixed with the divergence from a
teacher's probabilities (Hinton et al. 2015, arXiv 1503.02531). For twins, the log odds
of support of the right response should exceed those of the wrong one by a margin.
"""

import argparse
from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoModelForSequenceClassification

from parlai_q2.errors import ConfigError
from parlai_q2.models.converted.reader import stored_folder
from parlai_q2.models.loading import load_model, load_tokenizer
from parlai_q2.zoo.train.rows import Row, read_rows
from parlai_q2.zoo.train.training import (
    LengthGroupedTrainer,
    average_weights,
    base_parser,
    chunks,
    save_model,
    train_model,
)

CLASSES = 4
MARGIN = 2.0  # between log odds: from 0.27 to 0.73
TWIN_WEIGHT = 0.5
LABEL_SMOOTHING = 0.04
NO_LABEL = -100
BATCH = 64
Sample = dict[str, Any]


def encode_rows(rows: Sequence[Row], tokenizer: Any, max_tokens: int) -> list[Sample]:
    """
    One sample for each row: ``input_ids`` and ``label`` of the response and, of a twin,
    a nested sample ``wrong``.
    """
    samples = _encode_texts([(r['p'], r['h']) for r in rows], tokenizer, max_tokens)
    for sample, row in zip(samples, rows, strict=True):
        sample['label'] = row.get('y', NO_LABEL)
    twins = [n for n, row in enumerate(rows) if 'wrong' in row]
    texts = [(rows[n]['p'], rows[n]['wrong']) for n in twins]
    wrong_samples = _encode_texts(texts, tokenizer, max_tokens)
    for n, wrong in zip(twins, wrong_samples, strict=True):
        samples[n]['wrong'] = {**wrong, 'label': rows[n]['y_wrong']}
    return samples


def _encode_texts(
    texts: Sequence[tuple[str, str]], tokenizer: Any, max_tokens: int
) -> list[Sample]:
    if not texts:
        return []
    # The scorer lower-cases both texts, too.
    encoded = tokenizer(
        [knowledge.lower() for knowledge, _ in texts],
        [response.lower() for _, response in texts],
        truncation='longest_first',
        max_length=max_tokens,
    )
    names = [name for name in tokenizer.model_input_names if name in encoded]
    columns = zip(*(encoded[name] for name in names), strict=True)
    return [dict(zip(names, values, strict=True)) for values in columns]


def collate(padding: int, samples: Sequence[Sample]) -> dict[str, torch.Tensor]:
    """Pad the texts of B samples; a twin makes two rows, its right response first."""
    texts: list[Sample] = []
    twins: list[tuple[int, int]] = []
    for sample in samples:
        if 'wrong' in sample:
            twins.append((len(texts), len(texts) + 1))
        texts += [sample, sample['wrong']] if 'wrong' in sample else [sample]
    values = {'input_ids': padding, 'attention_mask': 0, 'token_type_ids': 0}
    tensors = {}
    for name, value in values.items():
        if name in texts[0]:
            rows = [torch.tensor(text[name]) for text in texts]
            tensors[name] = pad_sequence(rows, True, value)
    tensors['labels'] = torch.tensor([text['label'] for text in texts])
    tensors['twins'] = torch.tensor(twins, dtype=torch.long).reshape(-1, 2)
    if 'teacher' in texts[0]:
        tensors['teacher'] = torch.tensor([text['teacher'] for text in texts])
    return tensors


def log_odds(logits: torch.Tensor) -> torch.Tensor:
    """
    The log odds of support, [N], of logits [N, 4]: entailed against unsupported or
    contradicted, without generic, as in
    :func:`parlai_q2.scorers.consistency.support`.
    """
    return logits[:, 0] - logits[:, 1:3].logsumexp(-1)


def detector_loss(
    logits: torch.Tensor, batch: dict[str, torch.Tensor], teacher_share: float
) -> torch.Tensor:
    """
    The mean loss of N texts.

    :param logits: [N, 4].
    :param batch: what :func:`collate` made of them, without the model's inputs.
    :param teacher_share: weight of the teacher, in [0, 1], where a text has a label.
    """
    labels, twins = batch['labels'], batch['twins']
    labelled = (labels != NO_LABEL).float()
    per_text = functional.cross_entropy(
        logits, labels, reduction='none', label_smoothing=LABEL_SMOOTHING
    )
    if 'teacher' in batch:
        share = torch.where(labels == NO_LABEL, 1.0, teacher_share)
        target = batch['teacher'].softmax(-1)
        divergence = functional.kl_div(
            logits.log_softmax(-1), target, reduction='none'
        ).sum(-1)
        per_text = (1 - share) * labelled * per_text + share * divergence
    loss = per_text.sum()
    if len(twins):
        odds = log_odds(logits)
        apart = odds[twins[:, 0]] - odds[twins[:, 1]]
        loss = loss + TWIN_WEIGHT * functional.softplus(MARGIN - apart).sum()
    return loss / len(labels)


class DetectorTrainer(LengthGroupedTrainer):
    """Trains a classifier by :func:`detector_loss`."""

    def __init__(self, *args: Any, teacher_share: float, **settings: Any):
        super().__init__(*args, **settings)
        self.teacher_share = teacher_share

    def compute_loss(
        self, model: Any, inputs: Any, return_outputs: bool = False, **_: Any
    ) -> Any:
        extra = {'labels', 'twins', 'teacher'}
        batch = {name: inputs[name] for name in extra if name in inputs}
        outputs = model(**{n: t for n, t in inputs.items() if n not in extra})
        loss = detector_loss(outputs.logits.float(), batch, self.teacher_share)
        return (loss, outputs) if return_outputs else loss


@torch.inference_mode()
def predict_logits(
    model: Any, samples: Sequence[Sample], padding: int, device: str = 'cpu'
) -> torch.Tensor:
    """Logits [N, 4] of N samples, in order; a twin counts as two."""
    model.to(device).eval()
    logits = [torch.zeros(0, CLASSES)]
    for part in chunks(samples, BATCH):
        batch = collate(padding, part)
        inputs = {n: batch[n].to(device) for n in batch if n.endswith(('ids', 'mask'))}
        logits.append(model(**inputs).logits.float().cpu())
    return torch.cat(logits)


def add_teacher(samples: Sequence[Sample], logits: torch.Tensor) -> None:
    """Give each text the logits of a teacher, as :func:`predict_logits` orders them."""
    rows = iter(logits.tolist())
    for sample in samples:
        sample['teacher'] = next(rows)
        if 'wrong' in sample:
            sample['wrong']['teacher'] = next(rows)


def measure(samples: Sequence[Sample], logits: torch.Tensor) -> dict[str, float]:
    """
    Measure how well held-out rows are classified.

    :return: of the twins, the share of wrong responses below 0.5 (``wrong_below``), of
        right ones above their wrong one (``right_above``) and of right ones from 0.5 on
        (``right_kept``); of other rows ``accuracy``. Measures without rows are left
        out.
    """
    shares: dict[str, list[bool]] = {}
    odds, classes = log_odds(logits).tolist(), logits.argmax(-1).tolist()
    place = 0
    for sample in samples:
        if 'wrong' in sample:
            right, wrong = odds[place : place + 2]
            shares.setdefault('wrong_below', []).append(wrong < 0)
            shares.setdefault('right_above', []).append(right > wrong)
            shares.setdefault('right_kept', []).append(right >= 0)
            place += 2
        else:
            correct = classes[place] == sample['label']
            shares.setdefault('accuracy', []).append(correct)
            place += 1
    return {name: sum(values) / len(values) for name, values in shares.items()}


def load_classifier(name: str) -> Any:
    """A model with four classes: a detector, or an encoder with a new output layer."""
    new: dict[str, Any] = {} if stored_folder(name) else {'num_labels': CLASSES}
    return load_model(name, AutoModelForSequenceClassification, **new)


def train(args: argparse.Namespace) -> dict[str, float]:
    """Train, write the model, and return what :func:`measure` gives for it."""
    rows = read_rows(*args.rows)
    if not args.teacher and any('y' not in row for row in rows):
        raise ConfigError('Some rows have no class (y). Name a --teacher.')
    tokenizer = load_tokenizer(args.initial)
    padding = tokenizer.pad_token_id
    samples = encode_rows(rows, tokenizer, args.max_tokens)
    held_out = encode_rows(read_rows(*args.held_out), tokenizer, args.max_tokens)
    if args.teacher:
        # A teacher of another architecture has other tokens.
        teacher_tokenizer = load_tokenizer(args.teacher)
        texts = encode_rows(rows, teacher_tokenizer, args.max_tokens)
        teacher = load_classifier(args.teacher)
        logits = predict_logits(
            teacher, texts, teacher_tokenizer.pad_token_id, args.device
        )
        add_teacher(samples, logits)
    trainer = partial(DetectorTrainer, teacher_share=args.teacher_share)
    initial = load_classifier(args.initial)
    model = train_model(args, initial, samples, partial(collate, padding), trainer)
    if args.share < 1:
        average_weights(model, load_classifier(args.initial), args.share)
    save_model(model, args.initial, args.outdir)
    return measure(held_out, predict_logits(model, held_out, padding))


def main(argv: Sequence[str] | None = None) -> None:
    """Train a detector."""
    parser = base_parser('Trains a detector', max_tokens=224)
    parser.add_argument('--teacher', help='a detector whose probabilities are learnt')
    parser.add_argument('--teacher-share', type=float, default=0.5)
    parser.add_argument(
        '--share',
        type=float,
        default=1.0,
        help='of the trained weights in the mean with the initial ones',
    )
    for name, value in train(parser.parse_args(argv)).items():
        print(f'{name} {value:.3f}')


if __name__ == '__main__':
    main()
