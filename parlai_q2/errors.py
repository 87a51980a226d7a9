"""
All exceptions that parlai_q2 raises on purpose.

    Q2Error
      +- InputError        the input to score is not valid
      |    +- RecordError  a record in a file is invalid; names file, line and remedy
      |    +- UnscoredError  a run is complete, but some records have errors
      |    +- DocumentError  a document cannot be read; gives its name and the reason
      +- ConfigError       a preset, an option or a name is wrong
      |    +- UnknownNameError   the name is not registered; suggests the nearest one
      +- ModelError        weights or a tokenizer cannot be read, or do not fit
      |    +- ModelNotFoundError no such folder, and the hub could not be reached
      +- MissingPackageError  an optional package is not installed; says what to run
      +- ServerError       a server cannot be reached, or does not answer as it should
      +- TaskDataError     the files of a task are missing, or not what they should be
      +- WorkerError       a worker process died repeatedly or cannot continue

Each message says what was given, what was expected and what to run.
"""

import difflib
from collections.abc import Iterable
from enum import Enum
from typing import Any

# The maximum number of names that an error lists.
MAX_LISTED = 20


class Q2Error(Exception):
    """
    Base class of all exceptions that parlai_q2 raises on purpose.

    >>> from parlai_q2 import load_scorer
    >>> try:
    ...     load_scorer('precison')
    ... except Q2Error as error:
    ...     print(str(error).partition(' Known')[0])
    There is no scorer 'precison'. Did you mean 'precision'?
    """


class InputError(Q2Error, ValueError):
    """
    The input to score is not valid.

    >>> from parlai_q2 import Example
    >>> try:
    ...     Example(knowledge=None, response='')
    ... except InputError as error:
    ...     print(str(error).partition(' Give')[0])
    Example.knowledge must be a string or a list of passages, not NoneType.
    """


class Flaw(Enum):
    """A flaw of a whole file, found in one of its records."""

    TOO_DEEP = 'too deep'  # nested deeper than the JSON parser reads


def describe_line(source: str, line: int) -> str:
    return f'{source}, line {line}'


class RecordError(InputError):
    """
    A record in a file is invalid; names the file, the line and the problem.

    :param flaw: what is wrong with the file beyond this record, if anything.
    """

    def __init__(self, source: str, line: int, problem: str, flaw: Flaw | None = None):
        self.source, self.line, self.problem = source, line, problem
        self.flaw = flaw
        super().__init__(f'{describe_line(source, line)}: {problem}')

    def __reduce__(self) -> tuple[Any, ...]:
        # By default, pickle would call __init__ with the message as only argument.
        return type(self), (self.source, self.line, self.problem, self.flaw)


class UnscoredError(InputError):
    """Some records could not be scored; the output names them and has all others."""


class DocumentError(InputError):
    """A document cannot be read; gives its name and the reason."""

    def __init__(self, path: object, problem: str):
        self.path, self.problem = str(path), problem
        super().__init__(f'{path}: {problem}.')

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.problem)


class ConfigError(Q2Error, ValueError):
    """A preset, an option or a name is wrong."""


class UnknownNameError(ConfigError, KeyError):
    """A name is not registered; gives its kind, e.g. ``scorer``, and known names."""

    def __init__(self, kind: str, name: str, known_names: Iterable[str]):
        known_names = sorted(known_names)
        self.kind, self.name, self.known_names = kind, name, known_names
        suggestion = find_nearest_name(name, known_names)
        hint = f' Did you mean {suggestion!r}?' if suggestion else ''
        self.message = f'There is no {kind} {name!r}.{hint}{_list_names(known_names)}'
        super().__init__(self.message)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.kind, self.name, self.known_names)

    def __str__(self) -> str:
        # KeyError would show the repr of the message.
        return self.message


def find_nearest_name(name: str, known_names: Iterable[str]) -> str | None:
    """The known name that is most similar to another; None if none is similar."""
    # Case is ignored: "Q2" means q2.
    lower = {known_name.lower(): known_name for known_name in known_names}
    matches = difflib.get_close_matches(str(name).lower(), lower, n=1)
    return str(lower[matches[0]]) if matches else None


def _list_names(known_names: list[str]) -> str:
    if not known_names:
        return ''
    if len(known_names) > MAX_LISTED:
        return f' {len(known_names)} are known.'
    return f' Known: {", ".join(known_names)}.'


class ModelError(Q2Error):
    """Weights or a tokenizer cannot be read, or do not fit."""


class ModelNotFoundError(ModelError):
    """No folder has this name, and the model could not be fetched from the hub."""


class MissingPackageError(Q2Error, ImportError):
    """An optional package is not installed; the message gives the pip command."""


class ServerError(Q2Error):
    """
    A server cannot be reached, or its answer is wrong.

    :param status: the server's, or that of a gateway (502, 504); 0 if there is none.
    :param is_busy: whether it may answer later, perhaps in ``retry_after`` seconds.
    :param content: the body of its answer.
    """

    def __init__(
        self,
        message: str,
        status: int = 0,
        *,
        is_busy: bool = False,
        content: bytes = b'',
        retry_after: float | None = None,
    ):
        super().__init__(message)
        self.status, self.is_busy = status, is_busy
        self.content, self.retry_after = content, retry_after


class TaskDataError(Q2Error):
    """The files of a task are missing, or are not what they should be."""


class WorkerError(Q2Error):
    """A worker process died repeatedly or cannot continue."""


def is_out_of_memory(error: BaseException) -> bool:
    """
    Whether an error of Python, torch or CTranslate2 means that the CPU or a GPU ran out
    of memory.

    >>> is_out_of_memory(RuntimeError("DefaultCPUAllocator: can't allocate memory"))
    True
    """
    # For a GPU, torch raises an error of its own, which cannot be named without
    # importing torch. For the CPU, it raises a bare RuntimeError (torch 2.13).
    return (
        isinstance(error, MemoryError)
        or type(error).__name__ == 'OutOfMemoryError'
        or "can't allocate memory" in str(error)
        or 'out of memory' in str(error)
    )
