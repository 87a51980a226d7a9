"""
Writes results so that a killed run loses nothing.

Lines go to ``<outfile>.part``, each flushed whole. When all are there the file takes
its real name in one step. A run that finds a part file made with the same signature
from the same input goes on where it ends; a line cut short by the kill is dropped
first.
"""

import json
import os
from itertools import islice
from pathlib import Path
from typing import Any, Iterable, Iterator

from parlai_q2.errors import InputError


class ResumableWriter:
    """
    Appends JSON lines to a part file and names it at the end.

    :param outfile: the file to make.
    :param run: what makes two runs the same: signature, input, its size and time.
    :raises InputError: when the folder cannot be written.
    """

    def __init__(self, outfile: Path, run: dict[str, Any]):
        self.outfile = outfile
        self.part = outfile.with_name(outfile.name + '.part')
        self.meta = outfile.with_name(outfile.name + '.meta.json')
        self._claim = outfile.with_name(outfile.name + '.part.run.json')
        self.done = 0
        try:
            outfile.parent.mkdir(parents=True, exist_ok=True)
            if self._same_run(run):
                self.done = drop_cut_line(self.part)
            else:
                write_text(self._claim, json.dumps(run, indent=1))
                self.part.write_bytes(b'')
            self._stream = open(self.part, 'ab')
        except OSError as e:
            raise InputError(
                f'Cannot write {outfile}: {e.strerror}. Choose another --outfile.'
            ) from e

    def _same_run(self, run: dict[str, Any]) -> bool:
        try:
            return self.part.exists() and json.loads(self._claim.read_text()) == run
        except (OSError, ValueError):
            return False

    def write(self, records: Iterable[dict[str, Any]]) -> None:
        """
        Append records, one line each, and hand them to the disk.
        """
        lines = ''.join(json.dumps(r, ensure_ascii=False) + '\n' for r in records)
        # A lone surrogate from a JSON escape has no UTF-8; keep it as an escape.
        self._stream.write(lines.encode('utf-8', errors='backslashreplace'))
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def lines(self) -> Iterator[dict[str, Any]]:
        """
        The lines that an earlier run wrote, read back.
        """
        with open(self.part, encoding='utf-8') as stream:
            for line in islice(stream, self.done):
                yield json.loads(line)

    def finish(self, summary: dict[str, Any]) -> None:
        """
        Give the file its name, and write the summary beside it.
        """
        self._stream.close()
        write_text(self.meta, json.dumps(summary, indent=1) + '\n')
        os.replace(self.part, self.outfile)
        self._claim.unlink(missing_ok=True)

    def abandon(self) -> None:
        """
        Stop and leave nothing behind.
        """
        self._stream.close()
        self.part.unlink(missing_ok=True)
        self._claim.unlink(missing_ok=True)

    def close(self) -> None:
        """
        Stop without finishing; a later run goes on from here.
        """
        self._stream.close()


def drop_cut_line(path: Path) -> int:
    """
    Drop an unfinished last line from a file.

    :return: how many whole lines there are.
    """
    lines = kept = 0
    with open(path, 'rb+') as stream:
        for line in stream:
            if line.endswith(b'\n'):
                lines += 1
                kept += len(line)
        stream.truncate(kept)
    return lines


def write_text(path: Path, text: str) -> None:
    """
    Write a small file in one step: it is there whole or not at all.
    """
    temporary = path.with_name(path.name + '.tmp')
    temporary.write_text(text, encoding='utf-8')
    os.replace(temporary, path)
