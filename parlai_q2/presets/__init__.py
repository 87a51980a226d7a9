"""
Presets: YAML files that choose the models for scoring and how they decode, such as
``mini.yaml`` in this folder.

A preset has a ``name`` and a section for each model: ``question_generation``,
``question_answering``, ``nli``, ``detector``, ``relevance`` (for choosing a reply) and,
for the scorer ``bertscore``, a section of that name. A section has ``model`` (a model
reference, see :mod:`parlai_q2.models.model_files`), an optional ``revision`` for a hub
model, and the settings of the backend. An optional section ``q2`` has settings of the
metric itself. ``coefficients`` is a file, relative to the preset's, of weights of
``grounded`` that were fitted with its detector.

In ``detector`` and ``relevance``, ``mean_with`` names a second model that is combined
with the first; null for none.

``base`` is the name or path of another preset, which supplies everything that this one
leaves out. A section with a different model inherits nothing from the base's section,
because settings such as the class labels fit only their own model, unless it says
``settings: base``. A section that sets ``batch_size`` does not inherit
``gpu_batch_size``, and a preset with another detector not ``coefficients``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from parlai_q2.errors import ConfigError, UnknownNameError
from parlai_q2.options import Word


class Section(Word):
    """The sections of a preset, each for one use of a model."""

    QUESTION_GENERATION = 'question_generation'
    QUESTION_ANSWERING = 'question_answering'
    NLI = 'nli'
    DETECTOR = 'detector'
    RELEVANCE = 'relevance'
    BERTSCORE = 'bertscore'


@dataclass(frozen=True)
class ModelConfig:
    """One model of a preset: its reference, its revision and its backend's settings."""

    model: str
    revision: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def reference(self) -> str:
        """The model and its revision, as signatures print them."""
        return f'{self.model}@{self.revision}' if self.revision else self.model


@dataclass(frozen=True)
class Preset:
    """
    A named choice of models and decoding: models by section, settings of Q2, and the
    file of weights of ``grounded``; None for those fitted with ``mini``.
    """

    name: str
    models: Mapping[str, ModelConfig]
    q2: Mapping[str, Any] = field(default_factory=dict)
    coefficients: str | None = None

    def with_model(self, section: str, config: ModelConfig) -> 'Preset':
        """The preset with another model in a section."""
        return replace(self, models={**self.models, section: config})

    def model(self, section: str) -> ModelConfig:
        """
        The model of a section.

        :raises ConfigError: if the preset has no such section.
        """
        if section not in self.models:
            others = [n for n in preset_names() if section in load_preset(n).models]
            raise ConfigError(
                f'The preset {self.name!r} has no section {section!r}, which this '
                'scorer needs. Add it, or use a preset that has it: '
                f'{", ".join(others)}.'
            )
        return self.models[section]


def preset_names() -> list[str]:
    """The names of the shipped presets."""
    folder = Path(str(files('parlai_q2.presets')))
    return sorted(path.stem for path in folder.glob('*.yaml'))


def load_preset(name: str) -> Preset:
    """
    Load a preset by name or from a YAML file.

    :param name: one of :func:`preset_names`, or a path ending in .yaml or .yml.
    :raises UnknownNameError: if no shipped preset has this name.
    :raises ConfigError: if the file cannot be read, has an unknown section, or is its
        own base.

    >>> load_preset('mini').model('nli').model
    'shipped:q2_mini/consistency'
    """
    return _load(name, ())


def as_preset(preset: str | Preset) -> Preset:
    """The preset with a name; a loaded one as it is."""
    return load_preset(preset) if isinstance(preset, str) else preset


def _load(name: str, includers: tuple[Path, ...]) -> Preset:
    """:param includers: the files that have this preset as base, outermost first."""
    if name.endswith(('.yaml', '.yml')):
        path = Path(name).expanduser()
        # A relative path starts at the folder of the file that names it.
        path = includers[-1].parent / path if includers else path
    elif name in preset_names():
        path = Path(str(files('parlai_q2.presets'))) / f'{name}.yaml'
    else:
        raise UnknownNameError('preset', name, preset_names())
    if path.resolve() in (p.resolve() for p in includers):
        raise ConfigError(f'The preset {path} is its own base. Leave "base" out.')
    try:
        fields = yaml.safe_load(path.read_text(encoding='utf-8'))
    except RecursionError:
        problem = 'too deeply nested'
        raise ConfigError(f'Cannot read the preset {path}: {problem}.') from None
    except (OSError, ValueError, OverflowError, yaml.YAMLError) as e:
        problem = ' '.join(str(e).split())
        raise ConfigError(f'Cannot read the preset {path}: {problem}') from e
    if not isinstance(fields, dict):
        raise ConfigError(
            f'{path} must contain a mapping with "name" and model sections.'
        )
    base = fields.pop('base', None)
    if base is None:
        return _parse(fields, path, Preset('', {}))
    if not isinstance(base, str):
        raise ConfigError(f'{path}: "base" must be the name or the path of a preset.')
    return _parse(fields, path, _load(base, (*includers, path)))


def with_detector(preset: Preset, detector: str) -> Preset:
    """
    A preset with another detector, and the weights of ``grounded`` that go with it.

    :param detector: a preset's name or file, whose detector is taken; or a model
        reference of a sequence classifier whose configuration names its classes.
    """
    other = Preset(detector, {Section.DETECTOR: ModelConfig(detector)})
    if detector in preset_names() or detector.endswith(('.yaml', '.yml')):
        other = load_preset(detector)
    preset = preset.with_model(Section.DETECTOR, other.model(Section.DETECTOR))
    return replace(preset, coefficients=other.coefficients)


def overlay_settings(
    below: Mapping[str, object], above: Mapping[str, object]
) -> dict[str, Any]:
    """
    A section's settings with others above them. A ``batch_size`` above also removes
    ``gpu_batch_size`` below, so that it applies on a GPU too.
    """
    settings = dict(below)
    if 'batch_size' in above:
        settings.pop('gpu_batch_size', None)
    return {**settings, **above}


def _parse(fields: dict[str, Any], path: Path, base: Preset) -> Preset:
    unknown = sorted(set(map(str, fields)) - {'name', 'q2', 'coefficients', *Section})
    if unknown:
        raise UnknownNameError(f'section (in {path})', unknown[0], Section)
    models = dict(base.models)
    for section in Section:
        section_fields = fields.get(section)
        if section_fields is None:
            continue
        base_model = base.models.get(section)
        if not isinstance(section_fields, dict) or not isinstance(
            section_fields.get('model', base_model and base_model.model), str
        ):
            raise ConfigError(
                f'{path}: {section} needs "model", a folder or a hub name.'
            )
        settings = dict(section_fields)
        model, revision = settings.pop('model', None), settings.pop('revision', None)
        settings_of = settings.pop('settings', None)
        if settings_of not in (None, 'base') or (settings_of and base_model is None):
            raise ConfigError(
                f'{path}: "settings" of {section} can be "base" if the base has such a '
                f'section, but not {settings_of!r}.'
            )
        if 'device' in settings:
            raise ConfigError(
                f'{path}: {section} has a "device", which a preset cannot set. '
                'Give --scorer-device, or load_scorer(..., device=...).'
            )
        is_same_model = base_model is not None and model in (None, base_model.model)
        if base_model is not None and (is_same_model or settings_of):
            settings = overlay_settings(base_model.settings, settings)
        if base_model is not None and is_same_model:
            model, revision = base_model.model, revision or base_model.revision
        models[section] = ModelConfig(model, revision, settings)
    q2 = fields.get('q2') or {}
    if not isinstance(q2, dict):
        raise ConfigError(f'{path}: q2 must be a mapping of settings.')
    name = str(fields.get('name', path.stem))
    coefficients = fields.get('coefficients')
    if coefficients is not None:
        coefficients = str(path.parent / str(coefficients))
    elif _detectors(models) == _detectors(base.models):
        coefficients = base.coefficients
    return Preset(name, models, {**base.q2, **q2}, coefficients)


def _detectors(models: Mapping[str, ModelConfig]) -> tuple[str, object] | None:
    if Section.DETECTOR not in models:
        return None
    detector = models[Section.DETECTOR]
    return detector.reference, detector.settings.get('mean_with')
