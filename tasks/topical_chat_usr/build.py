"""
Fetches the Topical-Chat part of USR (Mehri & Eskenazi 2020) from the first author's
site. No checksum is published: its SHA-256 is logged, and its responses are counted.
"""

from functools import partial

from parlai_q2.io.downloads import PublishedFile, fetch_files

NAME = 'tc_usr_data.json'
FILES = [PublishedFile('http://shikib.com/tc_usr_data.json', NAME)]
# Makes sure that the file is in the task's folder.
build = partial(fetch_files, task='topical_chat_usr', files=FILES)
