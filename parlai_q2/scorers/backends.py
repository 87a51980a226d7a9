"""
Creates the models of scorers from presets. Scorers that use the same model with the
same device and settings share it: it is loaded once, even if batch sizes differ.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from parlai_q2.errors import ConfigError
from parlai_q2.models.backend import Backend
from parlai_q2.models.ensemble import NliEnsemble, RelevanceEnsemble
from parlai_q2.models.model_files import identified
from parlai_q2.models.nli import SequenceNliModel
from parlai_q2.models.nli_types import NliModel
from parlai_q2.models.question_answering import SpanChoice, SpanQuestionAnswerer
from parlai_q2.models.relevance import RelevanceModel
from parlai_q2.presets import ModelConfig, Preset, Section, overlay_settings

# The setting of a section that names another model to read beside its own.
MEAN_WITH = 'mean_with'
# A threshold of "no answer" that accepts any answer, however unsure.
ANY = 1e6
BATCH_SIZES = ('batch_size', 'gpu_batch_size')
# Settings without influence on what is loaded.
NOT_LOADED = (*BATCH_SIZES, 'role', 'no_answer_threshold')

B = TypeVar('B', bound=Backend)
E = TypeVar('E')
# The first of the backends that differ only in such settings, by what decides on what
# they load: class, model, device and arithmetic.
_LOADED: dict[tuple[str, str], Backend] = {}


def backend(kind: type[B], preset: Preset, section: Section, **options: object) -> B:
    """
    A model of a preset's section.

    :param options: settings that override the preset's; None leaves one as it is.
    :raises ConfigError: if the preset lacks the section or has a wrong batch size.
    """
    config, where = preset.model(section), f'{section} of the preset {preset.name!r}'
    asked_for = {k: v for k, v in options.items() if v is not None}
    settings = overlay_settings(config.settings, asked_for)
    for name in BATCH_SIZES:
        size = settings.get(name, 1)
        if not isinstance(size, int) or size < 1:
            raise ConfigError(
                f'{where} has a {name} of {size!r}; it must be a whole number of at '
                'least 1.'
            )
    check_types(kind, settings, where)
    try:
        model = kind(config, **settings)
    except (AttributeError, TypeError, ValueError) as e:
        raise ConfigError(f'{where} cannot be used: {e}') from e
    for name in NOT_LOADED:
        settings.pop(name, None)
    settings['device'] = model.device
    key = (kind.__name__, repr((identified(config), sorted(settings.items()))))
    model.share(_LOADED.setdefault(key, model))
    return model


def check_types(
    kind: type[Backend], settings: Mapping[str, object], where: str
) -> None:
    """Raise ConfigError unless settings have the types of the backend's defaults."""
    common_parameters = inspect.signature(Backend).parameters
    for name, parameter in {
        **common_parameters,
        **inspect.signature(kind).parameters,
    }.items():
        default, value = parameter.default, settings.get(name, parameter.default)
        # A word of an enum is given as its text.
        kind_of_default = str if isinstance(default, str) else type(default)
        expected_types = (int, float) if type(default) is float else kind_of_default
        if default in (None, parameter.empty) or isinstance(default, tuple):
            continue
        if not isinstance(value, expected_types) or isinstance(value, bool) > (
            type(default) is bool
        ):
            raise ConfigError(
                f'{where} has {name}: {value!r}, which must be like {default!r}.'
            )


def nli(preset: Preset, **options: object) -> NliModel:
    """The NLI model of a preset."""
    return backend(SequenceNliModel, preset, Section.NLI, **options)


def detector(preset: Preset, **options: object) -> NliModel:
    """
    The consistency model of a preset: a classifier, two classifiers with the same
    settings, or a sequence-to-sequence model.
    """
    options['role'] = section = Section.DETECTOR
    if 'prompt' in preset.model(section).settings:
        from parlai_q2.models.seq2seq_nli import Seq2SeqNliModel

        return backend(Seq2SeqNliModel, preset, section, **options)
    return _one_or_mean(SequenceNliModel, NliEnsemble, preset, section, **options)


def relevance(preset: Preset, **options: object) -> RelevanceModel | RelevanceEnsemble:
    """
    The model of a preset that says whether replies answer and are supported, or two
    with the same settings.
    """
    section = Section.RELEVANCE
    return _one_or_mean(RelevanceModel, RelevanceEnsemble, preset, section, **options)


def answerer(preset: Preset, threshold: float, **options: object) -> Any:
    """
    The question-answering model of a preset, which reads spans jointly.

    :param threshold: as ``no_answer_threshold``; :data:`ANY` never answers nothing.
    """
    options |= {'reading': SpanChoice.JOINT, 'no_answer_threshold': threshold}
    section = Section.QUESTION_ANSWERING
    return backend(SpanQuestionAnswerer, preset, section, **options)


def _one_or_mean(
    kind: type[B],
    ensemble: Callable[[B, B], E],
    preset: Preset,
    section: Section,
    **options: object,
) -> B | E:
    """The model of a section, combined with the one that ``mean_with`` names."""
    config = preset.model(section)
    settings = dict(config.settings)
    other = settings.pop(MEAN_WITH, None)

    def load(model: ModelConfig) -> B:
        return backend(kind, preset.with_model(section, model), section, **options)

    first = load(replace(config, settings=settings))
    if other is None:
        return first
    return ensemble(first, load(ModelConfig(str(other), settings=settings)))


def forget_backends() -> None:
    """Stop sharing loaded models with later scorers; existing scorers keep theirs."""
    _LOADED.clear()
