"""
Reads presets.

A preset has a ``name`` and a section for each model: ``question_generation``,
``question_answering``, ``nli``, ``consistency`` and, for the scorer of that name,
``bertscore``. A section has ``model`` (a reference as
:mod:`parlai_q2.models.loading` takes it), an optional ``revision`` (of a hub model),
and that backend's settings. ``q2`` may hold the metric's own settings. ``mini.yaml``
beside this file shows them all.
"""

from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Mapping, Optional

import yaml

from parlai_q2.errors import ConfigError, UnknownNameError

SECTIONS = (
    'question_generation',
    'question_answering',
    'nli',
    'consistency',
    'bertscore',
)


@dataclass(frozen=True)
class ModelConfig:
    """
    One model of a preset.

    :param model: a model reference.
    :param revision: the hub revision, if it matters.
    :param settings: the backend's settings.
    """

    model: str
    revision: Optional[str] = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def reference(self) -> str:
        """
        Model and revision, as signatures print them.
        """
        return f'{self.model}@{self.revision}' if self.revision else self.model


@dataclass(frozen=True)
class Preset:
    """
    A named choice of models and decoding.

    :param name: its name, as signatures print it.
    :param models: section name to model.
    :param q2: the metric's own settings.
    """

    name: str
    models: Mapping[str, ModelConfig]
    q2: Mapping[str, Any] = field(default_factory=dict)

    def model(self, section: str) -> ModelConfig:
        """
        The model of one section.

        :raises ConfigError: when the preset has none.
        """
        if section not in self.models:
            raise ConfigError(
                f'The preset {self.name!r} has no section {section!r}, which this '
                'scorer needs. Add it, or use a preset that has it: '
                f'{", ".join(preset_names())}.'
            )
        return self.models[section]


def preset_names() -> list[str]:
    """
    The presets that ship.
    """
    folder = Path(str(files('parlai_q2.presets')))
    return sorted(path.stem for path in folder.glob('*.yaml'))


def load_preset(name: str) -> Preset:
    """
    A preset by name, or from a YAML file.

    :param name: one of :func:`preset_names`, or a path ending in .yaml or .yml.
    :return: the preset.
    :raises UnknownNameError: for a name that does not ship.
    :raises ConfigError: when the file cannot be read or has an unknown section.

    >>> load_preset('mini').model('nli').model
    'shipped:q2_mini/consistency'
    """
    if name.endswith(('.yaml', '.yml')):
        path = Path(name).expanduser()
    elif name in preset_names():
        path = Path(str(files('parlai_q2.presets'))) / f'{name}.yaml'
    else:
        raise UnknownNameError('preset', name, preset_names())
    try:
        fields = yaml.safe_load(path.read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as e:
        raise ConfigError(f'Cannot read the preset {path}: {e}') from e
    return _parse(fields, path)


def _parse(fields: Any, path: Path) -> Preset:
    if not isinstance(fields, dict):
        raise ConfigError(f'{path} must hold a mapping with "name" and model sections.')
    unknown = sorted(set(map(str, fields)) - {'name', 'q2', *SECTIONS})
    if unknown:
        raise UnknownNameError(f'section (in {path})', unknown[0], SECTIONS)
    models: dict[str, ModelConfig] = {}
    for section in SECTIONS:
        given = fields.get(section)
        if given is None:
            continue
        if not isinstance(given, dict) or not isinstance(given.get('model'), str):
            raise ConfigError(
                f'{path}: {section} needs "model", a folder or a hub name.'
            )
        settings = dict(given)
        model, revision = settings.pop('model'), settings.pop('revision', None)
        models[section] = ModelConfig(model, revision, settings)
    return Preset(str(fields.get('name', path.stem)), models, fields.get('q2') or {})
