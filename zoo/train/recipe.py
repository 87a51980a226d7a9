"""
Trains a shipped model: one command, from rows and initial weights to the int8 files.

    python -m parlai_q2.zoo.train.recipe question_answering --data data --outdir out

The recipe, ``configs/<name>.yaml`` or a file of your own, names the data files, the
initial weights, every setting and the licences. In ``out`` come to stand the model as
it ships (loadable by its path wherever a model is named) and ``training.json``:
settings, checksums of the data, losses and figures. Started again after it was stopped,
it goes on; with other data, another initial model or another recipe it does not.
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
from parlai_q2.files.checksum import file_sha256
from parlai_q2.files.write import write_text
from parlai_q2.models.int8 import INT8_WEIGHTS
from parlai_q2.models.loading import load_model, load_tokenizer, resolve
from parlai_q2.zoo.train.checkpoint import drop_checkpoint
from parlai_q2.zoo.train.classes import ClassJob
from parlai_q2.zoo.train.data import read_rows
from parlai_q2.zoo.train.identity import check_apart, model_identity
from parlai_q2.zoo.train.loop import LOG, LoopSettings, train, validated
from parlai_q2.zoo.train.spans import SpanJob
from parlai_q2.zoo.train.texts import TextJob
from parlai_q2.zoo.train.weights import (
    as_shipped,
    best_alpha,
    copied,
    write_folder,
)

JOBS = {'spans': SpanJob, 'classes': ClassJob, 'questions': TextJob}
AUTO_CLASSES = {
    'spans': 'AutoModelForQuestionAnswering',
    'classes': 'AutoModelForSequenceClassification',
    'questions': 'AutoModelForSeq2SeqLM',
}
CHUNK = 5000  # rows tokenized at a time
# What of a recipe decides what is learnt, beside the settings.
DECISIVE = ('job', 'train', 'valid', 'options', 'classes', 'frozen')


@dataclass(frozen=True)
class DataFile:
    """
    One file of rows.

    :param file: its name in the data folder.
    :param most: rows taken of it, chosen by the seed; 0 for all.
    :param max_words: rows with a text of more words are left out; 0 for none.
    """

    file: str
    most: int = 0
    max_words: int = 0


@dataclass(frozen=True)
class Recipe:
    """
    How a model is trained.

    :param job: one of :data:`JOBS`.
    :param initial: a model reference: what training starts from.
    :param train: the files trained on.
    :param valid: held-out files.
    :param settings: of the loop.
    :param options: of the job, e.g. ``max_tokens``.
    :param classes: of a classifier with a new head.
    :param frozen: parameters whose names begin so stay as they are, which is quicker:
        no gradient is needed below the lowest one that is trained.
    :param alphas: points between initial (0) and trained weights (1) that are measured
        on the held-out rows; the best one ships. Empty: the trained weights.
    :param licences: of the data and of the initial weights.
    """

    job: str
    initial: str
    train: tuple[DataFile, ...]
    valid: tuple[DataFile, ...]
    settings: LoopSettings
    options: Mapping[str, Any] = field(default_factory=dict)
    classes: int = 0
    frozen: tuple[str, ...] = ()
    alphas: tuple[float, ...] = ()
    licences: Mapping[str, Any] = field(default_factory=dict)


def recipe_names() -> list[str]:
    """
    The recipes that ship.
    """
    folder = Path(str(files('parlai_q2.zoo.train'))) / 'configs'
    return sorted(path.stem for path in folder.glob('*.yaml'))


def load_recipe(name: str) -> Recipe:
    """
    A recipe by name, or from a YAML file.

    :param name: one of :func:`recipe_names`, or a path ending in .yaml or .yml.
    :raises UnknownNameError: for a name that does not ship.
    :raises ConfigError: when the file cannot be read or has a field no recipe has.
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
        for part in ('alphas', 'frozen'):
            fields[part] = tuple(fields.get(part, ()))
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
    The rows of some files.

    :param parts: which, and how much of each.
    :param folder: where they are.
    :param rng: chooses rows of a file that not all are taken of; moved on.
    :raises ConfigError: when a file is not there.
    """
    rows: list[dict[str, Any]] = []
    for part in parts:
        path = folder / part.file
        if not path.is_file():
            raise ConfigError(
                f'{path} is missing. docs/training.md says how it is made; --data '
                'names the folder it is in.'
            )
        found = [row for row in read_rows(path) if _fits(row, part.max_words)]
        if part.most and part.most < len(found):
            found = rng.sample(found, part.most)
        rows += found
    return rows


def run(
    recipe: Recipe, data: Path, outdir: Path, device: str = 'cpu'
) -> dict[str, Any]:
    """
    Train by a recipe, and write the model and the report.

    :param recipe: what to do.
    :param data: the folder with the data files.
    :param outdir: where to write; made.
    :param device: a torch device name.
    :return: the report, as ``training.json`` has it.
    :raises ConfigError: when the folder is that of the initial model or has another
        run's checkpoint, a file is missing, or there is nothing to choose an alpha by.
    """
    settings = recipe.settings
    check_apart(outdir, resolve(recipe.initial))
    random.seed(settings.seed)
    torch.manual_seed(settings.seed)
    rng = random.Random(settings.seed)
    valid, rows = rows_of(recipe.valid, data, rng), rows_of(recipe.train, data, rng)
    sums = data_sums(recipe, data)
    initial = checksum_of(recipe.initial)
    identity = identity_of(recipe, sums)
    model, tokenizer = initial_model(recipe)
    before = copied(model) if recipe.alphas else {}
    job = JOBS[recipe.job](tokenizer, **recipe.options)
    job.valid = job.encode(valid)
    if recipe.alphas and not job.valid:
        raise ConfigError(
            'The best of the alphas is chosen on held-out rows, and there are none. '
            "Name a file with rows under the recipe's valid, or leave alphas out."
        )
    samples = [
        sample
        for k in range(0, len(rows), CHUNK)
        for sample in job.encode(rows[k : k + CHUNK])
    ]
    logging.info(
        f'{len(samples)} examples of {len(rows)} rows, {len(job.valid)} held out'
    )
    log = train(model, job, samples, settings, outdir, rng, device, identity=identity)
    points = []
    if recipe.alphas:
        points = best_alpha(
            model, before, recipe.alphas, lambda m: validated(m, job, device)
        )
        for point in points:
            logging.info(json.dumps(point))
    size = write_folder(model.cpu().eval(), tokenizer, outdir)
    model.load_state_dict(as_shipped(copied(model)))
    shipped = validated(model.to(device), job, device)
    logging.info(json.dumps({'as shipped': shipped}))
    report = {
        'recipe': described(recipe),
        'examples': len(samples),
        'data': sums,
        'initial': initial,
        'torch': torch.__version__,
        'machine': f'{platform.machine()}, {device}, {torch.get_num_threads()} threads',
        'bytes': size,
        'log': log,
        'alphas': points,
        'shipped': shipped,
    }
    write_text(outdir / LOG, json.dumps(report, indent=1) + '\n')
    drop_checkpoint(outdir)
    logging.info(f'{outdir}: {size} bytes of weights, {LOG}')
    return report


def initial_model(recipe: Recipe) -> tuple[Any, Any]:
    """
    The model that training starts from, and its tokenizer.
    """
    import transformers

    auto_class = getattr(transformers, AUTO_CLASSES[recipe.job])
    options: dict[str, Any] = {'num_labels': recipe.classes} if recipe.classes else {}
    model = load_model(recipe.initial, auto_class, **options)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(not name.startswith(recipe.frozen))
    return model, load_tokenizer(recipe.initial)


def identity_of(recipe: Recipe, sums: Mapping[str, str]) -> dict[str, Any]:
    """
    What tells a recipe's run from others, beside the loop's settings.

    :param recipe: the recipe; alphas and licences decide nothing that is learnt.
    :param sums: of its data files, see :func:`data_sums`.
    """
    said = described(recipe)
    return {
        'initial': model_identity(recipe.initial),
        'data': dict(sums),
        **{name: said[name] for name in DECISIVE},
    }


def data_sums(recipe: Recipe, folder: Path) -> dict[str, str]:
    """
    The SHA-256 of each of a recipe's data files, by name.
    """
    names = {part.file for part in (*recipe.train, *recipe.valid)}
    return {name: file_sha256(folder / name) for name in sorted(names)}


def checksum_of(reference: str) -> Optional[str]:
    """
    The SHA-256 of the initial weights; None for those of the hub.
    """
    place = resolve(reference)
    for name in (INT8_WEIGHTS, 'model.safetensors'):
        if isinstance(place, Path) and (place / name).exists():
            return file_sha256(place / name)
    return None


def described(recipe: Recipe) -> dict[str, Any]:
    """
    A recipe as JSON holds it.
    """
    return json.loads(json.dumps(recipe, default=lambda o: dict(vars(o))))


def _fits(row: dict[str, Any], most: int) -> bool:
    return not most or all(
        len(value.split()) <= most for value in row.values() if isinstance(value, str)
    )


def main(argv: Optional[Sequence[str]] = None) -> None:
    """
    Train by a recipe.
    """
    parser = argparse.ArgumentParser(description='Trains a shipped model')
    parser.add_argument('recipe', help=f'{", ".join(recipe_names())}, or a YAML file')
    parser.add_argument('--data', type=Path, required=True, help='folder of its files')
    parser.add_argument('--outdir', type=Path, required=True)
    parser.add_argument('--initial', help='start from this model instead')
    parser.add_argument('--device', default='cpu', help='cpu or cuda')
    parser.add_argument('--steps', type=int, help="in place of the recipe's")
    parser.add_argument('--seed', type=int, help="in place of the recipe's")
    parser.add_argument(
        '--max-minutes', type=float, help='end by then; the rate falls accordingly'
    )
    args = parser.parse_args(argv)
    recipe = load_recipe(args.recipe)
    changed = {
        name: value
        for name in ('steps', 'seed', 'max_minutes')
        if (value := getattr(args, name)) is not None
    }
    recipe = replace(recipe, settings=replace(recipe.settings, **changed))
    if args.initial:
        recipe = replace(recipe, initial=args.initial)
    run(recipe, args.data, args.outdir, args.device)


if __name__ == '__main__':
    main()
