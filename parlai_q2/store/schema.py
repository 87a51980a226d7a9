"""
The tables of a score file, and how to open one.

    signatures   id, text                                a scorer's recipe, in full
    scores       signature, pair, value, checksum, used  one response against one text

``pair`` is the SHA-256 of knowledge and response, ``value`` the score as JSON,
``checksum`` the CRC-32 of signature, pair and value, ``used`` the second of last use.
The version stands in the file's ``user_version``.
"""

import sqlite3
from pathlib import Path

from parlai_q2.errors import ConfigError

# Raised with every change of the tables; a file of another version is not read.
VERSION = 1
# "pQ2s": tells a score file from any other SQLite file.
APPLICATION_ID = 0x70513273
# Seconds to wait for another process's write.
BUSY_TIMEOUT = 60.0

TABLES = f"""
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {VERSION};
CREATE TABLE signatures (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE scores (
    signature INTEGER NOT NULL REFERENCES signatures (id),
    pair BLOB NOT NULL,
    value BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY (signature, pair)
);
CREATE INDEX scores_by_use ON scores (used);
"""


class OtherVersion(Exception):
    """
    The file was written with other tables than this code knows.

    :param version: the file's version.
    """

    def __init__(self, version: int):
        self.version = version
        super().__init__(f'it has version {version} of the tables, not {VERSION}')


def connect(path: Path) -> sqlite3.Connection:
    """
    Open a score file, and make its tables where it is new.

    :param path: the file; its folder must exist.
    :raises sqlite3.DatabaseError: when it is damaged or cannot be opened.
    :raises OtherVersion: when its tables are of another version.
    :raises ConfigError: when it is a sound SQLite file of some other program.
    """
    connection = sqlite3.connect(
        path, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False
    )
    try:
        _prepare(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    if not _number(connection, 'SELECT count(*) FROM sqlite_master'):
        # Set while the file is empty, so that eviction can shrink it.
        connection.execute('PRAGMA auto_vacuum = INCREMENTAL')
        connection.executescript(f'BEGIN IMMEDIATE;{TABLES}COMMIT;')
    elif _number(connection, 'PRAGMA application_id') != APPLICATION_ID:
        raise ConfigError(
            f"{path} is another program's SQLite file, not a score cache. Give "
            'another file: --cache-file FILE'
        )
    version = _number(connection, 'PRAGMA user_version')
    if version != VERSION:
        raise OtherVersion(version)
    connection.execute('PRAGMA journal_mode = WAL')
    # With WAL a killed process loses nothing; a power cut may lose the last writes, and
    # a score can be computed again.
    connection.execute('PRAGMA synchronous = NORMAL')


def _number(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])
