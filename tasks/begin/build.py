"""
Fetches BEGIN (Dziri et al. 2022) from the authors' repository.

It publishes no checksums. Those of the dev files were taken from copies of the release.
For the other files of the named commit, only the number of characters is known. For the
test files of CMU-DoG and Topical-Chat nothing is known: they are fetched from the
newest commit, and checked row by row when they are read.
"""

from functools import partial

from parlai_q2.io.downloads import PublishedFile, fetch_files

REPOSITORY = 'https://raw.githubusercontent.com/google/BEGIN-dataset/'
RELEASE = REPOSITORY + '78e2215a158744b14d080e90c8135a2039f52eb8/'
NEWEST = REPOSITORY + 'HEAD/'

FILES = [
    PublishedFile(
        RELEASE + 'wow/begin_dev_wow.tsv',
        'begin_dev_wow.tsv',
        '2ebfc95a1ff267e12dcce3250da4d158e1811c62e9e1a0d56f110efc9ace0178',
    ),
    PublishedFile(
        RELEASE + 'cmu-dog/begin_dev_cmu.tsv',
        'begin_dev_cmu.tsv',
        '9482294df23cf08a976773ca73203b84f7178534ecab1a206eaade365e97071c',
    ),
    PublishedFile(
        RELEASE + 'topicalchat/begin_dev_tc.tsv',
        'begin_dev_tc.tsv',
        'd799a8cb3635de41b7f284dcfc872544ddeadcbae0c2ffd684270cce671f7711',
    ),
    PublishedFile(
        RELEASE + 'wow/begin_test_wow.tsv', 'begin_test_wow.tsv', characters=1_240_657
    ),
    PublishedFile(NEWEST + 'cmu-dog/begin_test_cmu.tsv', 'begin_test_cmu.tsv'),
    PublishedFile(NEWEST + 'topicalchat/begin_test_tc.tsv', 'begin_test_tc.tsv'),
]

# Makes sure that the files that are needed now are in the task's folder.
build = partial(fetch_files, task='begin', files=FILES)
