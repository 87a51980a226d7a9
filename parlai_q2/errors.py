"""
Everything that parlai_q2 raises on purpose.

    Q2Error
      +- InputError        what was given to be scored cannot be read as that
      |    +- RecordError  one record of a file is wrong; names file, line and remedy
      +- ConfigError       a preset, an option or a name is wrong
      |    +- UnknownNameError   a name no registry has; names the nearest ones
      +- ModelError        weights or a tokenizer cannot be read, or do not fit
      |    +- ModelNotFoundError no such folder, and the hub could not be reached
      +- MissingPackageError  an optional package is not installed; says what to run
      +- TaskDataError     the files of a task are not there, or not what they should be
      +- WorkerError       a process that scores for another has died or cannot go on

Each message says what was given, what was expected and what to run.
"""

import difflib
from typing import Iterable


class Q2Error(Exception):
    """
    The base of all errors parlai_q2 raises on purpose.

    >>> from parlai_q2 import load_scorer
    >>> try:
    ...     load_scorer('precison')
    ... except Q2Error as error:
    ...     print(str(error).partition(' Known')[0])
    There is no scorer 'precison'. Did you mean 'precision'?
    """


class InputError(Q2Error, ValueError):
    """
    What was given to be scored cannot be read as an example.

    >>> from parlai_q2 import Example
    >>> try:
    ...     Example(knowledge=None, response='')
    ... except InputError as error:
    ...     print(str(error).partition(' Give')[0])
    Example.knowledge must be a string, not NoneType.
    """


class RecordError(InputError):
    """
    One record of a file is wrong.

    :param source: the file's name.
    :param line: the record's line, from 1.
    :param problem: what was found and what was expected.
    """

    def __init__(self, source: str, line: int, problem: str):
        self.source, self.line, self.problem = source, line, problem
        super().__init__(f'{source}, line {line}: {problem}')

    def __reduce__(self) -> tuple:
        # An exception is unpickled from its message, which is not what this one takes.
        return type(self), (self.source, self.line, self.problem)


class ConfigError(Q2Error, ValueError):
    """
    A preset, an option or a name is wrong.
    """


class UnknownNameError(ConfigError, KeyError):
    """
    A name that no registry has.

    :param kind: what was looked for, e.g. ``scorer``.
    :param name: the name given.
    :param known: the names there are.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]):
        known = sorted(known)
        near = difflib.get_close_matches(str(name), known, n=1)
        hint = f' Did you mean {near[0]!r}?' if near else ''
        self.message = f'There is no {kind} {name!r}.{hint} Known: {", ".join(known)}.'
        super().__init__(self.message)

    def __str__(self) -> str:
        # KeyError would print the repr of the message.
        return self.message


class ModelError(Q2Error):
    """
    Weights or a tokenizer cannot be read, or do not fit.
    """


class ModelNotFoundError(ModelError):
    """
    There is no such folder, and the hub could not be reached for a model of that name.
    """


class MissingPackageError(Q2Error, ImportError):
    """
    An optional package is not installed; the message has the pip command.
    """


class TaskDataError(Q2Error):
    """
    The files of a task are not there, or are not what they should be.
    """


class WorkerError(Q2Error):
    """
    A process that scores for another has died again and again, or cannot go on.
    """


def is_out_of_memory(error: BaseException) -> bool:
    """
    Whether memory has run out, the processor's or a GPU's: Python's own error, or one
    of those that torch has for it.

    >>> is_out_of_memory(RuntimeError("DefaultCPUAllocator: can't allocate memory"))
    True
    """
    return (
        isinstance(error, MemoryError)
        or type(error).__name__ == 'OutOfMemoryError'
        or "can't allocate memory" in str(error)
    )
