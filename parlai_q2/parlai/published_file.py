"""
Files of tasks whose authors published no checksum.

If the number of characters of a file is known, the file is checked by it: the URL names
a git commit, and an index of that commit's files has their lengths. If nothing is
known, the file is accepted as it is, and its SHA-256 is logged so that the user can
record it.
"""

import os
from typing import Optional

from parlai.core.build_data import DownloadableFile
from parlai.utils.misc import warn_once

from parlai_q2.io.files import file_sha256

# Characters read at a time.
BLOCK = 1 << 20


class PublishedFile(DownloadableFile):
    """
    A file without a known SHA-256.

    :param url: its URL, which must name a commit if ``characters`` is given.
    :param file_name: its name in the task's folder.
    :param characters: its number of characters, where a CRLF counts as two; None if
        unknown.
    """

    def __init__(self, url: str, file_name: str, characters: Optional[int] = None):
        super().__init__(url, file_name, hashcode='', zipped=False)
        self.characters = characters

    @property
    def expected(self) -> str:
        """
        What :meth:`checksum` requires of the file, for error messages.
        """
        return f'it does not have {self.characters:,} characters of UTF-8'

    def checksum(self, dpath: str) -> None:
        """
        Check the file by its length, if that is known.

        :param dpath: the folder of the file.
        :raises AssertionError: when the length is wrong, as ParlAI's own files do for a
            wrong checksum.
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
    The number of characters in a UTF-8 file; -1 if it is not UTF-8.
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
