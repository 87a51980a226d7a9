"""
Fetches the human annotations of "Rome was built in 1776" (Santhanam et al. 2021).

The files come from one commit of the authors' repository. Without a network, place them
by hand in ``<datapath>/rome``; they are checked in the same way. The repository
publishes no checksums. The files are checked against the numbers of characters that
they have in that commit.
"""

from typing import Sequence

from parlai.core.opt import Opt

from parlai_q2.parlai.published_file import PublishedFile
from parlai_q2.parlai.task_files import fetch_files

VERSION = '1.0'
SOURCE = (
    'https://raw.githubusercontent.com/alexa/factual-consistency-analysis-of-dialogs/'
    'bcd3592e3f1eb3875916b43504bf9d1a5d7ffd2e/human_annotations/'
)
RESOURCES = [
    PublishedFile(
        SOURCE + 'factual_dataset_expert.csv',
        'factual_dataset_expert.csv',
        characters=719_997,
    ),
    PublishedFile(SOURCE + 'factual_dataset_crowd/gt.csv', 'gt.csv', 886_631),
    PublishedFile(SOURCE + 'factual_dataset_crowd/knn.csv', 'knn.csv', 881_629),
    PublishedFile(SOURCE + 'factual_dataset_crowd/dpr.csv', 'dpr.csv', 1_452_275),
]


def build(opt: Opt, needed: Sequence[str]) -> str:
    """
    Make sure that the files are there.

    :param opt: ParlAI options; ``datapath`` is read.
    :param needed: the names of the files to be read.
    :return: the folder they are in.
    :raises TaskDataError: when a file cannot be fetched or is not the published one.
    """
    return fetch_files(opt, 'rome', VERSION, RESOURCES, needed)
