"""
Fetches the Topical-Chat part of USR (Mehri & Eskenazi 2020).

The file comes from the first author's site. Without a network, place it by hand in
``<datapath>/topical_chat_usr``. No checksum is published for it: its SHA-256 is logged,
and its 60 contexts with 6 responses each are counted when it is read.
"""

from pathlib import Path

from parlai_q2.io.published import PublishedFile, fetch_files

NAME = 'tc_usr_data.json'
FILES = [PublishedFile('http://shikib.com/tc_usr_data.json', NAME)]


def build(datapath: str) -> Path:
    """
    Make sure that the file is there.

    :return: its path.
    :raises TaskDataError: when the file cannot be fetched.
    """
    return fetch_files(datapath, 'topical_chat_usr', FILES, [NAME]) / NAME
