"""
The ``parlai_q2`` command: ParlAI's own commands with parlai_q2's short names, and the
commands of ``parlai_q2/scripts``.
"""

import errno
import logging
import os
import pkgutil
import select
import sys
from importlib import import_module
from typing import Any, Optional

from parlai_q2.errors import Q2Error, UnknownNameError, is_out_of_memory
from parlai_q2.report.visible import visible, visible_but_colours
from parlai_q2.threads import spin_briefly
from parlai_q2.version import __version__

# Asked for in this form, help needs no command's required options.
HELP = {'-h': 'help', '--h': 'help', '--help': 'help', '--helpall': 'helpall'}
# Those that ParlAI adds beside the registered commands.
HELP_COMMANDS = ('help', 'h', 'helpall')
# Those that keep what they have done, in a file or in the score cache.
GOING_ON = ('score', 'filter', 'distill', 'meta_eval')
# A folder that may not be entered, a name that no file can have.
UNSEEN = (errno.EACCES, errno.ENAMETOOLONG, errno.ELOOP)
# Exit statuses; the last two as a shell knows them: 128 and SIGINT or SIGPIPE.
REFUSED, STOPPED, UNREAD = 2, 130, 141
NO_ROOM = (
    'Out of memory. Give a smaller --scorer-batch-size or --batchsize, or fewer '
    '--workers.'
)


def main() -> None:
    """
    Run the command that ``sys.argv`` asks for.
    """
    # As ParlAI names its own: python -m parlai_q2 is the same command.
    sys.argv[0] = 'parlai_q2'
    prepare_output()
    status = None
    try:
        status = obey(sys.argv[1:])
        # What Python still holds back; its own last flush could only complain.
        for stream in output():
            stream.flush()
    except BrokenPipeError:
        if not drop_unread():
            raise
        status = status or UNREAD
    if status:
        sys.exit(status)


def obey(arguments: list[str]) -> Any:
    """
    Run one command, and tell a person how it ended.

    :param arguments: its name and options.
    :return: the exit status.
    """
    if arguments in (['--version'], ['-V']):
        sys.stdout.write(version() + '\n')
        return 0
    # Before anything imports torch.
    spin_briefly()
    try:
        run(arguments)
    except Q2Error as error:
        sys.stderr.write(f'{visible(str(error))}\n')
        return REFUSED
    except OSError as error:
        # A path that a person has given.
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
    """
    What to say of a command that a person has stopped.
    """
    if not arguments or arguments[0].removeprefix('q2_') not in GOING_ON:
        return 'Stopped.'
    return (
        'Stopped. Everything written so far and all cached scores are kept: run '
        'the same command again to continue.'
    )


def output() -> list[Any]:
    """
    Where text is shown: the standard output and error.
    """
    return [sys.stdout, sys.stderr]


def prepare_output() -> None:
    """
    Let no command end because of what it only shows.

    An output that was closed is one that goes nowhere: libraries write to it. A
    character that an output's encoding does not have is shown as an escape, and a line
    of the log that cannot be written is left out.
    """
    for name in ('stdout', 'stderr'):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, 'w', encoding='utf-8'))  # noqa: SIM115
    for stream in output():
        # Others, such as "replace", never fail and are what a person asked for.
        strict = getattr(stream, 'errors', None) in ('strict', 'surrogateescape')
        if strict and hasattr(stream, 'reconfigure'):
            stream.reconfigure(errors='backslashreplace')
    # Else each such line is a traceback.
    logging.raiseExceptions = False
    logging.setLogRecordFactory(VisibleRecord)


class VisibleRecord(logging.LogRecord):
    """
    A line of the log that a terminal shows and does not obey: names of files and fields
    are somebody's data.
    """

    def getMessage(self) -> str:
        """
        The message, with what would act as escapes.
        """
        return visible_but_colours(super().getMessage())


def drop_unread() -> bool:
    """
    Send nowhere what is still written to an output that nobody reads any more.

    :return: whether there is such an output.
    """
    unread = [stream for stream in output() if is_unread(stream)]
    if unread:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in unread:
            os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
    return bool(unread)


def is_unread(stream: Any) -> bool:
    """
    Whether an output is a pipe whose other end is closed.
    """
    try:
        poll = select.poll()
        # Nothing is asked for: errors are told in any case.
        poll.register(stream.fileno(), 0)
        return any(
            event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0)
        )
    except (AttributeError, OSError, ValueError):
        # No file, or a system without poll.
        return False


def version() -> str:
    """
    The versions that a report of a problem should name.
    """
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as version_of

    names = [f'parlai_q2 {__version__}']
    for package in ('parlai', 'torch', 'transformers'):
        try:
            names.append(f'{package} {version_of(package)}')
        except PackageNotFoundError:
            names.append(f'{package} is not installed')
    return ', '.join(names)


def run(arguments: Optional[list[str]] = None) -> Any:
    """
    Run one command.

    :param arguments: its name and options; default: those of ``sys.argv``.
    :return: what the command's ``run`` returns.
    :raises Q2Error: when parlai_q2 refuses what it was given.
    """
    from parlai_q2.parlai_support import compat, short_names

    compat.apply()
    # Without the bridges, importing ParlAI can fail already.
    from parlai.core.script import superscript_main

    arguments = list(sys.argv[1:] if arguments is None else arguments)
    short_names.register()
    known = load_commands()
    if not arguments or arguments[0] in HELP:
        arguments = [HELP[arguments[0]] if arguments else 'help']
    elif arguments[0] not in (*known, *HELP_COMMANDS):
        raise UnknownNameError('command', arguments[0], known)
    arguments = short_names.expand_arguments(arguments)
    # ParlAI reads sys.argv once more, to know which options a person has set.
    sys.argv[1:] = arguments
    return superscript_main(arguments)


def load_commands() -> list[str]:
    """
    Import ParlAI's commands and those of ``parlai_q2.scripts``, so that they register.

    :return: the names and aliases of all.
    """
    from parlai.core.script import SCRIPT_REGISTRY, setup_script_registry

    setup_script_registry()
    package = import_module('parlai_q2.scripts')
    for info in pkgutil.iter_modules(package.__path__, 'parlai_q2.scripts.'):
        import_module(info.name)
    names = list(SCRIPT_REGISTRY)
    for command in SCRIPT_REGISTRY.values():
        names += command.aliases
    return names


if __name__ == '__main__':
    main()
