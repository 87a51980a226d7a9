"""
Loads scorers by name; a scorer's module is imported only when it is needed.

To add a scorer, write a :class:`~parlai_q2.scorers.base.Scorer` and a factory, a
function that takes the preset and keyword options and returns the scorer. You can then
use ``module:factory`` wherever a scorer's name is expected. :func:`register_scorer`
gives it a short name.
"""

import sys
from importlib import import_module
from numbers import Integral, Real
from pathlib import PurePath
from typing import Any, Callable, Mapping, Union

from parlai_q2.errors import ConfigError, UnknownNameError
from parlai_q2.models.device import check_name
from parlai_q2.presets import Preset, load_preset
from parlai_q2.scorers.base import Scorer

DEFAULT_PRESET = 'mini'
OURS = 'parlai_q2.'

_FACTORIES: dict[str, str] = {
    'q2': 'parlai_q2.scorers.factories:make_q2',
    'q2_f1': 'parlai_q2.scorers.factories:make_q2_f1',
    'nli': 'parlai_q2.scorers.factories:make_nli',
    'consistency': 'parlai_q2.scorers.factories:make_consistency',
    'grounded': 'parlai_q2.scorers.factories:make_grounded',
    'grounded_fast': 'parlai_q2.scorers.factories:make_grounded_fast',
    'overlap': 'parlai_q2.scorers.factories:make_overlap',
    'precision': 'parlai_q2.scorers.factories:make_precision',
    'content_overlap': 'parlai_q2.scorers.factories:make_content_overlap',
    'bleu': 'parlai_q2.scorers.factories:make_bleu',
    'rouge_l': 'parlai_q2.scorers.factories:make_rouge_l',
    'bertscore': 'parlai_q2.scorers.factories:make_bertscore',
}

# The scorers without a model, which take no device and no batch size.
WITHOUT_MODELS = frozenset(
    {'overlap', 'precision', 'content_overlap', 'bleu', 'rouge_l'}
)


def register_scorer(name: str, factory: str) -> None:
    """
    Register a scorer under a name.

    :param name: the name to use in :func:`load_scorer` and on the command line.
    :param factory: ``module:function``, imported when the scorer is first loaded.
    :raises ConfigError: if the name is taken by another factory.

    >>> register_scorer('words', 'parlai_q2.scorers.factories:make_precision')
    >>> 'words' in scorer_names()
    True
    """
    if ':' not in factory:
        raise ConfigError(f'Write a factory as module:function, not {factory!r}.')
    if _FACTORIES.setdefault(name, factory) != factory:
        raise ConfigError(f'The scorer name {name!r} is taken by {_FACTORIES[name]}.')


def scorer_names() -> list[str]:
    """
    The names that :func:`load_scorer` knows, sorted.

    >>> 'q2' in scorer_names()
    True
    """
    return sorted(_FACTORIES)


def load_scorer(
    name: str = 'q2',
    preset: Union[str, PurePath, Preset] = DEFAULT_PRESET,
    **options: Any,
) -> Scorer:
    """
    Load a scorer by name. Its models are loaded when it first scores.

    :param name: one of :func:`scorer_names`, or ``module:factory``.
    :param preset: ``mini`` (shipped, offline), ``paper`` (hub models), a path to a YAML
        file, or a loaded preset.
    :param options: options of the scorer, e.g. ``threshold=0.5``, ``variant='multi'``,
        ``device='cuda'``.
    :return: the scorer.
    :raises UnknownNameError: if no scorer has this name; suggests the nearest one.
    :raises ConfigError: if an option is unknown or out of range, or the factory does
        not exist.

    >>> load_scorer('precision', threshold=0.9).threshold
    0.9
    """
    if not isinstance(name, str):
        raise ConfigError(f'The name of a scorer must be a string, not {name!r}.')
    path = name if ':' in name else _FACTORIES.get(name)
    if path is None:
        raise UnknownNameError('scorer', name, _FACTORIES)
    if path.startswith(OURS):
        options = checked_options(options)
    factory = _factory(path)
    if isinstance(preset, (str, PurePath)):
        preset = load_preset(str(preset))
    if not isinstance(preset, Preset):
        raise ConfigError(
            f'A preset must be a name, a path or a loaded Preset, not {preset!r}.'
        )
    try:
        scorer = factory(preset, **options)
    except TypeError as e:
        raise ConfigError(
            f'The scorer {name!r} does not take these options: {e}'
        ) from e
    if not isinstance(scorer, Scorer):
        raise ConfigError(f'{path} returned {scorer!r}, which is not a Scorer.')
    return scorer


def release_models() -> None:
    """
    Release the models that are kept in memory for later scorers.

    Loaded models normally stay in memory, so that the next scorer can share them. This
    frees each model as soon as no scorer uses it any more; a scorer that you load
    afterwards loads its models again.

    >>> release_models()
    """
    factories = sys.modules.get('parlai_q2.scorers.factories')
    # If the module was never imported, nothing is loaded.
    if factories is not None:
        factories.forget_backends()


def checked_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """
    Check the options that the built-in scorers share.

    :param options: the options given to :func:`load_scorer`.
    :return: the same options, with the device as a name and the batch size as an int.
    :raises ConfigError: if the threshold is not in [0, 1], the batch size is below 1,
        or torch does not know such a device. Whether the device exists is checked when
        a model is loaded, since the scorer may run on another machine.
    """
    checked = dict(options)
    threshold = options.get('threshold')
    if threshold is None:
        # Not given: the scorer uses its own.
        checked.pop('threshold', None)
    elif not (
        isinstance(threshold, Real)
        and not isinstance(threshold, bool)
        and 0 <= float(threshold) <= 1
    ):
        raise ConfigError(f'A threshold must be in [0, 1], not {threshold!r}.')
    size = options.get('batch_size')
    if size is not None:
        if not isinstance(size, Integral) or isinstance(size, bool) or size < 1:
            raise ConfigError(f'A batch size must be at least 1, not {size!r}.')
        # numpy integers are not Python ints.
        checked['batch_size'] = int(size)
    if options.get('device') is not None:
        checked['device'] = str(options['device'])
        check_name(checked['device'])
    return checked


def _factory(path: str) -> Callable[..., Scorer]:
    module, _, function = path.partition(':')
    if not module or not function:
        raise ConfigError(f'Write a factory as module:function, not {path!r}.')
    try:
        found = getattr(import_module(module), function, None)
    except ModuleNotFoundError as e:
        if e.name is None or not f'{module}.'.startswith(f'{e.name}.'):
            raise
        raise ConfigError(
            f'Cannot import {module!r} of the scorer {path!r}. Install it, or name its '
            'folder: PYTHONPATH=folder'
        ) from e
    if found is None:
        raise ConfigError(f'{module} has no {function!r}, which {path!r} names.')
    return found
