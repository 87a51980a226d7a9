"""
Fetches the Topical-Chat part of USR (Mehri & Eskenazi 2020).

The file comes from the first author's site. Without a network, place it by hand in
``<datapath>/topical_chat_usr``. No checksum is published for it: its SHA-256 is logged,
and its 60 contexts with 6 responses each are counted when it is read.
"""

import os

from parlai.core.opt import Opt

from parlai_q2.parlai.published_file import PublishedFile
from parlai_q2.parlai.task_files import fetch_files

VERSION = '1.0'
FILE = 'tc_usr_data.json'
RESOURCES = [PublishedFile('http://shikib.com/tc_usr_data.json', FILE)]


def build(opt: Opt) -> str:
    """
    Make sure that the file is there.

    :param opt: ParlAI options; ``datapath`` is read.
    :return: its path.
    :raises TaskDataError: when the file cannot be fetched.
    """
    folder = fetch_files(opt, 'topical_chat_usr', VERSION, RESOURCES, [FILE])
    return os.path.join(folder, FILE)
