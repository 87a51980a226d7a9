"""
The training loop that all shipped models share.

AdamW with a linear warm-up and a linear decay to zero (as in Devlin et al. 2019, A.2),
gradients clipped by norm, arithmetic in bfloat16 where it is safe (autocast), weights
in fp32. A :class:`Job` defines what is trained, and on what.

A stopped run resumes from its last checkpoint when it is started again with the same
settings, data and model, and ends with the weights and losses that it would have had:
the order of the batches is drawn again from the seed, and the finished ones are
skipped. The caller drops the last checkpoint once everything else is written.
"""

import itertools
import json
import math
import random
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Mapping, Optional, Protocol, Sequence

import torch
from parlai.utils import logging

from parlai_q2.errors import ConfigError
from parlai_q2.zoo.train.checkpoint import Checkpoint, State
from parlai_q2.zoo.train.data import moved, stream

LOG = 'training.json'
# A run that resumes may be made longer or shorter, or tell of itself at other times.
CHANGEABLE = ('steps', 'log_every', 'save_every', 'save_minutes')


@dataclass(frozen=True)
class LoopSettings:
    """
    The length, rate and intervals of a training run.

    :param seed: decides the order of the batches, and dropout.
    :param warm_up: the share of the steps in which the rate rises.
    :param decay: the share of the steps, the last ones, in which the rate falls to zero
        (Hägele et al. 2024, arXiv 2405.18392: 0.2 loses nothing, and a run
        may be made longer or shorter until then).
    :param weight_decay: for matrices; vectors (biases, layer norms) have none.
    :param clip: the largest norm of the gradient.
    :param dropout: replaces the model's own dropout; None leaves it.
    :param save_every: steps between two checkpoints, 0 for none.
    :param save_minutes: minutes between two checkpoints, 0 for none.
    :param in_order: take the rows block by block in the order of the files, instead of
        shuffling them all; the batches of a block are shuffled.
    """

    steps: int
    batch_size: int
    learning_rate: float
    seed: int = 1
    warm_up: float = 0.03
    decay: float = 1.0
    weight_decay: float = 0.0
    clip: float = 1.0
    dropout: Optional[float] = None
    log_every: int = 50
    valid_every: int = 200
    save_every: int = 200
    save_minutes: float = 0.0
    in_order: bool = False

    def __post_init__(self):
        if min(self.steps, self.batch_size, self.log_every, self.valid_every) < 1:
            raise ConfigError(
                'steps, batch_size, log_every and valid_every are at least 1.'
            )
        if not 0 < self.decay <= 1:
            raise ConfigError(f'decay must be above 0 and at most 1, not {self.decay}.')


class Job(Protocol):
    """What is trained, and how."""

    def length(self, sample: Any) -> int:
        """An example's length; examples of similar length share a batch."""

    def collate(self, batch: Sequence[Any]) -> dict[str, torch.Tensor]:
        """Turn a batch into tensors."""

    def loss(self, model: Any, tensors: dict[str, torch.Tensor]) -> torch.Tensor:
        """The mean loss of a batch."""

    def validate(self, model: Any, device: str) -> dict[str, float]:
        """Metrics on held-out examples."""


def train(
    model: torch.nn.Module,
    job: Job,
    data: Sequence[Any],
    settings: LoopSettings,
    outdir: Path,
    rng: Optional[random.Random] = None,
    device: str = 'cpu',
    identity: Optional[Mapping[str, Any]] = None,
) -> list[dict[str, Any]]:
    """
    Train a model.

    :param model: the model; parameters that need no gradient stay unchanged.
    :param data: N examples, at least one.
    :param outdir: holds the checkpoint until the caller drops it.
    :param rng: decides the order of the batches; by default a new one with the seed.
    :param identity: what else identifies this run (its data, its initial weights, the
        job's options), JSON-safe; it is stored in the checkpoint.
    :return: the log, as in ``training.json``.
    :raises ConfigError: when there are no examples, the loss is not a number, or the
        checkpoint belongs to another run.
    """
    if not data:
        raise ConfigError('There are no examples to train on.')
    rng = rng or random.Random(settings.seed)
    model.to(device).train()
    if settings.dropout is not None:
        set_dropout(model, settings.dropout)
    known = {
        **{n: v for n, v in asdict(settings).items() if n not in CHANGEABLE},
        'examples': len(data),
        **(identity or {}),
    }
    run = _Run(model, job, settings, device, Checkpoint(outdir, known))
    batches = stream(data, settings.batch_size, rng, job.length, not settings.in_order)
    for batch in itertools.islice(batches, run.step, settings.steps):
        run.learn(batch)
        if run.step < settings.steps:
            run.note_and_save()
    run.finish()
    return run.log


class _Run:
    """A model in training: its steps, its log and its checkpoint."""

    def __init__(
        self,
        model: torch.nn.Module,
        job: Job,
        settings: LoopSettings,
        device: str,
        checkpoint: Checkpoint,
    ):
        self.model, self.job, self.settings = model, job, settings
        self.device, self.checkpoint = device, checkpoint
        self.weights = [p for p in model.parameters() if p.requires_grad]
        self.optimizer = _optimizer(self.weights, settings)
        state = checkpoint.read(model, self.optimizer, device)
        self.step, self.log, self.recent, self.before = state
        self.start = self.saved = time.time()

    def learn(self, batch: Sequence[Any]) -> None:
        """Take one step; a ConfigError where the loss is not a number."""
        settings = self.settings
        for group in self.optimizer.param_groups:
            group['lr'] = settings.learning_rate * rate(self.step, settings)
        tensors = moved(self.job.collate(batch), self.device)
        with torch.autocast(torch.device(self.device).type, dtype=torch.bfloat16):
            loss = self.job.loss(self.model, tensors)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.weights, settings.clip)
        self.optimizer.step()
        self.step += 1
        self.recent.append(loss.item())
        if not math.isfinite(self.recent[-1]):
            raise ConfigError(
                f'The loss is {self.recent[-1]} at step {self.step}. Lower the '
                'learning rate.'
            )

    def note_and_save(self) -> None:
        """Between two steps, what is due: a line of the log, a checkpoint."""
        settings = self.settings
        validate = self.step % settings.valid_every == 0
        if validate or self.step % settings.log_every == 0:
            self._note(validate)
        minutes = settings.save_minutes
        late = minutes and time.time() - self.saved > 60 * minutes
        if late or settings.save_every and self.step % settings.save_every == 0:
            self._save()
            self.saved = time.time()

    def finish(self) -> None:
        """After the last step: its line of the log, and a checkpoint that has it."""
        if self.recent:  # else a finished run was started again
            self._save()  # a validation can take long
            self._note(validate=True)
        self._save()

    def _note(self, validate: bool) -> None:
        loss = sum(self.recent) / len(self.recent)
        entry: dict[str, Any] = {'step': self.step, 'train': round(loss, 4)}
        if validate:
            entry.update(validated(self.model, self.job, self.device))
        entry['seconds'] = round(self.before + time.time() - self.start)
        self.log.append(entry)
        self.recent.clear()
        logging.info(json.dumps(entry))

    def _save(self) -> None:
        if self.settings.save_every or self.settings.save_minutes:
            seconds = self.before + time.time() - self.start
            now = State(self.step, self.log, self.recent, seconds)
            self.checkpoint.write(self.model, self.optimizer, now)


def _optimizer(
    weights: Sequence[torch.nn.Parameter], settings: LoopSettings
) -> torch.optim.AdamW:
    groups: list[dict[str, Any]] = [
        {'params': [p for p in weights if p.ndim > 1]},
        {'params': [p for p in weights if p.ndim < 2], 'weight_decay': 0.0},
    ]
    decay = settings.weight_decay
    return torch.optim.AdamW(
        groups, settings.learning_rate, weight_decay=decay, fused=True
    )


def rate(step: int, settings: LoopSettings) -> float:
    """The learning rate at a step, as a share of the highest."""
    warm = min(1.0, (step + 1) / max(1, settings.warm_up * settings.steps))
    return warm * min(1.0, (1 - step / settings.steps) / settings.decay)


def set_dropout(model: torch.nn.Module, share: float) -> None:
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = share
        elif isinstance(getattr(module, 'dropout_prob', None), float):
            # BERT's fused attention has its dropout as a number.
            module.dropout_prob = share  # type: ignore[assignment]


def validated(model: torch.nn.Module, job: Job, device: str) -> dict[str, float]:
    """Rounded metrics on held-out examples; the model is left in training mode."""
    model.eval()
    with torch.no_grad():
        metrics = job.validate(model, device)
    model.train()
    return {name: round(value, 4) for name, value in metrics.items()}
