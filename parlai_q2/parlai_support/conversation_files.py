"""
Writes conversations as ParlAI's ``jsonfile`` teacher reads them, in one step.
"""

import datetime
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, ContextManager, Iterable, Mapping

from parlai.utils.conversations import Metadata

from parlai_q2.errors import InputError
from parlai_q2.files.write import (
    ANOTHER,
    PART,
    beside,
    hold,
    writable,
    write_text,
    writing,
)

ENDING = '.jsonl'
# What to do where a file cannot be written.
AGAIN = 'Free some disk space and run the same command again.'


def places_of(path: Path) -> tuple[Path, Path]:
    """
    Where a file of conversations and its metadata are written, looked at before any
    work is done.

    :raises InputError: for another ending than ``.jsonl``, or what cannot be written
        (see :func:`~parlai_q2.files.write.writable`).
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
    A file of conversations that has its name only once it is whole, with ParlAI's
    metadata beside it. Left without being finished, as a context, it leaves nothing.

    :param path: the file, ending in ``.jsonl``; of a link, what it points to is
        written.
    :raises InputError: when it cannot be written (see :func:`places_of`), or another
        run is writing it.
    """

    def __init__(self, path: Path):
        self.path, self.written = path, 0
        self._place, self.metadata = places_of(path)
        self.part = beside(self._place, PART)
        with writing(path, ANOTHER):
            # Not emptied before it is known that nobody else writes it.
            self._stream = open(self.part, 'a', encoding='ascii')
        try:
            hold(self._stream, self.part)
        except InputError:
            self._stream.close()
            raise
        self._stream.truncate(0)

    def write(self, conversations: Iterable[Mapping[str, Any]]) -> None:
        """
        Add conversations.

        :raises InputError: when the disk takes no more.
        """
        for conversation in conversations:
            line = {**conversation, 'metadata_path': str(self.metadata)}
            # Only ASCII: ParlAI cuts its lines at Unicode's line ends too.
            with self._writing():
                self._stream.write(json.dumps(line) + '\n')
            self.written += 1

    def finish(self, opt: Mapping[str, Any], **more: Any) -> None:
        """
        Give the file its name.

        :param opt: the options that made it, for the metadata.
        :param more: what the metadata say besides.
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
            write_text(self.metadata, json.dumps(metadata, default=str))
            # The name is given while the lock is held: no other run comes in between.
            os.replace(self.part, self._place)
        self._stream.close()

    def __enter__(self) -> 'ConversationFile':
        return self

    def __exit__(self, *error: Any) -> None:
        self.abandon()

    def abandon(self) -> None:
        """
        Leave nothing behind; of a finished file, all of it.
        """
        if self._stream.closed:
            return
        self.part.unlink(missing_ok=True)
        # What a full disk did not take is tried once more, and is no news.
        with suppress(OSError):
            self._stream.close()

    def _writing(self) -> ContextManager[None]:
        return writing(self.path, AGAIN)
