"""
The ``parlai_q2`` command: runs ParlAI's own commands, with parlai_q2's short names, and
the commands in ``parlai_q2/scripts``.
"""

import errno
import logging
import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any

from parlai_q2.cli.commands import (
    COMMANDS,
    HELPALL,
    check_known,
    check_parlai,
    find,
    help_text,
    import_command,
    parlai_commands,
    run_command,
)
from parlai_q2.cli.log import show_log
from parlai_q2.errors import Q2Error, UnscoredError, is_out_of_memory
from parlai_q2.text.visible import visible, visible_but_colours
from parlai_q2.threads import spin_briefly
from parlai_q2.version import __version__

HELP = ('-h', '--h', '--help', 'h', 'help')
# The commands that keep finished work, in files or in the score cache, unless they read
# or write a pipe.
RESUMABLE = ('score', 'rerank', 'filter', 'distill', 'meta_eval', 'index')
PIPES = ('-', '/dev/stdin', '/dev/stdout')
# Errors of a path that cannot be looked up: no permission, or an impossible name.
UNSEEN = (errno.EACCES, errno.ENAMETOOLONG, errno.ELOOP)
# Errors of a full disk, such as that of the output file.
FULL = (errno.ENOSPC, errno.EDQUOT)
NO_SPACE = 'No space left on a disk. Free some and run the same command again.'
# Exit statuses. With UNSCORED the output is complete; --allow-errors prevents it. The
# last two follow the shell: 128 plus SIGINT or SIGPIPE.
REFUSED, UNSCORED, STOPPED, UNREAD = 2, 3, 130, 141
NO_ROOM = (
    'Out of memory. Give a smaller --scorer-batch-size, --batchsize or --chunk-size.'
)


def main() -> None:
    """Run the command that ``sys.argv`` asks for."""
    # Show the same name for "python -m parlai_q2", as ParlAI does for its command.
    sys.argv[0] = 'parlai_q2'
    prepare_output()
    status = None
    try:
        status = execute(sys.argv[1:])
        # Flush here: an error in Python's own flush at exit could not be handled.
        for stream in output():
            stream.flush()
    except BrokenPipeError:
        # Nobody reads the output any more, as with "| head".
        logging.getLogger('parlai_q2').debug('A pipe is closed.', exc_info=True)
        discard(output())
        status = status or UNREAD
    except OSError as error:
        if error.errno not in FULL:
            raise
        with suppress(OSError):
            sys.stderr.write(f'{NO_SPACE}\n')
            sys.stderr.flush()
        discard(output())
        status = status or REFUSED
    if status:
        sys.exit(status)


def execute(arguments: list[str]) -> Any:
    """
    Run one command and report expected errors as one line; return the exit status.
    """
    if arguments in (['--version'], ['-V']):
        sys.stdout.write(version() + '\n')
        return 0
    # This must come before anything imports torch.
    spin_briefly()
    try:
        run(arguments)
    except Q2Error as error:
        sys.stderr.write(f'{visible(str(error))}\n')
        return UNSCORED if isinstance(error, UnscoredError) else REFUSED
    except OSError as error:
        # Report only these as a problem with a path that the user gave.
        if error.errno not in UNSEEN or error.filename is None:
            raise
        name = visible(os.fsdecode(error.filename))
        sys.stderr.write(f'Cannot use {name}: {error.strerror}.\n')
        return REFUSED
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        what = visible(str(error).partition('\n')[0])
        sys.stderr.write(f'{NO_ROOM} {what}'.rstrip() + '\n')
        return REFUSED
    except KeyboardInterrupt:
        sys.stderr.write(stopped(arguments) + '\n')
        return STOPPED
    except SystemExit as end:
        return end.code
    return 0


def stopped(arguments: list[str]) -> str:
    """The message for a command that the user interrupted."""
    is_piped = any(word.rpartition('=')[2] in PIPES for word in arguments)
    command = arguments[0].removeprefix('q2_') if arguments else ''
    if is_piped or command not in RESUMABLE:
        return 'Stopped.'
    return (
        'Stopped. Everything written so far and all cached scores are kept: run '
        'the same command again to continue.'
    )


def output() -> list[Any]:
    return [sys.stdout, sys.stderr]


def prepare_output() -> None:
    """
    Keep a command from failing because of something it only displays: a closed stream
    is replaced, a character that its encoding lacks is shown as an escape, and a log
    line that cannot be written is dropped.
    """
    for name in ('stdout', 'stderr'):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, 'w', encoding='utf-8'))  # noqa: SIM115
    for stream in output():
        # Other handlers, such as "replace", never fail and were set by the user.
        strict = getattr(stream, 'errors', None) in ('strict', 'surrogateescape')
        if strict and hasattr(stream, 'reconfigure'):
            stream.reconfigure(errors='backslashreplace')
    # Otherwise logging prints a traceback for each line it cannot write.
    logging.raiseExceptions = False
    logging.setLogRecordFactory(VisibleRecord)


class VisibleRecord(logging.LogRecord):
    """
    A log record with terminal escape sequences made visible, since it may contain
    untrusted data such as file and field names.
    """

    def getMessage(self) -> str:  # noqa: N802 (of logging)
        """The message, with control characters shown as escapes; colours are kept."""
        return visible_but_colours(super().getMessage())


def discard(streams: list[Any]) -> None:
    """Discard what is written to streams, and what they have buffered."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def version() -> str:
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as version_of

    names = [f'parlai_q2 {__version__}']
    for package in ('parlai', 'torch', 'transformers'):
        try:
            names.append(f'{package} {version_of(package)}')
        except PackageNotFoundError:
            names.append(f'{package} is not installed')
    return ', '.join(names)


def run(arguments: list[str] | None = None) -> Any:
    """Run one command with its options, or with ``sys.argv``; return its result."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    name, *options = arguments or ['--help']
    command = find(name)
    if command is not None and not command.needs_parlai:
        return run_command(name, *options)
    if name in (*HELP, HELPALL):
        sys.stdout.write(help_text())
        if name in HELP:
            return None
    if command is None:
        check_known(name)
    check_parlai(name)
    return run_by_parlai(arguments)


def run_by_parlai(arguments: list[str]) -> Any:
    """Run a command that is a ``ParlaiScript``, ours or ParlAI's."""
    # ParlAI is imported here and below, because most commands do not need it.
    from parlai_q2.cli import names

    arguments = names.expand_arguments(names.with_agent(arguments))
    ours = find(arguments[0])
    from parlai_q2.parlai import compat

    compat.apply()
    # compat.apply() must come first: without it, importing ParlAI itself can fail.
    from parlai.core import script

    from parlai_q2.parlai.task_strings import register

    register()
    show_log()
    if ours:
        arguments = [ours.name, *arguments[1:]]
    name = arguments[0]
    if name == HELPALL:
        script.setup_script_registry()
    elif not ours:
        import_module(parlai_commands()[name])
    # Ours are registered last, so that they replace ParlAI's of the same name.
    for command in COMMANDS.values():
        if command.needs_parlai and name in (command.name, HELPALL):
            import_command(command)
    # ParlAI reads sys.argv again to learn which options the user set.
    sys.argv[1:] = arguments
    # ParlAI would now import all its commands, which takes seconds.
    imports_all, script.setup_script_registry = script.setup_script_registry, _nothing
    try:
        with names.suggesting(arguments[1:]), names.suggesting_options():
            return script.superscript_main(arguments)
    finally:
        script.setup_script_registry = imports_all


def _nothing() -> None:
    """Stands in for ParlAI's import of all its commands."""


if __name__ == '__main__':
    main()
