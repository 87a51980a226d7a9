"""
Gets the files of a task, which are placed by hand or downloaded, and checks them.
"""

import os
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Sequence

from parlai.core.build_data import DownloadableFile, built, make_dir, mark_done
from parlai.core.opt import Opt

from parlai_q2.errors import TaskDataError
from parlai_q2.io.files import locked

# How long to wait for another process that downloads.
PATIENCE_SECONDS = 1800.0


def fetch_files(
    opt: Opt,
    task: str,
    version: str,
    resources: Sequence[DownloadableFile],
    needed: Sequence[str],
) -> str:
    """
    Make sure that the files of a task exist. Files that exist are only checked.

    :param opt: ParlAI options; ``datapath`` is read.
    :param task: the task's name, and that of its folder in ``datapath``.
    :param version: the version of the task's data, for ParlAI's ``.built`` mark.
    :param resources: all files of the task, with their checksums.
    :param needed: names of the files that are needed now.
    :return: the folder of the files.
    :raises TaskDataError: when a file cannot be downloaded or has the wrong checksum;
        the message names the file and says what to do.
    """
    folder = os.path.join(opt['datapath'], task)
    if built(folder, version) and all(_there(folder, name) for name in needed):
        return folder
    wanted = [resource for resource in resources if resource.file_name in needed]
    with ExitStack() as alone:
        try:
            make_dir(folder)
            # Another process, e.g. of the same evaluation, may be downloading them; two
            # that write the same file would corrupt it.
            alone.enter_context(locked(Path(folder), PATIENCE_SECONDS, needed=False))
        except OSError as e:
            # In a read-only folder, files that were placed by hand can still be read.
            if not all(_there(folder, name) for name in needed):
                raise TaskDataError(
                    f'Cannot use {e.filename or folder}: {e.strerror}.'
                ) from e
        for resource in wanted:
            _fetch(folder, resource, wanted)
    if all(_there(folder, r.file_name) for r in resources):
        for resource in resources:
            _check(folder, resource)
        with suppress(OSError):  # a read-only folder is checked again each time
            mark_done(folder, version)
    return folder


def _there(folder: str, name: str) -> bool:
    return os.path.exists(os.path.join(folder, name))


def _fetch(
    folder: str, resource: DownloadableFile, wanted: Sequence[DownloadableFile]
) -> None:
    path = os.path.join(folder, resource.file_name)
    if os.path.exists(path):
        _check(folder, resource)
        return
    try:
        resource.download_file(folder)
    except Exception as e:
        # ParlAI raises whatever its network library raises, and AssertionError for a
        # wrong checksum. A broken file must not pass for one placed by hand.
        if os.path.exists(path):
            os.remove(path)
        missing = [other for other in wanted if not _there(folder, other.file_name)]
        names = ', '.join(other.file_name for other in missing)
        # They may be in several folders or commits of a repository.
        urls = ' '.join(other.url for other in missing if other is not resource)
        raise TaskDataError(
            f'Could not download {resource.url} ({e}). Without a network, fetch the '
            f'files elsewhere and place them in {folder}: {names}. Then run the '
            'command again.' + (f' The others are: {urls}' if urls else '')
        ) from e


def _check(folder: str, resource: DownloadableFile) -> None:
    path = os.path.join(folder, resource.file_name)
    try:
        resource.checksum(folder)
    except AssertionError as e:
        raise TaskDataError(
            f'{path} is not the file that this task reads: {_expected(resource)}. '
            'Delete it to have it downloaded, or replace it with the file from '
            f'{resource.url}.'
        ) from e


def _expected(resource: DownloadableFile) -> str:
    by_sha256 = f'its SHA-256 is not {resource.hashcode}'
    return getattr(resource, 'expected', by_sha256)
