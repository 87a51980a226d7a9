"""
Files of tasks whose authors published no checksum.

Where the number of characters is known, a file is checked by it: the URL names a git
commit, and an index of that commit's files gives their lengths. Where nothing is known,
a file is taken as it is, and its SHA-256 is logged so that a user can write it down.
"""

import os
from typing import Optional

from parlai.core.build_data import DownloadableFile
from parlai.utils.misc import warn_once

from parlai_q2.files.checksum import file_sha256

# Characters read at a time.
BLOCK = 1 << 20


class PublishedFile(DownloadableFile):
    """
    A file without a known SHA-256.

    :param url: where it is; with a commit in it where ``characters`` is given.
    :param file_name: its name in the task's folder.
    :param characters: how many characters it has, each line break counted as it is
        written; None where that is unknown too.
    """

    def __init__(self, url: str, file_name: str, characters: Optional[int] = None):
        super().__init__(url, file_name, hashcode='', zipped=False)
        self.characters = characters

    @property
    def expected(self) -> str:
        """
        What :meth:`checksum` asks of the file, for error messages.
        """
        return f'it does not have {self.characters:,} characters of UTF-8'

    def checksum(self, dpath: str) -> None:
        """
        Check the file in the way that is possible.

        :param dpath: the folder it is in.
        :raises AssertionError: when its length is known and is another one, as ParlAI's
            own files do for a wrong checksum.
        """
        path = os.path.join(dpath, self.file_name)
        if self.characters is None:
            warn_once(
                f'No checksum of {self.file_name} is published, so the file is '
                f'not verified. Its SHA-256 is {file_sha256(path)}.'
            )
        elif count_characters(path) != self.characters:
            raise AssertionError(f'{self.file_name}: {self.expected}.')


def count_characters(path: str) -> int:
    """
    How many characters a file of UTF-8 has; -1 where it is not UTF-8.
    """
    count = 0
    try:
        # Without newline='' a CRLF would count as one character.
        with open(path, encoding='utf-8', newline='') as stream:
            while block := stream.read(BLOCK):
                count += len(block)
    except UnicodeDecodeError:
        return -1
    return count
