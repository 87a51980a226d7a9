"""
Reads labelled pairs from JSON lines, csv or tsv.

A record has ``knowledge``, ``response`` and ``label``. ``evidence`` and ``claim``,
which FEVER's and VitaminC's files have, are accepted instead of the first two. Other
fields are ignored.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from parlai_q2.errors import InputError, TaskDataError
from parlai_q2.evaluate.sets import AnnotatedResponse
from parlai_q2.io.fields import NO_NAMES
from parlai_q2.io.read import parse_lines, read_example
from parlai_q2.options import split_pairs

# The names of our fields in other files.
OTHER_NAMES = {
    'knowledge': ('evidence', 'premise'),
    'response': ('claim', 'hypothesis'),
    'label': ('gold_label',),
}


def read_pairs(
    path: Path, labels: Mapping[str, str] | None = None
) -> list[AnnotatedResponse]:
    """
    Read a file of labelled pairs, each a conversation.

    :param labels: the class for each label; a pair whose label has an empty class is
        left out. None takes labels as they are.
    :raises TaskDataError: when the file does not exist or is empty.
    :raises RecordError: for a record that is not such a pair, or whose label is not
        among ``labels``.
    """
    if not path.is_file():
        raise TaskDataError(
            f'There is no file {path}. --pairs-file is a path in which {{fold}} stands '
            'for train, valid or test.'
        )
    pairs: list[AnnotatedResponse] = []
    for record in parse_lines(path, None, NO_NAMES, (), partial(_pair, labels)):
        if record.error is not None:
            raise record.error
        if record.parsed.label:
            pairs.append(replace(record.parsed, episode=str(len(pairs))))
    if not pairs:
        raise TaskDataError(f'{path} has no pairs.')
    return pairs


def parse_labels(text: str | None) -> dict[str, str] | None:
    """Read ``label=class`` pairs, or None; a ConfigError for anything else."""
    if not text:
        return None
    example = 'SUPPORTS=consistent,REFUTES=inconsistent,NOT ENOUGH INFO='
    return split_pairs(text, '--pairs-labels', 'label=class', example)


def _pair(
    labels: Mapping[str, str] | None, fields: Mapping[str, object]
) -> AnnotatedResponse:
    ours = dict(fields)
    for name, aliases in OTHER_NAMES.items():
        for other in aliases:
            if name not in ours and other in ours:
                ours[name] = ours[other]
    label = _label(ours.get('label'))
    if not label:
        raise InputError('has no "label". Every pair needs one.')
    if labels is not None and label not in labels:
        raise InputError(
            f'has the label {label!r}, which --pairs-labels does not name. Known: '
            f'{", ".join(labels)}. An empty class leaves pairs out: "{label}=".'
        )
    example = read_example(ours)
    name = label if labels is None else labels[label]
    return AnnotatedResponse(example.knowledge_text, example.response, name)


def _label(value: object) -> str:
    if isinstance(value, bool):
        # Booleans are written as in JSON.
        return str(value).lower()
    return '' if value is None else str(value).strip()
