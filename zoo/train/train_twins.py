"""
Trains the detector to tell twins apart: a right and a wrong response to one knowledge.

A row of twins has ``p`` (knowledge), ``h`` (the right response), ``wrong``, ``y_wrong``
(the wrong one's class) and ``src``; other rows are those of
:mod:`parlai_q2.zoo.train.train_classifier`, so that what was learnt before is kept.

Each response of a twin has its cross-entropy, with smoothed labels. Beside it, the log
odds of support of the right one must be above those of the wrong one by a margin
(:data:`MARGIN`): what is learnt from it is the order of candidates, not a level.
"""

from collections import defaultdict
from typing import Any, NamedTuple, Sequence

import torch

from parlai_q2.zoo.train.train_classifier import ClassJob, ClassSample

# Log odds that lie between 0.27 and 0.73.
MARGIN = 2.0
PAIR_SHARE = 0.5
SMOOTHING = 0.04
THRESHOLD = 0.5


class TwinSample(NamedTuple):
    """A right and a wrong response to one knowledge."""

    right: ClassSample
    wrong: ClassSample


class TwinJob(ClassJob):
    """Trains a classifier of pairs on twins, and on other rows beside them."""

    def encode(self, rows: Sequence[dict[str, Any]]) -> list[Any]:
        samples: list[Any] = super().encode(rows)
        twins = [n for n, row in enumerate(rows) if 'wrong' in row]
        wrong = super().encode(
            [{**rows[n], 'h': rows[n]['wrong'], 'y': rows[n]['y_wrong']} for n in twins]
        )
        for n, sample in zip(twins, wrong, strict=True):
            samples[n] = TwinSample(samples[n], sample)
        return samples

    def length(self, sample: Any) -> int:
        return max(len(one.ids) for one in _texts(sample))

    def collate(self, batch: Sequence[Any]) -> dict[str, torch.Tensor]:
        """The tensors of all texts, and ``twins`` [T, 2]: a right and a wrong row."""
        texts: list[ClassSample] = []
        places: list[tuple[int, int]] = []
        for sample in batch:
            if isinstance(sample, TwinSample):
                places.append((len(texts), len(texts) + 1))
            texts += _texts(sample)
        tensors = super().collate(texts)
        tensors['twins'] = torch.tensor(places, dtype=torch.long).reshape(-1, 2)
        return tensors

    def loss(self, model: Any, tensors: dict[str, torch.Tensor]) -> torch.Tensor:
        """The mean loss of the texts, and the mean loss of the twins' order."""
        logits = self._logits(model, tensors)
        twins = tensors['twins']
        loss = self.text_loss(logits, tensors, SMOOTHING)
        if not len(twins):
            return loss
        odds = log_odds(logits)
        apart = odds[twins[:, 0]] - odds[twins[:, 1]]
        return loss + PAIR_SHARE * torch.nn.functional.softplus(MARGIN - apart).mean()

    def validate(self, model: Any, device: str) -> dict[str, float]:
        """The :func:`twin_metrics` of the held-out twins, if there are any."""
        held: Sequence[Any] = self.valid
        twins: list[TwinSample] = [s for s in held if isinstance(s, TwinSample)]
        if not twins:
            return super().validate(model, device)
        texts = [text for t in twins for text in (t.right, t.wrong)]
        odds = log_odds(self.logits(model, texts, device)).sigmoid().reshape(-1, 2)
        return twin_metrics([t.right.row['src'] for t in twins], odds.tolist())


def _texts(sample: Any) -> tuple[ClassSample, ...]:
    return tuple(sample) if isinstance(sample, TwinSample) else (sample,)


def log_odds(logits: torch.Tensor) -> torch.Tensor:
    """
    The log odds of support, [N], of logits [N, 4]: entailed against unsupported or
    contradicted. Generic is left out, as in
    :func:`parlai_q2.scorers.consistency.support`.
    """
    return logits[:, 0] - logits[:, 1:3].logsumexp(-1)


def twin_metrics(
    kinds: Sequence[str], support: Sequence[Sequence[float]]
) -> dict[str, float]:
    """
    How well N twins, at least one, were told apart.

    :param support: for each twin the support of the right and of the wrong one.
    :return: the shares, over all and for each kind, of wrong ones below the threshold
        (``wrong``), of right ones above their twin (``order``), and of right ones that
        are kept (``kept``); ``score`` is the mean of the three over all.
    """
    found: dict[str, list[float]] = defaultdict(list)
    for kind, (right, wrong) in zip(kinds, support, strict=True):
        seen = {
            'wrong': wrong < THRESHOLD,
            'order': right > wrong,
            'kept': right >= THRESHOLD,
        }
        for name, value in seen.items():
            found[name].append(value)
            found[f'{name}_{kind}'].append(value)
    shares = {name: sum(v) / len(v) for name, v in sorted(found.items())}
    return {'score': (shares['wrong'] + shares['order'] + shares['kept']) / 3, **shares}
