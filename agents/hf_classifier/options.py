"""
The agent's options, and the classifier that they name.

A classifier is the ``detector`` section of a preset. ``parlai_q2/presets`` has those
that ship; see ``factcc.yaml`` there for the format.
"""

import dataclasses
from pathlib import Path

from parlai.core.params import ParlaiParser

from parlai_q2.models.nli import PairInput
from parlai_q2.options import Options
from parlai_q2.parlai.classification import add_class_map
from parlai_q2.parlai.model_files import saved_folder
from parlai_q2.presets import ModelConfig, Section, load_preset
from parlai_q2.text.class_map import Finding

DEFAULT_CLASSIFIER = 'mini'
SECTION = str(Section.DETECTOR)
# The file beside a trained model that describes its classifier, in preset format.
CLASSIFIER_FILE = 'classifier.yaml'
DEFAULT_CLASSES = ('consistent', 'inconsistent')
# How Santhanam et al. 2021 train their detector.
TRAINING = {
    'optimizer': 'adam',
    'learningrate': 2e-5,
    'lr_scheduler': 'none',
    'gradient_clip': 1.0,
}


def add_options(parser: ParlaiParser) -> ParlaiParser:
    group = parser.add_argument_group('HfClassifier Agent')
    group.add_argument(
        '--classifier',
        type=str,
        default=DEFAULT_CLASSIFIER,
        help='a preset whose detector section is the classifier: mini (ships), '
        'factcc, albert_vitaminc, bert_conv_fever (to be trained), or a path to a '
        'YAML file. A saved --model-file takes precedence',
    )
    group.add_argument(
        '--hf-model',
        type=str,
        default=None,
        help="a folder or hub name of a model to use instead of the classifier's own",
    )
    add_class_map(group)
    parser.set_defaults(**TRAINING)
    return parser


def classifier_config(opt: Options) -> ModelConfig:
    """The classifier of the saved model, or else of ``--classifier``."""
    folder = saved_folder(opt)
    if folder is not None and (folder / CLASSIFIER_FILE).exists():
        config = load_preset(str(folder / CLASSIFIER_FILE)).model(SECTION)
        return dataclasses.replace(config, model=str(folder))
    name = opt.get('classifier') or DEFAULT_CLASSIFIER
    config = load_preset(name).model(SECTION)
    if opt.get('hf_model'):
        return dataclasses.replace(config, model=opt['hf_model'], revision=None)
    return config


def pair_input(config: ModelConfig, text_truncate: int | None = None) -> PairInput:
    """How a preset's classifier reads pairs; the smaller limit of tokens applies."""
    names = {field.name for field in dataclasses.fields(PairInput)}
    settings = {k: v for k, v in config.settings.items() if k in names}
    form = PairInput(**settings)
    if text_truncate is not None and text_truncate > 0:
        return at_most(form, text_truncate)
    return form


def at_most(form: PairInput, limit: int) -> PairInput:
    """The same form, with inputs of at most ``limit`` tokens."""
    return dataclasses.replace(form, max_tokens=min(form.max_tokens, limit))


def default_classes(config: ModelConfig) -> list[str]:
    """A classifier's classes when ``--classes`` names none."""
    generic = Finding.GENERIC in (config.settings.get('labels') or {})
    return [*DEFAULT_CLASSES, *([str(Finding.GENERIC)] if generic else [])]


def classifier_text(name: str, folder: Path, form: PairInput) -> str:
    """A trained classifier as a preset in YAML."""
    import yaml

    fields = {**dataclasses.asdict(form), 'order': list(form.order)}
    section = {'model': str(folder.resolve()), **fields}
    return yaml.safe_dump({'name': name, SECTION: section}, sort_keys=False)
