"""
Fetches the annotated responses that the Q2 paper published.

The files come from the authors' repository. Without a network, place them by hand in
``<datapath>/q2_wow``; they are checked in the same way.
"""

from pathlib import Path
from typing import Sequence

from parlai_q2.io.published import PublishedFile, fetch_files

SOURCE = 'https://raw.githubusercontent.com/orhonovich/q-squared/main/third_party/data/'

CHECKSUMS = {
    'dodeca_consistent.csv': (
        'f3960661a527f8d481d8bd324bb4b4ed84797eb90e3f91d8d2c0038e5861c4a8'
    ),
    'dodeca_inconsistent.csv': (
        'e8c97dcf7db823f69455042b1e27342f0d6db308ced1d491ad11bb5fc4d980c3'
    ),
    'memnet_consistent.csv': (
        '2e9b32dbc35d9708eade57205b4a39f0ed3ded3015229e45c1937239b41e1bc2'
    ),
    'memnet_inconsistent.csv': (
        '6d80a4a2d513799a580accf463ad89b2968ade3e0b35dc55b1d174511a5a0277'
    ),
    'cross_annotation.csv': (
        'b9c92dcf44b93fc8c19fa4a289c6a2780d703b090cf1d341175728778c330446'
    ),
}
FILES = [
    PublishedFile(SOURCE + name, name, checksum) for name, checksum in CHECKSUMS.items()
]


def build(datapath: str, needed: Sequence[str]) -> Path:
    """
    Make sure that the files are there, in ``<datapath>/q2_wow``.

    :param needed: the names of those to be read.
    :return: the folder they are in.
    :raises TaskDataError: when a file cannot be fetched or is not the published one.
    """
    return fetch_files(datapath, 'q2_wow', FILES, needed)
