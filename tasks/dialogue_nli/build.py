"""
Fetches Dialogue NLI (Welleck et al. 2019).

It is published as one archive of 390 MB. ParlAI's own task ``dialogue_nli`` reads it
too, and both keep it in ``<datapath>/dialogue_nli``, so it is fetched only once. Its
SHA-256 is the one that ParlAI checks. Without a network, place the archive there by
hand, or the files from it that are to be read. For these no checksums are published;
their pairs are counted when they are read.
"""

import os
from typing import Optional

from parlai_q2.errors import TaskDataError

# ParlAI's own version, so that each of the two tasks accepts what the other has built.
VERSION = '1.0'
HOME = 'https://wellecks.com/dialogue_nli/'
ARCHIVE = 'dialogue_nli.zip'
SHA256 = '1164b0d9a0a1a6006891a6d4435a6a813464bc9b1e2f1ec5ce28c47267ad5e42'
ON_GOOGLE = '1WtbXCv3vPB5ql6w0FVDmAEMmWadbrCuG'
# Where the archive has its files, and where you may place them by hand.
FOLDERS = (os.path.join('dnli', 'dialogue_nli'), 'dialogue_nli', '')


def build(datapath: str, name: str) -> str:
    """
    Make sure that a file of the archive is there.

    :param name: the file's name.
    :return: its path.
    :raises TaskDataError: when the file cannot be fetched, or the archive is not the
        published one.
    """
    folder = os.path.join(datapath, 'dialogue_nli')
    path = _find(folder, name)
    if path is None:
        _fetch(folder, name)
        path = _find(folder, name)
    if path is None:
        raise TaskDataError(
            f'{ARCHIVE} was unpacked in {folder}, but {name} is not in '
            f'it. Fetch the file from {HOME} and place it there.'
        )
    return path


def _find(folder: str, name: str) -> Optional[str]:
    for inner in FOLDERS:
        path = os.path.join(folder, inner, name)
        if os.path.isfile(path):
            return path
    return None


def _fetch(folder: str, name: str) -> None:
    # It is on Google Drive, which ParlAI knows how to ask.
    from parlai.core.build_data import DownloadableFile, make_dir, mark_done, untar

    make_dir(folder)
    file = DownloadableFile(ON_GOOGLE, ARCHIVE, SHA256, from_google=True)
    archive = os.path.join(folder, ARCHIVE)
    by_hand = os.path.exists(archive)
    try:
        if by_hand:
            file.checksum(folder)
            # An archive placed by hand is never deleted.
            untar(folder, ARCHIVE, delete=False)
        else:
            file.download_file(folder)
    except AssertionError as e:
        _drop(archive, by_hand)
        raise TaskDataError(
            f'{archive} is not the published archive: its SHA-256 is not '
            f'{SHA256}. Fetch it from {HOME}, or place {name} in {folder}.'
        ) from e
    except Exception as e:
        # ParlAI passes on whatever its network library raises.
        _drop(archive, by_hand)
        raise TaskDataError(
            f'Could not get {ARCHIVE} ({e}). Without a network, fetch it '
            f'elsewhere from {HOME} and place it, or {name} out of it, in {folder}. '
            'Then run the command again.'
        ) from e
    mark_done(folder, VERSION)


def _drop(archive: str, by_hand: bool) -> None:
    if not by_hand and os.path.exists(archive):
        os.remove(archive)
