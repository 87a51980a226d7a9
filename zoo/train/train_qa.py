"""
Trains the question answerer: where in a text the answer to a question begins and ends.

The loss is that of Devlin et al. 2019 on SQuAD 2.0: cross-entropy of the start and of
the end, with ``[CLS]`` for "no answer". Rows have ``q``, ``c``, ``s`` (offset of the
answer in ``c``, -1 for none), ``a`` and ``src``.
"""

from collections import defaultdict
from typing import Any, NamedTuple, Sequence

import torch

from parlai_q2.models.question_answering import SpanQuestionAnswerer
from parlai_q2.presets import ModelConfig
from parlai_q2.text.normalize import normalize
from parlai_q2.text.overlap import token_f1
from parlai_q2.zoo.train.data import by_length, moved, padded
from parlai_q2.zoo.train.whole_model import WholeModel

VALID_BATCH = 64


class SpanSample(NamedTuple):
    """
    One row as token ids.

    :param segments: 0 for the question, 1 for the text.
    :param start: position of the answer's first token; 0 for no answer.
    :param end: position of its last token.
    :param offsets: character offsets in the text, for each position.
    """

    ids: list[int]
    segments: list[int]
    start: int
    end: int
    offsets: list[tuple[int, int]]
    row: dict[str, Any]


class SpanJob(WholeModel):
    """
    Trains a span-prediction encoder.

    :param max_tokens: the limit for question and text together. A longer text is cut,
        and a row whose answer is cut off is left out.
    """

    auto_class = 'AutoModelForQuestionAnswering'

    def __init__(self, tokenizer: Any, max_tokens: int = 192):
        self.tokenizer, self.max_tokens = tokenizer, max_tokens
        self.valid: list[SpanSample] = []
        # Reads answers from the logits as the shipped preset does; it loads nothing.
        self._reader = SpanQuestionAnswerer(ModelConfig('training'))

    def encode(self, rows: Sequence[dict[str, Any]]) -> list[SpanSample]:
        if not rows:
            return []
        encoded = self.tokenizer(
            [row['q'] for row in rows],
            [row['c'] for row in rows],
            truncation='only_second',
            max_length=self.max_tokens,
            return_offsets_mapping=True,
        )
        samples = []
        for i, row in enumerate(rows):
            offsets, owner = encoded['offset_mapping'][i], encoded.sequence_ids(i)
            first, last = row['s'], row['s'] + len(row['a'])
            held = [
                j
                for j, ((a, b), of) in enumerate(zip(offsets, owner, strict=True))
                if of == 1 and first < b and a < last
            ]
            cut = not held or offsets[held[-1]][1] < last
            if row['s'] >= 0 and cut:
                continue
            start, end = (held[0], held[-1]) if row['s'] >= 0 else (0, 0)
            segments = [int(of == 1) for of in owner]
            segments[-1] = 1  # the last [SEP] belongs to the text
            ids = encoded['input_ids'][i]
            samples.append(SpanSample(ids, segments, start, end, offsets, row))
        return samples

    def length(self, sample: SpanSample) -> int:
        return len(sample.ids)

    def collate(self, batch: Sequence[SpanSample]) -> dict[str, torch.Tensor]:
        ids = padded([s.ids for s in batch], self.tokenizer.pad_token_id)
        return {
            'input_ids': ids,
            'attention_mask': padded([[1] * len(s.ids) for s in batch], 0),
            'token_type_ids': padded([s.segments for s in batch], 0),
            'start': torch.tensor([s.start for s in batch]),
            'end': torch.tensor([s.end for s in batch]),
        }

    def loss(self, model: Any, tensors: dict[str, torch.Tensor]) -> torch.Tensor:
        start, end = self._logits(model, tensors)
        cross_entropy = torch.nn.functional.cross_entropy
        return (
            cross_entropy(start, tensors['start']) + cross_entropy(end, tensors['end'])
        ) / 2

    def validate(self, model: Any, device: str) -> dict[str, float]:
        """The :func:`metrics` of the held-out rows; empty where there are none."""
        return metrics([s.row for s in self.valid], self.answers(model, device))

    def answers(self, model: Any, device: str) -> list[str]:
        """The model's answers to the held-out rows; '' for no answer."""
        found = [''] * len(self.valid)
        for part in by_length(self.valid, VALID_BATCH, self.length):
            tensors = moved(self.collate([self.valid[i] for i in part]), device)
            with torch.autocast(torch.device(device).type, dtype=torch.bfloat16):
                start, end = self._logits(model, tensors)
            for i, s, e in zip(part, start.cpu(), end.cpu(), strict=True):
                one = self.valid[i]
                size = len(one.ids)
                in_text = [
                    bool(of) and b > a
                    for of, (a, b) in zip(one.segments, one.offsets, strict=True)
                ]
                read = self._reader.read(s[:size], e[:size], 0, in_text, one.offsets)
                if read.span:
                    found[i] = one.row['c'][slice(*read.span)]
        return found

    def _logits(
        self, model: Any, tensors: dict[str, torch.Tensor]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        names = self.tokenizer.model_input_names
        output = model(**{name: tensors[name] for name in names})
        padding = tensors['attention_mask'] == 0
        # Padding cannot be an answer.
        return (
            output.start_logits.float().masked_fill(padding, -1e4),
            output.end_logits.float().masked_fill(padding, -1e4),
        )


def metrics(rows: Sequence[dict[str, Any]], answers: Sequence[str]) -> dict[str, float]:
    """
    How well N rows were answered.

    :param answers: N answers, '' for none.
    :return: ``score`` (the mean of ``answer_f1`` and ``no_answer_recall``),
        ``answer_f1`` (over the answerable rows; an abstention counts 0),
        ``no_answer_recall`` (over the unanswerable rows) and ``no_answer_precision``
        (over the abstentions). Metrics without any rows are left out.
    """
    right: dict[str, list[float]] = defaultdict(list)
    for row, answer in zip(rows, answers, strict=True):
        answerable = row['s'] >= 0
        value = answer_f1(row['a'], answer) if answerable else float(not answer)
        right['answer_f1' if answerable else 'no_answer_recall'].append(value)
        if not answer:
            right['no_answer_precision'].append(float(not answerable))
    found = {name: sum(v) / len(v) for name, v in sorted(right.items())}
    both = [found[n] for n in ('answer_f1', 'no_answer_recall') if n in found]
    return {'score': sum(both) / len(both), **found} if both else {}


def answer_f1(gold: str, answer: str) -> float:
    """Token F1. If one of the two is only articles ("a"), whether both are equal."""
    if not normalize(gold) or not normalize(answer):
        return float(gold.strip().lower() == answer.strip().lower())
    return token_f1(gold, answer)
