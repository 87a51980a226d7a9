"""
Fetches the human annotations of "Rome was built in 1776" (Santhanam et al. 2021).

The files come from one commit of the authors' repository. Without a network, place them
by hand in ``<datapath>/rome``; they are checked in the same way. The repository
publishes no checksums. The files are checked against the numbers of characters that
they have in that commit.
"""

from pathlib import Path
from typing import Sequence

from parlai_q2.io.published import PublishedFile, fetch_files

SOURCE = (
    'https://raw.githubusercontent.com/alexa/factual-consistency-analysis-of-dialogs/'
    'bcd3592e3f1eb3875916b43504bf9d1a5d7ffd2e/human_annotations/'
)
CROWD = SOURCE + 'factual_dataset_crowd/'
FILES = [
    PublishedFile(
        SOURCE + 'factual_dataset_expert.csv',
        'factual_dataset_expert.csv',
        characters=719_997,
    ),
    PublishedFile(CROWD + 'gt.csv', 'gt.csv', characters=886_631),
    PublishedFile(CROWD + 'knn.csv', 'knn.csv', characters=881_629),
    PublishedFile(CROWD + 'dpr.csv', 'dpr.csv', characters=1_452_275),
]


def build(datapath: str, needed: Sequence[str]) -> Path:
    """
    Make sure that the files are there, in ``<datapath>/rome``.

    :param needed: the names of those to be read.
    :return: the folder they are in.
    :raises TaskDataError: when a file cannot be fetched or is not the published one.
    """
    return fetch_files(datapath, 'rome', FILES, needed)
