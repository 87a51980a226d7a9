"""
Trains the detector: whether its knowledge supports a response.

Rows have ``p`` (knowledge), ``h`` (response), ``y`` (class number), ``src`` and, for
distillation, ``z``: a teacher's logits. A row's loss is its cross-entropy; for a row
with logits 0.3 times that, plus 0.7 times the divergence from the teacher (Hinton et
al. 2015, arXiv 1503.02531, at temperature 1).
"""

import math
from collections import defaultdict
from typing import Any, NamedTuple, Optional, Sequence

import torch

from parlai_q2.zoo.train.data import by_length, moved, padded
from parlai_q2.zoo.train.whole_model import WholeModel

VALID_BATCH = 64
TEACHER_SHARE = 0.7


class ClassSample(NamedTuple):
    """One row as token ids; ``teacher`` holds a teacher's logits, if there are any."""

    ids: list[int]
    segments: list[int]
    label: int
    teacher: Optional[list[float]]
    row: dict[str, Any]


class ClassJob(WholeModel):
    """
    Trains a classifier of pairs.

    :param max_tokens: the limit for both texts together; in longer pairs the longer
        text is cut.
    """

    auto_class = 'AutoModelForSequenceClassification'

    def __init__(self, tokenizer: Any, max_tokens: int = 192):
        self.tokenizer, self.max_tokens = tokenizer, max_tokens
        self.valid: list[ClassSample] = []

    def encode(self, rows: Sequence[dict[str, Any]]) -> list[ClassSample]:
        if not rows:
            return []
        encoded = self.tokenizer(
            [row['p'] for row in rows],
            [row['h'] for row in rows],
            truncation='longest_first',
            max_length=self.max_tokens,
            return_token_type_ids=True,
        )
        return [
            ClassSample(
                encoded['input_ids'][i],
                encoded['token_type_ids'][i],
                row['y'],
                row.get('z'),
                row,
            )
            for i, row in enumerate(rows)
        ]

    def length(self, sample: ClassSample) -> int:
        return len(sample.ids)

    def collate(self, batch: Sequence[ClassSample]) -> dict[str, torch.Tensor]:
        tensors = {
            'input_ids': padded([s.ids for s in batch], self.tokenizer.pad_token_id),
            'attention_mask': padded([[1] * len(s.ids) for s in batch], 0),
            'token_type_ids': padded([s.segments for s in batch], 0),
            'labels': torch.tensor([s.label for s in batch]),
        }
        classes = next((len(s.teacher) for s in batch if s.teacher), 0)
        if classes:
            none = [math.nan] * classes
            tensors['teacher'] = torch.tensor([s.teacher or none for s in batch])
        return tensors

    def loss(self, model: Any, tensors: dict[str, torch.Tensor]) -> torch.Tensor:
        return self.text_loss(self._logits(model, tensors), tensors)

    def text_loss(
        self,
        logits: torch.Tensor,
        tensors: dict[str, torch.Tensor],
        smoothing: float = 0.0,
    ) -> torch.Tensor:
        """
        The mean loss of texts with logits [B, classes].

        :param smoothing: how much of each label is spread over all classes.
        """
        functional = torch.nn.functional
        loss = functional.cross_entropy(
            logits, tensors['labels'], reduction='none', label_smoothing=smoothing
        )
        if 'teacher' not in tensors:
            return loss.mean()
        taught = ~tensors['teacher'].isnan().any(-1)
        divergence = functional.kl_div(
            logits[taught].log_softmax(-1),
            tensors['teacher'][taught].float().softmax(-1),
            reduction='none',
        ).sum(-1)
        mixed = (1 - TEACHER_SHARE) * loss[taught] + TEACHER_SHARE * divergence
        return (loss[~taught].sum() + mixed.sum()) / len(loss)

    def validate(self, model: Any, device: str) -> dict[str, float]:
        """The :func:`metrics` of the held-out rows; empty where there are none."""
        rows = [s.row for s in self.valid]
        logits = self.logits(model, self.valid, device)
        return metrics(rows, logits.argmax(-1).tolist()) if rows else {}

    def logits(
        self, model: Any, samples: Sequence[ClassSample], device: str
    ) -> torch.Tensor:
        """The model's logits [N, classes], in the samples' order."""
        found: dict[int, torch.Tensor] = {}
        for part in by_length(samples, VALID_BATCH, self.length):
            tensors = moved(self.collate([samples[i] for i in part]), device)
            with torch.autocast(torch.device(device).type, dtype=torch.bfloat16):
                logits = self._logits(model, tensors)
            found.update(zip(part, logits.cpu(), strict=True))
        rows = [found[i] for i in range(len(samples))]
        return torch.stack(rows) if rows else torch.zeros(0, model.config.num_labels)

    def _logits(self, model: Any, tensors: dict[str, torch.Tensor]) -> torch.Tensor:
        names = self.tokenizer.model_input_names
        return model(**{name: tensors[name] for name in names}).logits.float()


def metrics(rows: Sequence[dict[str, Any]], classes: Sequence[int]) -> dict[str, float]:
    """
    How well rows were classified.

    :param rows: N rows, at least one.
    :param classes: N predicted class numbers.
    :return: ``score`` (the mean of the classes' recalls), ``accuracy``, ``recall_<y>``
        for each class that occurs.
    """
    right: dict[str, list[float]] = defaultdict(list)
    for row, found in zip(rows, classes, strict=True):
        value = float(row['y'] == found)
        right['accuracy'].append(value)
        right[f'recall_{row["y"]}'].append(value)
    found_ = {name: sum(v) / len(v) for name, v in sorted(right.items())}
    recalls = [v for name, v in found_.items() if name.startswith('recall_')]
    return {'score': sum(recalls) / len(recalls), **found_}
