"""
Finds annotated sets: those of the tasks, each by the name of its folder, and files.

A task has an annotated set if its ``reader.py`` defines ``annotated_set(datapath,
words)``. That function needs no ParlAI.
"""

import pkgutil
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module, util
from os import environ
from pathlib import Path
from typing import Any

from parlai_q2.claims import Label
from parlai_q2.errors import RecordError, UnknownNameError
from parlai_q2.evaluate.measures import number_in
from parlai_q2.evaluate.sets import AnnotatedResponse, AnnotatedSet
from parlai_q2.io.fields import NO_NAMES
from parlai_q2.io.formats import FILES
from parlai_q2.io.read import read_valid
from parlai_q2.options import Word
from parlai_q2.text.class_map import UNKNOWN_LABEL, Finding, read_finding

TASKS = 'parlai_q2.tasks'
# The fields that a record may have, besides its texts and a rating.
FIELDS = ('corpus', 'system', 'dialogue')
CLASS_OF = {
    Finding.ENTAILMENT: Label.CONSISTENT,
    Finding.NEUTRAL: Label.INCONSISTENT,
    Finding.CONTRADICTION: Label.INCONSISTENT,
    Finding.GENERIC: Label.GENERIC,
}


class View(Word):
    """
    The views of a task, by its teachers' names. All show the same annotated responses,
    so these names select nothing.
    """

    DEFAULT = 'default'
    ANNOTATED = 'annotated'
    DIALOGUE = 'dialogue'
    CLASSIFICATION = 'classification'


Read = Callable[[str, Sequence[str]], AnnotatedSet]


def set_names() -> list[str]:
    """The tasks that have an annotated set."""
    folders = import_module(TASKS).__path__
    names = [i.name for i in pkgutil.iter_modules(folders) if i.ispkg]
    with_reader = [n for n in names if util.find_spec(f'{TASKS}.{n}.reader')]
    return [n for n in with_reader if hasattr(_reader(n), 'annotated_set')]


def read_set(
    task: str, datapath: str = '', names: Mapping[str, str] = NO_NAMES
) -> AnnotatedSet:
    """
    Read an annotated set.

    :param task: a task with the words that select a part, e.g. ``begin:wow``, also as
        ``q2:begin:wow``; or a file (see :func:`read_file`).
    :param datapath: ParlAI's folder of data; empty for :func:`default_datapath`.
    :raises UnknownNameError: for a task without an annotated set.
    :raises TaskDataError: when its files are missing and cannot be fetched.
    """
    task = task.strip()
    if task.lower().endswith(FILES):
        return read_file(Path(task), names)
    name, *words = task.removeprefix('q2:').split(':')
    names_of_sets = set_names()
    name = next((n for n in names_of_sets if name in (n, n.removeprefix('q2_'))), name)
    if name not in names_of_sets:
        raise UnknownNameError('annotated set', name, names_of_sets)
    words = [word.lower() for word in words]
    words = [word for word in words if word and word not in tuple(View)]
    read: Read = _reader(name).annotated_set
    annotated = read(datapath or default_datapath(), words)
    title_words = annotated.title.split()
    extra_words = ' '.join(word for word in words if word not in title_words)
    name = '_'.join([annotated.name, *words])
    title = f'{annotated.title}, {extra_words}' if extra_words else annotated.title
    return replace(annotated, name=name, title=title, paper=name)


def read_file(path: Path, names: Mapping[str, str] = NO_NAMES) -> AnnotatedSet:
    """
    Read a file of records of ``knowledge`` and ``response`` with a ``label``
    (:func:`~parlai_q2.text.class_map.read_finding`) or a ``human_score``, and perhaps
    ``corpus``, ``system`` and ``dialogue``.

    :raises InputError: when the file cannot be read, or a record is not of this form.
    """
    responses = []
    expected = ('knowledge', 'response')
    for record, example in read_valid(path, names=names, expected=expected):
        fields = record.fields
        corpus, system, dialogue = (str(fields.get(name) or '') for name in FIELDS)
        score = number_in(fields, 'human_score', path, record.line)
        label = _label(fields.get('label'), path, record.line)
        if not label and score is None:
            problem = 'has neither a "label" nor a "human_score". Name the field that '
            problem += 'has the label: --fields label=NAME'
            raise RecordError(str(path), record.line, problem)
        human = {} if score is None else {'human_score': score}
        responses.append(
            AnnotatedResponse(
                example.knowledge_text,
                example.response,
                label=label,
                corpus=corpus,
                system=system,
                dialogue=dialogue,
                human=human,
            )
        )
    return AnnotatedSet(re.sub(r'\W', '_', path.stem), path.name, tuple(responses))


def _label(value: object, path: Path, line: int) -> str:
    if value is None or not str(value).strip():
        return ''
    finding = read_finding(value)
    if finding is None:
        raise RecordError(str(path), line, UNKNOWN_LABEL.format(value))
    return CLASS_OF[finding]


def default_datapath() -> str:
    """
    ParlAI's folder of data: ``$PARLAI_DATAPATH``, else ``data`` beside the installed
    ParlAI, else ``data`` in the current folder.
    """
    if environ.get('PARLAI_DATAPATH'):
        return environ['PARLAI_DATAPATH']
    parlai = util.find_spec('parlai')
    folders = list(parlai.submodule_search_locations or []) if parlai else []
    return str(Path(folders[0]).parent / 'data') if folders else 'data'


def _reader(name: str) -> Any:
    return import_module(f'{TASKS}.{name}.reader')
