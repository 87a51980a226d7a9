"""Writes conversations in the format of ParlAI's ``jsonfile`` teacher, atomically."""

import datetime
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, ContextManager, Iterable, Mapping

from parlai.utils.conversations import Metadata

from parlai_q2.errors import InputError
from parlai_q2.io.files import beside
from parlai_q2.io.strict_json import write_json
from parlai_q2.io.write import (
    AGAIN,
    ANOTHER,
    PART,
    hold,
    let_go,
    writable,
    write_text,
    writing,
)

ENDING = '.jsonl'


def places_of(path: Path) -> tuple[Path, Path]:
    """
    Check that a file of conversations and its metadata can be written. Call this before
    any work is done.

    :param path: the file.
    :return: the paths of the file and of its metadata.
    :raises InputError: when the file does not end in ``.jsonl``, or cannot be written
        (see :func:`~parlai_q2.io.write.writable`).
    """
    if path.suffix != ENDING:
        raise InputError(
            f'The name of a file of conversations must end in {ENDING}, and {path} '
            'does not.'
        )
    metadata = Path(Metadata._get_path(str(path)))
    writable(metadata)
    return writable(path), metadata


class ConversationFile:
    """
    A file of conversations, with ParlAI's metadata beside it. It gets its name only
    when it is complete. As a context manager, it leaves nothing behind if it was not
    finished.

    :param path: the file, ending in ``.jsonl``. For a link, the target is written.
    :raises InputError: when the file cannot be written (see :func:`places_of`), or
        another run is writing it.
    """

    def __init__(self, path: Path):
        self.path, self.written = path, 0
        self._place, self.metadata = places_of(path)
        self.part = beside(self._place, PART)
        with writing(path, ANOTHER):
            self._lock = hold(self.part)
            self._stream = open(self.part, 'w', encoding='ascii')

    def write(self, conversations: Iterable[Mapping[str, Any]]) -> None:
        """
        Add conversations.

        :raises InputError: when they cannot be written, e.g. because the disk is full.
        """
        for conversation in conversations:
            line = {**conversation, 'metadata_path': str(self.metadata)}
            # ASCII only: ParlAI also splits lines at Unicode line separators.
            with self._writing():
                self._stream.write(write_json(line) + '\n')
            self.written += 1

    def finish(self, opt: Mapping[str, Any], **more: Any) -> None:
        """
        Write the metadata and give the file its name.

        :param opt: the options of the run, for the metadata.
        :param more: further entries of the metadata.
        """
        metadata = {
            'date': str(datetime.datetime.now()),
            'opt': dict(opt),
            'self_chat': False,
            'speakers': ['teacher', 'label'],
            'version': Metadata.version(),
            **more,
        }
        with self._writing():
            self._stream.flush()
            os.fsync(self._stream.fileno())
            write_text(self.metadata, write_json(metadata, default=str))
            # Renamed while the lock is held, so that no other run can interfere.
            os.replace(self.part, self._place)
        self._stream.close()
        let_go(self._lock)

    def __enter__(self) -> 'ConversationFile':
        return self

    def __exit__(self, *error: Any) -> None:
        self.abandon()

    def abandon(self) -> None:
        """Delete an unfinished file; a finished one is left as it is."""
        if self._stream.closed:
            return
        self.part.unlink(missing_ok=True)
        # Closing flushes again; if the disk is full, that was reported before.
        with suppress(OSError):
            self._stream.close()
        let_go(self._lock)

    def _writing(self) -> ContextManager[None]:
        return writing(self.path, AGAIN)
