"""Fetches the annotated responses that the Q2 paper published, from its repository."""

from functools import partial

from parlai_q2.io.downloads import PublishedFile, fetch_files

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

# Makes sure that the files that are needed now are in the task's folder.
build = partial(fetch_files, task='q2_wow', files=FILES)
