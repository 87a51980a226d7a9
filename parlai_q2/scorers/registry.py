"""
Loads scorers by name; a scorer's module is imported only when it is needed.

To add a :class:`~parlai_q2.scorers.base.Scorer` here, write its file and add a line to
``_SCORERS``. One that stands elsewhere is named ``module:Class`` wherever a scorer's
name is expected.
"""

from collections.abc import Mapping
from importlib import import_module
from numbers import Integral, Real
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from parlai_q2.errors import ConfigError, UnknownNameError
from parlai_q2.models.device import AUTO, check_name, choose_device
from parlai_q2.presets import Preset, load_preset
from parlai_q2.scorers.base import Scorer

if TYPE_CHECKING:
    from parlai_q2.scorers.shell import ScoreStore

DEFAULT_PRESET = 'mini'

_SCORERS: dict[str, str] = {
    'q2': 'parlai_q2.scorers.q2:Q2Scorer',
    'q2_f1': 'parlai_q2.scorers.q2:Q2F1Scorer',
    'nli': 'parlai_q2.scorers.nli:NliScorer',
    'consistency': 'parlai_q2.scorers.consistency:ConsistencyScorer',
    'spans': 'parlai_q2.scorers.spans:SpansScorer',
    'grounded': 'parlai_q2.scorers.grounded:GroundedScorer',
    'grounded_fast': 'parlai_q2.scorers.grounded:GroundedFastScorer',
    'overlap': 'parlai_q2.scorers.overlap:OverlapScorer',
    'precision': 'parlai_q2.scorers.overlap:PrecisionScorer',
    'content_overlap': 'parlai_q2.scorers.overlap:ContentOverlapScorer',
    'rouge_l': 'parlai_q2.scorers.overlap:RougeLScorer',
    'bleu': 'parlai_q2.scorers.overlap:BleuScorer',
    'bertscore': 'parlai_q2.scorers.bertscore:BertScorer',
    'meteor': 'parlai_q2.scorers.overlap:MeteorScorer',
}


def scorer_names() -> list[str]:
    """
    The names that :func:`load_scorer` knows, sorted.

    >>> 'q2' in scorer_names()
    True
    """
    return sorted(_SCORERS)


def scorer_class(name: str) -> type[Scorer]:
    """
    The class of a scorer; imports its module, but loads no model.

    :param name: one of :func:`scorer_names`, or ``module:Class``.
    :raises UnknownNameError: if no scorer has this name; suggests the nearest one.
    :raises ConfigError: if the class does not exist or is not a Scorer.
    """
    if not isinstance(name, str):
        raise ConfigError(f'The name of a scorer must be a string, not {name!r}.')
    path = name if ':' in name else _SCORERS.get(name)
    if path is None:
        raise UnknownNameError('scorer', name, _SCORERS)
    module, _, attribute = path.partition(':')
    if not all(part.isidentifier() for part in [*module.split('.'), attribute]):
        raise ConfigError(f'Write a scorer as module:Class, not {path!r}.')
    try:
        kind = getattr(import_module(module), attribute, None)
    except ModuleNotFoundError as e:
        if e.name is None or not f'{module}.'.startswith(f'{e.name}.'):
            raise
        raise ConfigError(
            f'Cannot import {module!r} of the scorer {path!r}. Install it, or name its '
            'folder: PYTHONPATH=folder'
        ) from e
    if kind is None:
        raise ConfigError(f'{module} has no {attribute!r}, which {path!r} names.')
    if not isinstance(kind, type) or not issubclass(kind, Scorer):
        raise ConfigError(f'{path} is not a Scorer but {kind!r}. Name a class.')
    return kind


def load_scorer(
    name: str = 'grounded_fast',
    preset: str | PurePath | Preset = DEFAULT_PRESET,
    calibration: str | PurePath | None = None,
    cache: 'ScoreStore | None' = None,
    **options: Any,
) -> Scorer:
    """
    Load a scorer by name. Its models are loaded when it first scores.

    :param name: one of :func:`scorer_names`, or ``module:Class``.
    :param preset: ``mini`` (shipped, offline), ``paper`` (hub models), a path to a YAML
        file, or a loaded preset.
    :param calibration: a file that ``parlai_q2 calibrate`` wrote for this scorer.
    :param cache: where scores are kept, such as a
        :class:`~parlai_q2.cache.ScoreCache`.
    :param options: options of the scorer, e.g. ``threshold=0.5``, ``variant='multi'``,
        ``device='cuda'``.
    :raises UnknownNameError: if no scorer has this name; suggests the nearest one.
    :raises ConfigError: for a wrong option or class.

    >>> load_scorer('precision', threshold=0.9).threshold
    0.9
    """
    kind = scorer_class(name)
    options = checked_options(options)
    if isinstance(preset, (str, PurePath)):
        preset = load_preset(str(preset))
    if not isinstance(preset, Preset):
        raise ConfigError(
            f'A preset must be a name, a path or a loaded Preset, not {preset!r}.'
        )
    threshold = None
    if calibration is not None:
        from parlai_q2.scorers.calibrated import read_calibration

        calibration = str(calibration)
        threshold = options.pop('threshold', None)
        if read_calibration(calibration).refitted:
            options['coefficients'] = calibration
    try:
        scorer = kind.from_preset(preset, **options)
    except TypeError as e:
        raise ConfigError(
            f'The scorer {name!r} does not take these options: {e}'
        ) from e
    if calibration is None and cache is None:
        return scorer

    from parlai_q2.scorers.calibrated import CalibratedCachedScorer

    return CalibratedCachedScorer(scorer, calibration, threshold, cache)


def release_models() -> None:
    """
    Free the loaded models that scorers share, each as soon as no scorer uses it.

    >>> release_models()
    """
    from parlai_q2.scorers.backends import forget_backends

    forget_backends()


def checked_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """
    The options with the device as a name and the batch size as an int.

    :raises ConfigError: if the threshold is not in [0, 1], the batch size is below 1,
        or torch does not know such a device. Whether the device exists is checked when
        a model is loaded, since the scorer may run on another machine.
    """
    checked = dict(options)
    threshold, size = options.get('threshold'), options.get('batch_size')
    if threshold is None:  # the scorer uses its own
        checked.pop('threshold', None)
    elif not _number(threshold, Real) or not 0 <= threshold <= 1:
        raise ConfigError(f'A threshold must be in [0, 1], not {threshold!r}.')
    if size is not None:
        if not _number(size, Integral) or size < 1:
            raise ConfigError(f'A batch size must be at least 1, not {size!r}.')
        checked['batch_size'] = int(size)  # numpy integers are not Python ints
    if options.get('device') is not None:
        name = str(options['device'])
        check_name(name)
        checked['device'] = choose_device() if name == AUTO else name
    return checked


def _number(value: object, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
