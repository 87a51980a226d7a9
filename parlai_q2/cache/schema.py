"""
The tables of a score file, and how to open one.

    signatures   id, text                                a scorer's full signature
    scores       signature, pair, value, checksum, used  the score of one response

``pair`` is the SHA-256 of knowledge and response, ``value`` the score as JSON,
``checksum`` the CRC-32 of signature, pair and value, and ``used`` the time of last use
in seconds. The version of the tables is the file's ``user_version``.
"""

import sqlite3
from pathlib import Path

from parlai_q2.errors import ConfigError

# Increased with every change of the tables; a file of another version is not read.
VERSION = 1
# "pQ2s" distinguishes a score file from any other SQLite file.
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
    The tables of the file are of a version that this code does not read.

    :param version: the version of the file.
    """

    def __init__(self, version: int):
        self.version = version
        super().__init__(f'it has version {version} of the tables, not {VERSION}')


def connect(path: Path) -> sqlite3.Connection:
    """
    Open a score file, creating it and its tables if needed.

    :param path: the file; its folder must exist.
    :raises sqlite3.DatabaseError: if it is damaged or cannot be opened.
    :raises OtherVersion: if its tables are of another version.
    :raises ConfigError: if it is an intact SQLite file of another program.
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
        # This must be set while the file is empty; it lets eviction shrink the file.
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
    # With WAL, a killed process loses nothing. A power cut may lose the last writes;
    # those scores are computed again.
    connection.execute('PRAGMA synchronous = NORMAL')


def _number(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])
