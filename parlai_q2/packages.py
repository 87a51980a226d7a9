"""Imports the packages that only some of parlai_q2 needs, when that is used."""

import importlib
import importlib.util
from types import ModuleType

from parlai_q2.errors import MissingPackageError


def check_package(module: str, package: str, extra: str, user: str) -> None:
    """
    Check that an optional module is installed, without importing it.

    :param package: the name to install, e.g. ``bert-score``.
    :param extra: the extra of parlai_q2 that installs it.
    :param user: what needs it, for the message.
    :raises MissingPackageError: if it is not installed.
    """
    if importlib.util.find_spec(module) is None:
        raise MissingPackageError(
            f'{user} needs the package {package}, which is not installed. '
            f'Run: pip install "parlai_q2[{extra}]" (or: pip install {package})'
        )


def import_package(module: str, package: str, extra: str, user: str) -> ModuleType:
    """Import an optional package; parameters and errors as :func:`check_package`."""
    check_package(module, package, extra, user)
    return importlib.import_module(module)


def check_torch(user: str) -> None:
    """
    Check that torch and transformers are installed: what is trained, fetched from the
    hub or runs in ParlAI needs them, scoring with the shipped models does not.
    """
    for name in ('torch', 'transformers'):
        check_package(name, name, 'torch', user)
