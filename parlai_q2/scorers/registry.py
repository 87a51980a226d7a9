"""
Scorers by name, imported only when asked for.

To add one, write a :class:`~parlai_q2.scorers.base.Scorer` and a factory, which takes
the preset and keyword options and returns the scorer. ``module:factory`` is then a name
wherever a scorer is named; :func:`register_scorer` gives it a short one.
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

# Those that have no model, and so no device and no batch size.
WITHOUT_MODELS = frozenset(
    {'overlap', 'precision', 'content_overlap', 'bleu', 'rouge_l'}
)


def register_scorer(name: str, factory: str) -> None:
    """
    Make a scorer known by name.

    :param name: its name on command lines.
    :param factory: ``module:function``, imported when the scorer is first loaded.
    :raises ConfigError: when the name is taken by another factory.

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
    A scorer by name; its models are loaded when it first scores.

    :param name: one of :func:`scorer_names`, or ``module:factory``.
    :param preset: ``mini`` (shipped, offline), ``paper`` (hub models), a path to a YAML
        file, or a loaded preset.
    :param options: what the scorer takes, e.g. ``threshold=0.5``, ``variant='multi'``,
        ``device='cuda'``.
    :return: the scorer.
    :raises UnknownNameError: for a name no scorer has; it says which is nearest.
    :raises ConfigError: when an option is unknown or out of range, or there is no such
        factory.

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
    Forget the models that were loaded for scorers: what no scorer in use holds any more
    is freed, and a scorer that is made later loads its models anew. Otherwise models
    stay for the next scorer that uses them.

    >>> release_models()
    """
    factories = sys.modules.get('parlai_q2.scorers.factories')
    # Not imported: nothing is loaded.
    if factories is not None:
        factories.forget_backends()


def checked_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """
    Look at the options that our scorers share.

    :param options: as :func:`load_scorer` takes them.
    :return: the same, the device by its name and the batch size as an int.
    :raises ConfigError: for a threshold that is not in [0, 1], a batch size below 1, or
        a device that torch knows none of. Whether it is there shows when a model is
        loaded: a scorer may be made here to score elsewhere.
    """
    checked = dict(options)
    threshold = options.get('threshold')
    if threshold is None:
        # Nothing said: the scorer's own.
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
        # numpy's whole numbers are none of Python's.
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
