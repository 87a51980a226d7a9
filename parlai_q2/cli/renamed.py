"""
Options of earlier versions: whoever gives one is told what to write instead.
"""

import argparse
from collections.abc import Mapping, MutableMapping
from typing import Any

from parlai_q2.errors import ConfigError

_ROLE = '--choose where a reply or a turn is chosen, --measure where one is scored'
# The options that are no more, and what to write instead.
RENAMED: Mapping[str, str] = {
    'scorer': _ROLE,
    'scorer_threshold': '--choose-threshold or --measure-threshold',
    'calibration': '--choose-calibration or --measure-calibration',
    'rerank_scorer': '--choose',
    'mutator_scorer': '--choose',
    'evidence': '--explain',
    'prefilter': 'nothing: the scorer that chooses by default is the fast one',
    'prefilter_keep': 'nothing: the scorer that chooses by default is the fast one',
    'copy_penalty': '--guards false to turn the guards off',
    'generic_penalty': '--guards false to turn the guards off',
    'repeat_penalty': '--guards false to turn the guards off',
    'rerank_tolerance': 'nothing: it is always 0.02',
    'q2_filter_threshold': '--choose-threshold',
    'in_context': 'nothing: it did not help',
    'cache_megabytes': 'nothing: a cache takes at most 1 GiB',
    'explain_threshold': 'nothing: what explains marks words, whatever its threshold',
    'explain_calibration': 'nothing: what explains marks words and counts nothing',
}
# The same of names that other packages' agents have, too: of commands of ours alone.
COMMON: Mapping[str, str] = {
    'threshold': '--choose-threshold (filter) or --measure-threshold (distill)',
    'workers': '--engine ray --ray-actors N; one process alone uses all cores',
    'devices': '--engine ray --ray-gpus 1, which gives each actor a GPU',
    'label': '--fields label=NAME',
    'most': '--num-examples',
    'document_seconds': 'nothing: reading a document ends after two minutes',
}
# How the options that a reranking agent saved are read.
SAVED = {
    'rerank_scorer': 'choose',
    'scorer': 'choose',
    'scorer_threshold': 'choose_threshold',
    'calibration': 'choose_calibration',
    'evidence': 'explain',
}


class _Renamed(argparse.Action):
    def __call__(self, parser: Any, *args: Any, **kwargs: Any) -> None:
        # Not parser.error(): ParlAI's prints all of the help before it.
        name = self.option_strings[0].lstrip('-').replace('-', '_')
        raise ConfigError(problem(name))


def problem(name: str) -> str:
    """What to tell whoever gives an option of an earlier version."""
    instead = {**RENAMED, **COMMON}[name]
    return f'There is no --{name.replace("_", "-")} any more. Write {instead}.'


def add_renamed_options(group: Any, *names: str) -> None:
    """
    Add options that are no more, hidden; giving one is an error.

    :param names: which; default: all of :data:`RENAMED`.
    """
    for name in names or RENAMED:
        group.add_argument(
            f'--{name.replace("_", "-")}',
            nargs='?',
            action=_Renamed,
            default=argparse.SUPPRESS,
            help=argparse.SUPPRESS,
        )


def check_renamed(opt: Mapping[str, Any]) -> None:
    """
    :raises ConfigError: if an ``opt``, such as one from a file, has such an option.
    """
    for name in RENAMED:
        if opt.get(name) is not None:
            raise ConfigError(problem(name))


def renew(opt: MutableMapping[str, Any]) -> None:
    """Replace the options of an earlier version in what a reranking agent saved."""
    for name in {**SAVED, **RENAMED}:
        value = opt.pop(name, None)
        new = SAVED.get(name)
        if new and value is not None and opt.get(new) is None:
            opt[new] = value
