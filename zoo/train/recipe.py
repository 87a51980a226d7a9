"""
Trains a shipped model: one command, from rows and initial weights to the int8 files.

    python -m parlai_q2.zoo.train.recipe question_answering --data data --outdir out

The recipe, ``configs/<name>.yaml`` or a file of your own, names the data files, the
initial weights, every setting and the licences. ``out`` receives the model as it ships
and ``training.json``: settings, checksums of the data, losses and metrics. The same
command resumes a stopped run, but not with other data or another recipe.
"""

import argparse
import json
import platform
import random
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence

import torch
import yaml
from parlai.utils import logging

from parlai_q2.errors import ConfigError, UnknownNameError
from parlai_q2.io.files import file_sha256
from parlai_q2.io.write import write_text
from parlai_q2.models.loading import load_model, load_tokenizer
from parlai_q2.models.references import resolve
from parlai_q2.zoo.train.adapted import AdapterJob
from parlai_q2.zoo.train.checkpoint import check_apart, drop_checkpoint, model_identity
from parlai_q2.zoo.train.data import read_rows
from parlai_q2.zoo.train.loop import LOG, LoopSettings, train, validated
from parlai_q2.zoo.train.train_classifier import ClassJob
from parlai_q2.zoo.train.train_decoder import DecoderJob
from parlai_q2.zoo.train.train_qa import SpanJob
from parlai_q2.zoo.train.train_seq2seq import TextJob
from parlai_q2.zoo.train.train_twins import TwinJob
from parlai_q2.zoo.train.weights import as_shipped

JOBS: dict[str, Any] = {
    'spans': SpanJob,
    'classes': ClassJob,
    'twins': TwinJob,
    'adapter': AdapterJob,
    'questions': TextJob,
    'decoder': DecoderJob,
}
CHUNK = 5000  # rows tokenized at a time
# The fields of a recipe that decide what is learnt, besides the settings.
DECISIVE = ('job', 'train', 'valid', 'options', 'classes', 'frozen')


@dataclass(frozen=True)
class DataFile:
    """A file of rows in the data folder, and how many of them to take; 0 for all."""

    file: str
    most: int = 0


@dataclass(frozen=True)
class Recipe:
    """
    How a model is trained.

    :param job: one of :data:`JOBS`.
    :param initial: a reference to the model that training starts from.
    :param options: the options of the job, e.g. ``max_tokens``.
    :param classes: the classes of a classifier with a new head.
    :param frozen: parameters whose names begin with one of these stay unchanged. This
        is faster: no gradient is needed below the lowest trained parameter.
    :param licences: the licences of the data and of the initial weights.
    """

    job: str
    initial: str
    train: tuple[DataFile, ...]
    valid: tuple[DataFile, ...]
    settings: LoopSettings
    options: Mapping[str, Any] = field(default_factory=dict)
    classes: int = 0
    frozen: tuple[str, ...] = ()
    licences: Mapping[str, Any] = field(default_factory=dict)


def recipe_names() -> list[str]:
    folder = Path(str(files('parlai_q2.zoo.train'))) / 'configs'
    return sorted(path.stem for path in folder.glob('*.yaml'))


def load_recipe(name: str) -> Recipe:
    """
    Load a recipe by name, or from a YAML file.

    :raises UnknownNameError: when no recipe, or no job, has this name.
    :raises ConfigError: when the file cannot be read or has an unknown field.
    """
    if name.endswith(('.yaml', '.yml')):
        path = Path(name).expanduser()
    elif name in recipe_names():
        path = Path(str(files('parlai_q2.zoo.train'))) / 'configs' / f'{name}.yaml'
    else:
        raise UnknownNameError('recipe', name, recipe_names())
    try:
        fields = dict(yaml.safe_load(path.read_text(encoding='utf-8')))
        for part in ('train', 'valid'):
            fields[part] = tuple(DataFile(**one) for one in fields[part])
        fields['settings'] = LoopSettings(**fields['settings'])
        fields['frozen'] = tuple(fields.get('frozen', ()))
        recipe = Recipe(**fields)
    except (OSError, KeyError, TypeError, ValueError, yaml.YAMLError) as e:
        raise ConfigError(f'Cannot read the recipe {path}: {e}') from e
    if recipe.job not in JOBS:
        raise UnknownNameError(f'job (in {path})', recipe.job, JOBS)
    return recipe


def rows_of(
    parts: Sequence[DataFile], folder: Path, rng: random.Random
) -> list[dict[str, Any]]:
    """
    The rows of some files in a folder.

    :param rng: chooses the rows of a file that is not taken whole; its state advances.
    :raises ConfigError: when a file does not exist.
    """
    rows: list[dict[str, Any]] = []
    for part in parts:
        path = folder / part.file
        if not path.is_file():
            raise ConfigError(
                f'{path} is missing. docs/training.md says how to make it; give '
                'the folder it is in as --data.'
            )
        found = read_rows(path)
        if part.most and part.most < len(found):
            found = rng.sample(found, part.most)
        rows += found
    return rows


def run(
    recipe: Recipe, data: Path, outdir: Path, device: str = 'cpu'
) -> dict[str, Any]:
    """
    Train by a recipe, and write the model and the report, which is returned.

    :raises ConfigError: when the folder is the initial model's own or has another run's
        checkpoint, or a file is missing.
    """
    settings = recipe.settings
    check_apart(outdir, resolve(recipe.initial))
    random.seed(settings.seed)
    torch.manual_seed(settings.seed)
    rng = random.Random(settings.seed)
    valid, rows = rows_of(recipe.valid, data, rng), rows_of(recipe.train, data, rng)
    sums = data_sums(recipe, data)
    initial, said = model_identity(recipe.initial), described(recipe)
    decisive = {name: said[name] for name in DECISIVE}
    identity = {'initial': initial, 'data': sums, **decisive}
    whole, tokenizer = initial_model(recipe)
    job = JOBS[recipe.job](tokenizer, **recipe.options)
    model = job.student(whole, rows)
    job.valid = job.encode(valid)
    samples = [
        sample
        for k in range(0, len(rows), CHUNK)
        for sample in job.encode(rows[k : k + CHUNK])
    ]
    logging.info(
        f'{len(samples)} examples of {len(rows)} rows, {len(job.valid)} held out'
    )
    log = train(model, job, samples, settings, outdir, rng, device, identity=identity)
    size = job.write(model.cpu().eval(), recipe.initial, outdir)
    model.load_state_dict(as_shipped(model.state_dict()))
    shipped = validated(model.to(device), job, device)
    logging.info(json.dumps({'as shipped': shipped}))
    report = {
        'recipe': said,
        'examples': len(samples),
        'data': sums,
        'initial': initial,
        'torch': torch.__version__,
        'machine': f'{platform.machine()}, {device}, {torch.get_num_threads()} threads',
        'bytes': size,
        'log': log,
        'shipped': shipped,
    }
    write_text(outdir / LOG, json.dumps(report, indent=1) + '\n')
    drop_checkpoint(outdir)
    logging.info(f'{outdir}: {size} bytes of weights, {LOG}')
    return report


def initial_model(recipe: Recipe) -> tuple[Any, Any]:
    """The model that training starts from, and its tokenizer."""
    import transformers

    auto_class = getattr(transformers, JOBS[recipe.job].auto_class)
    options: dict[str, Any] = {'num_labels': recipe.classes} if recipe.classes else {}
    model = load_model(recipe.initial, auto_class, **options)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(not name.startswith(recipe.frozen))
    return model, load_tokenizer(recipe.initial)


def data_sums(recipe: Recipe, folder: Path) -> dict[str, str]:
    """The SHA-256 of each of a recipe's data files, by name."""
    names = {part.file for part in (*recipe.train, *recipe.valid)}
    return {name: file_sha256(folder / name) for name in sorted(names)}


def described(recipe: Recipe) -> dict[str, Any]:
    return json.loads(json.dumps(recipe, default=lambda o: dict(vars(o))))


def main(argv: Optional[Sequence[str]] = None) -> None:
    """Train by a recipe."""
    parser = argparse.ArgumentParser(description='Trains a shipped model')
    parser.add_argument('recipe', help=f'{", ".join(recipe_names())}, or a YAML file')
    parser.add_argument(
        '--data',
        type=Path,
        required=True,
        help='folder with the files that the recipe names',
    )
    parser.add_argument('--outdir', type=Path, required=True)
    parser.add_argument('--initial', help='start from this model instead')
    parser.add_argument('--device', default='cpu', help='cpu or cuda')
    parser.add_argument('--steps', type=int, help="overrides the recipe's value")
    parser.add_argument('--seed', type=int, help="overrides the recipe's value")
    args = parser.parse_args(argv)
    recipe = load_recipe(args.recipe)
    changed = {
        name: value
        for name in ('steps', 'seed')
        if (value := getattr(args, name)) is not None
    }
    recipe = replace(recipe, settings=replace(recipe.settings, **changed))
    if args.initial:
        recipe = replace(recipe, initial=args.initial)
    run(recipe, args.data, args.outdir, args.device)


if __name__ == '__main__':
    main()
