"""The common parts of the training scripts: options, trainer and output folder."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import Trainer, TrainingArguments
from transformers.trainer_pt_utils import LengthGroupedSampler
from transformers.trainer_utils import get_last_checkpoint

from parlai_q2.errors import ConfigError
from parlai_q2.models.converted.convert import write_converted
from parlai_q2.models.loading import load_tokenizer


def base_parser(description: str, **defaults: Any) -> argparse.ArgumentParser:
    """The options of every training script; ``defaults`` override theirs."""
    parser = argparse.ArgumentParser(description=description)
    add = parser.add_argument
    add('--rows', nargs='+', required=True, help='files of rows to train on')
    add('--held-out', nargs='*', default=[], help='files of rows to measure on')
    add('--initial', required=True, help='a folder, a hub name or shipped:NAME')
    add('--outdir', type=Path, required=True)
    add('--device', default='cpu', help='cpu or cuda')
    add('--epochs', type=float, default=1.0)
    add('--max-steps', type=int, default=-1, help='overrides --epochs')
    add('--batch-size', type=int, default=64)
    add('--learning-rate', type=float, default=1e-4)
    add('--weight-decay', type=float, default=0.01)
    add('--warm-up', type=float, default=0.06, help='share of all steps')
    add('--max-tokens', type=int, default=192)
    add('--lora-rank', type=int, default=0, help='0 trains all weights')
    add('--frozen-layers', type=int, default=0, help='the lowest, and the embeddings')
    add('--bf16', action='store_true', help='compute in bf16 on a CPU, too')
    add('--seed', type=int, default=1)
    parser.set_defaults(**defaults)
    return parser


class LengthGroupedTrainer(Trainer):
    """Batches samples of similar length; each sample has ``input_ids``."""

    def _get_train_sampler(self, train_dataset: Any = None) -> LengthGroupedSampler:
        lengths = [len(sample['input_ids']) for sample in self.train_dataset]
        generator = torch.Generator().manual_seed(self.args.seed)
        return LengthGroupedSampler(
            self.args.train_batch_size, lengths=lengths, generator=generator
        )


def _training_arguments(args: argparse.Namespace) -> TrainingArguments:
    on_cpu = args.device == 'cpu'
    return TrainingArguments(
        output_dir=str(args.outdir / 'checkpoints'),
        num_train_epochs=args.epochs,
        max_steps=args.max_steps,
        per_device_train_batch_size=args.batch_size,
        learning_rate=args.learning_rate,
        weight_decay=args.weight_decay,
        warmup_ratio=args.warm_up,
        lr_scheduler_type='linear',
        logging_steps=50,
        save_steps=500,
        save_total_limit=1,
        remove_unused_columns=False,
        use_cpu=on_cpu,
        bf16=args.bf16 or not on_cpu,
        report_to=[],
        seed=args.seed,
    )


def train_model(
    args: argparse.Namespace,
    model: Any,
    samples: Sequence[Any],
    collate: Callable[[Any], Any],
    trainer_class: Callable[..., Trainer] = LengthGroupedTrainer,
) -> Any:
    """
    Train, or resume from the last checkpoint; return the model, with any adapter
    merged.
    """
    adapted = _add_adapter(model, args.lora_rank)
    # The adapter's terms are inside the model's layers.
    freeze(model, args.frozen_layers)
    trainer = trainer_class(
        model=adapted,
        args=_training_arguments(args),
        train_dataset=samples,
        data_collator=collate,
    )
    folder = Path(str(trainer.args.output_dir))
    checkpoint = get_last_checkpoint(str(folder)) if folder.is_dir() else None
    trainer.train(resume_from_checkpoint=checkpoint)
    trained = trainer.model
    if hasattr(trained, 'merge_and_unload'):
        trained = trained.merge_and_unload()
    return trained.cpu().eval()


def _add_adapter(model: Any, rank: int) -> Any:
    """Let a model learn low-rank terms of its linear layers, unless the rank is 0."""
    model.requires_grad_(True)
    if not rank:
        return model
    from peft import LoraConfig, get_peft_model

    heads = [name for name, _ in model.named_children() if name == 'classifier']
    config = LoraConfig(
        r=rank,
        lora_alpha=rank,
        target_modules='all-linear',
        exclude_modules=heads or None,
        modules_to_save=heads or None,
    )
    return get_peft_model(model, config)


def freeze(model: Any, layers: int) -> None:
    """
    Leave the embeddings and the lowest layers of an encoder as they are; a ConfigError
    for a model whose layers are not where BERT's are, such as T5.
    """
    if layers:
        encoder: Any = getattr(model.base_model, 'encoder', None)
        if not hasattr(encoder, 'layer'):
            raise ConfigError(
                f'--frozen-layers is not for {type(model).__name__}. Leave it out.'
            )
        model.base_model.embeddings.requires_grad_(False)
        encoder.layer[:layers].requires_grad_(False)
        if hasattr(encoder, 'relative_attention_bias'):  # MPNet's, of all layers
            encoder.relative_attention_bias.requires_grad_(False)


def average_weights(model: Any, initial: Any, share: float) -> None:
    """
    Average a model's weights with those it started from, which keeps most of what was
    learnt and forgets less (Wortsman et al. 2022, arXiv 2109.01903).

    :param share: of the trained weights, in [0, 1].
    """
    before = initial.state_dict()
    mean = {
        name: torch.lerp(before[name], weight, share)
        if weight.is_floating_point()
        else weight
        for name, weight in model.state_dict().items()
    }
    model.load_state_dict(mean)


def save_model(model: Any, initial: str, outdir: Path) -> Path:
    """
    Write a model for transformers to ``outdir/trained`` and, in int8 for CTranslate2,
    to ``outdir/converted``.

    :param initial: the model whose tokenizer it has.
    :return: the second folder.
    """
    trained, converted = outdir / 'trained', outdir / 'converted'
    model.config.architectures = [type(model).__name__]
    model.save_pretrained(trained)
    load_tokenizer(initial).save_pretrained(trained)
    write_converted(str(trained), converted)
    return converted


def chunks(samples: Sequence[Any], size: int) -> list[Sequence[Any]]:
    """Consecutive parts of at most ``size`` samples."""
    return [samples[n : n + size] for n in range(0, len(samples), size)]
