"""
Scorers by name, imported only when asked for.

To add one, write a :class:`~parlai_q2.scorers.base.Scorer` and call
:func:`register_scorer` with its name and ``module:factory``; a factory takes the preset
and keyword options and returns the scorer.
"""

from importlib import import_module
from typing import Any, Callable, Union

from parlai_q2.errors import ConfigError, UnknownNameError
from parlai_q2.presets import Preset, load_preset
from parlai_q2.scorers.base import Scorer

DEFAULT_PRESET = 'mini'

_FACTORIES: dict[str, str] = {
    'q2': 'parlai_q2.scorers.factories:make_q2',
    'q2_f1': 'parlai_q2.scorers.factories:make_q2_f1',
    'nli': 'parlai_q2.scorers.factories:make_nli',
    'consistency': 'parlai_q2.scorers.factories:make_consistency',
    'overlap': 'parlai_q2.scorers.factories:make_overlap',
    'precision': 'parlai_q2.scorers.factories:make_precision',
}


def register_scorer(name: str, factory: str) -> None:
    """
    Make a scorer known by name.

    :param name: its name on command lines.
    :param factory: ``module:function``, imported when the scorer is first loaded.
    :raises ConfigError: when the name is taken by another factory.
    """
    if ':' not in factory:
        raise ConfigError(f'A factory is written module:function, not {factory!r}.')
    if _FACTORIES.setdefault(name, factory) != factory:
        raise ConfigError(f'The scorer name {name!r} is taken by {_FACTORIES[name]}.')


def scorer_names() -> list[str]:
    """
    The names that :func:`load_scorer` knows, sorted.
    """
    return sorted(_FACTORIES)


def load_scorer(
    name: str = 'q2', preset: Union[str, Preset] = DEFAULT_PRESET, **options: Any
) -> Scorer:
    """
    A scorer by name; its models are loaded when it first scores.

    :param name: one of :func:`scorer_names`.
    :param preset: ``mini`` (shipped, offline), ``paper`` (hub models), a path to a YAML
        file, or a loaded preset.
    :param options: what the scorer takes, e.g. ``threshold=0.5``, ``variant='multi'``,
        ``device='cuda'``.
    :return: the scorer.
    :raises UnknownNameError: for a name no scorer has; it says which is nearest.
    :raises ConfigError: when an option is unknown or out of range.
    """
    if name not in _FACTORIES:
        raise UnknownNameError('scorer', name, _FACTORIES)
    module, _, function = _FACTORIES[name].partition(':')
    factory: Callable[..., Scorer] = getattr(import_module(module), function)
    if isinstance(preset, str):
        preset = load_preset(preset)
    try:
        scorer = factory(preset, **options)
    except TypeError as e:
        raise ConfigError(
            f'The scorer {name!r} does not take these options: {e}'
        ) from e
    if not isinstance(scorer, Scorer):
        raise ConfigError(f'{_FACTORIES[name]} gave no Scorer but {scorer!r}.')
    return scorer
