"""Imports the packages that only some scorers need, when such a scorer is used."""

import importlib
import importlib.util
from types import ModuleType

from parlai_q2.errors import MissingPackageError


def check_package(module: str, package: str, extra: str, user: str) -> None:
    """
    Check that an optional package is installed, without importing it.

    :param module: the name to import, e.g. ``bert_score``.
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
