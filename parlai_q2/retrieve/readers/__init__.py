"""
Readers of documents, by the ending of the file's name.

Text, CSV and JSON lines are read in this process, line by line. Files with a grammar
(Markdown, HTML, PDF, Word) are converted in a child process: one that takes too long or
too much memory, or crashes its converter, is refused by name, and the others are read.
The child is sent a path a line, and answers each with one line of JSON: the blocks, or
what is wrong.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import astuple
from functools import partial
from pathlib import Path
from threading import Event, Timer
from typing import Any

from parlai_q2.errors import DocumentError, Q2Error
from parlai_q2.packages import check_package
from parlai_q2.retrieve.readers.block import Block
from parlai_q2.retrieve.readers.direct import read_table, read_text, read_utf8

# Increased when the blocks of a file, or their searched text, change: indexes are then
# made again.
VERSION = 11
_read_json_lines = partial(read_table, format='jsonl')
DIRECT: Mapping[str, Callable[[Path], Iterator[Block]]] = {
    '.txt': read_text,
    '.text': read_text,
    '.csv': partial(read_table, format='csv'),
    '.tsv': partial(read_table, format='tsv'),
    '.jsonl': _read_json_lines,
    '.ndjson': _read_json_lines,
}
_MARKDOWN, _HTML = ('.md', '.markdown'), ('.html', '.htm', '.xhtml')
# The packages that convert a file: the names to import, and to install.
_PAGES = (
    ('markdown_it', 'markdown-it-py'),
    ('bs4', 'beautifulsoup4'),
    ('markdownify', 'markdownify'),
)
_PACKAGES: Mapping[str, tuple[tuple[str, str], ...]] = {
    **dict.fromkeys(_MARKDOWN + _HTML, _PAGES),
    '.docx': (*_PAGES, ('mammoth', 'mammoth')),
    '.pdf': (*_PAGES, ('pdf_inspector', 'pdf-inspector')),
}
CONVERTED = frozenset(_PACKAGES)
ENDINGS = CONVERTED | frozenset(DIRECT)
# The limits of one document: seconds, bytes of address space, and characters of text.
SECONDS, MEMORY, MAX_CHARACTERS = 120.0, 4_000_000_000, 100_000_000
_START = (
    'import sys; sys.path[:] = {path!r}; '
    'from parlai_q2.retrieve.readers import answer_paths; answer_paths()'
)


def check_packages(ending: str) -> None:
    """Raise MissingPackageError unless files of an ending can be read."""
    for module, package in _PACKAGES.get(ending, ()):
        check_package(module, package, 'documents', f'Reading {ending} files')


class ReadingProcess:
    """
    A child process that reads documents, started for the first and after a crash.

    :param seconds: the time limit of a document.
    """

    def __init__(self, seconds: float = SECONDS):
        self.seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> 'ReadingProcess':
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the child."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def read(self, path: Path) -> Iterable[Block]:
        """
        Read the blocks of a document; one of an unknown kind as text.

        :raises DocumentError: if it cannot be read.
        """
        ending = path.suffix.lower()
        if ending not in CONVERTED:
            return DIRECT.get(ending, read_text)(path)
        process = self._process = self._process or _start()
        is_late = Event()

        def stop() -> None:
            is_late.set()
            process.kill()

        timer = Timer(self.seconds, stop)
        timer.daemon = True
        timer.start()
        try:
            answer = _ask(process, path)
        except (EOFError, OSError, ValueError):
            self.close()
            problem = 'it crashes its reader'
            if is_late.is_set():
                problem = f'it takes more than {self.seconds:g} seconds to read'
            raise DocumentError(path, problem) from None
        except BaseException:
            # After Ctrl-C, the answer would be taken for that to the next document.
            self.close()
            raise
        finally:
            timer.cancel()
        if isinstance(answer, str):
            raise DocumentError(path, answer)
        return [Block(*fields) for fields in answer]


def _start() -> 'subprocess.Popen[bytes]':
    # Isolated, so that no module of the current folder is imported; the path is this
    # process's own.
    code = _START.format(path=[folder for folder in sys.path if folder])
    return subprocess.Popen(
        [sys.executable, '-I', '-c', code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _ask(process: 'subprocess.Popen[bytes]', path: Path) -> list[list[Any]] | str:
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps(str(path.absolute())).encode() + b'\n')
    process.stdin.flush()
    line = process.stdout.readline()
    if not line.endswith(b'\n'):
        raise EOFError
    answer: list[list[Any]] | str = json.loads(line)
    return answer


def answer_paths() -> None:
    """Read the documents that the standard input names: the child's whole life."""
    # Windows has no such limits.
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    # The output of converters is discarded.
    out, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        out.write(json.dumps(_read_or_explain(Path(json.loads(line)))) + '\n')
        out.flush()


def _read_or_explain(path: Path) -> list[tuple[Any, ...]] | str:
    """The fields of a document's blocks, or why it cannot be read."""
    try:
        blocks = [astuple(block) for block in _convert(path)]
        if sum(len(fields[0]) for fields in blocks) > MAX_CHARACTERS:
            return f'it has more than {MAX_CHARACTERS:,} characters of text'
        return blocks
    except DocumentError as e:
        return e.problem
    except Q2Error as e:
        return str(e)
    except MemoryError:
        return f'it takes more than {MEMORY:,} bytes of memory to read'
    except RecursionError:
        return 'it is nested too deep'
    # The file is to blame for any error of a converter, even a panic in Rust.
    except BaseException as e:
        return f'its reader fails: {type(e).__name__}: {e}'


def _convert(path: Path) -> Iterator[Block]:
    from parlai_q2.retrieve.readers import pages, pdf

    ending = path.suffix.lower()
    if ending == '.docx':
        markdown = pages.convert_word(path)
    elif ending == '.pdf':
        markdown = pdf.convert_pdf(path)
    elif ending in _HTML:
        markdown = pages.html_to_markdown(read_utf8(path))
    else:
        markdown = pages.Markdown(read_utf8(path), is_source=True)
    return pages.read_blocks(markdown)
