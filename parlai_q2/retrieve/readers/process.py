"""
Reads documents in a process of their own: one that takes too long, too much memory or
crashes its reader is refused by name, and the others are read.

The process is sent a path a line and answers with blocks as lines of JSON.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path
from threading import Timer
from typing import Any, Optional

from parlai_q2.errors import DocumentError, Q2Error
from parlai_q2.retrieve.readers import reader_apart
from parlai_q2.retrieve.readers.block import Block

SECONDS = 120.0
# What the process may take, in bytes of address space.
MEMORY = 4_000_000_000
# How much text one document may have.
MOST_CHARACTERS = 100_000_000
_START = (
    'import sys; sys.path[:] = {path!r}; '
    'from parlai_q2.retrieve.readers.process import answer; answer()'
)


class ReadingProcess:
    """
    A process that reads documents, started with the first and again after a crash.

    :param seconds: how long one document may take.
    """

    def __init__(self, seconds: float = SECONDS):
        self.seconds = seconds
        self._process: Optional[subprocess.Popen] = None

    def __enter__(self) -> 'ReadingProcess':
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def read(self, path: Path) -> Iterator[Block]:
        """
        The blocks of a document.

        :raises DocumentError: if it cannot be read.
        """
        if self._process is None:
            # Isolated, so that no module of the current folder is imported; the path
            # is this process's own.
            code = _START.format(path=[p for p in sys.path if p])
            self._process = subprocess.Popen(
                [sys.executable, '-I', '-c', code],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        process, late = self._process, []

        def stop() -> None:
            late.append(True)
            process.kill()

        watch = Timer(self.seconds, stop)
        watch.daemon = True
        watch.start()
        done = False
        try:
            yield from self._answers(process, path)
            done = True
        except DocumentError:
            done = True
            raise
        except (EOFError, OSError, ValueError):
            why = f'it takes more than {self.seconds:g} seconds to read'
            raise DocumentError(
                path, why if late else 'it crashes its reader'
            ) from None
        finally:
            watch.cancel()
            if not done:
                self.close()

    def _answers(self, process: subprocess.Popen, path: Path) -> Iterator[Block]:
        assert process.stdin and process.stdout
        process.stdin.write(json.dumps(str(path.absolute())).encode() + b'\n')
        process.stdin.flush()
        while True:
            line = process.stdout.readline()
            if not line.endswith(b'\n'):
                raise EOFError
            said = json.loads(line)
            if isinstance(said, list):
                yield Block(*said)
            elif said is None:
                return
            else:
                raise DocumentError(path, said)


def answer() -> None:
    """Read the documents that the standard input names; the process's whole life."""
    _limit_memory()
    # What readers print goes nowhere.
    out, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        path = Path(json.loads(line))
        left, said = MOST_CHARACTERS, None
        try:
            for block in reader_apart(path.suffix.lower())(path):
                left -= len(block.text)
                if left < 0:
                    raise DocumentError(
                        path, f'it has more than {MOST_CHARACTERS:,} characters of text'
                    )
                _say(out, astuple(block))
        except DocumentError as e:
            said = e.problem
        except Q2Error as e:
            said = str(e)
        except MemoryError:
            said = f'it takes more than {MEMORY:,} bytes of memory to read'
        except RecursionError:
            said = 'it is nested too deep'
        except Exception as e:
            said = f'its reader fails: {type(e).__name__}: {e}'
        _say(out, said)


def _say(out: Any, value: Any) -> None:
    out.write(json.dumps(value) + '\n')
    out.flush()


def _limit_memory() -> None:
    # Windows has no such limits.
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
