"""
Fetches the human annotations of "Rome was built in 1776" (Santhanam et al. 2021) from
one commit of the authors' repository, which publishes no checksums: the files are
checked by the numbers of characters that they have there.
"""

from functools import partial

from parlai_q2.io.downloads import PublishedFile, fetch_files

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

# Makes sure that the files that are needed now are in the task's folder.
build = partial(fetch_files, task='rome', files=FILES)
