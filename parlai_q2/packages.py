"""Imports optional packages when they are first needed."""

import importlib
import importlib.util
from types import ModuleType

from parlai_q2.errors import MissingPackageError


def check_package(module: str, package: str, extra: str, user: str) -> None:
    """
    Check that an optional module is installed, without importing it.

    :param package: the name to install, e.g. ``bert-score``.
    :param extra: the extra of parlai_q2 that installs it.
    :param user: the feature that needs it, for the message.
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
    Check that torch and transformers are installed: training, models from the hub and
    ParlAI need them, scoring with the shipped models does not.
    """
    for name in ('torch', 'transformers'):
        check_package(name, name, 'torch', user)
