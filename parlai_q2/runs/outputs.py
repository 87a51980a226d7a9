"""
The files of a run: one input and one output, or many inputs and a folder with as many
outputs, which a manifest lists. Outputs may be URLs: they are written to a folder on
this machine, where a stopped run resumes, and stored when complete.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from glob import has_magic
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from parlai_q2.errors import ConfigError, InputError
from parlai_q2.io.files import (
    MANIFEST,
    Location,
    Remote,
    Stdin,
    cache_folder,
    expand_pattern,
    explain,
    file_sha256,
    locate,
    read_state,
)
from parlai_q2.io.parquet import check_pyarrow, is_parquet
from parlai_q2.io.write import (
    ANOTHER,
    as_write_error,
    locate_summary,
    read_summary,
    writable,
    write_text,
)
from parlai_q2.json_values import JsonMapping, JsonObject, write_json

STDOUT = ('-', '/dev/stdout')


class FilePair(NamedTuple):
    """A file to read, and the one to write, or None for the standard output."""

    infile: Location
    outfile: Path | None


@dataclass
class Outputs:
    """
    The files that a run reads and writes.

    :param target: the output: a file, or with ``is_folder`` a folder; None for the
        standard output.
    :param staging: the folder for files before they are uploaded, if the target is a
        URL.
    :ivar entries: the manifest's entry of each output in a folder, by its name.
    """

    files: list[FilePair]
    target: Location | None
    is_folder: bool = False
    staging: Path | None = None
    entries: dict[str, JsonObject] = field(default_factory=dict)

    @property
    def summary(self) -> Path | None:
        """The file with the signature and the counts; None for the standard output."""
        if self.is_folder:
            folder = self.staging or self.target
            assert isinstance(folder, Path)
            return folder / MANIFEST
        (pair,) = self.files
        return locate_summary(pair.outfile) if pair.outfile else None

    def check(self) -> None:
        """Check inputs and outputs before any work is done."""
        for pair in self.files:
            check_regular(pair.infile)
            if pair.outfile is None:
                continue
            if pair.outfile.suffix.lower() in ('.csv', '.tsv'):
                raise InputError(
                    f'{pair.outfile}: the output is JSON lines or Parquet. Name it '
                    '.jsonl or .parquet.'
                )
            if is_parquet(pair.outfile):
                check_pyarrow(f'Writing {pair.outfile}')
            # Two inputs never share an output, so the summary could only be its own.
            writable(pair.outfile, pair.infile)
            url = self.url_of(pair.outfile)
            if url and Remote(url).resolve() == pair.infile.resolve():
                raise InputError(f'{pair.infile} is also an input. {ANOTHER}')
        if self.is_folder and self.summary:
            writable(self.summary, *(pair.infile for pair in self.files))
            check_manifest(self.summary)

    def skip_finished(
        self, signature: str, format: str | None, names: Mapping[str, str]
    ) -> int:
        """Leave out files that an earlier run has finished; return their number."""
        if not self.is_folder:
            return 0
        unfinished = []
        for pair in self.files:
            identity = identify(pair.infile, signature, format, names)
            assert pair.outfile is not None
            summary = read_summary(pair.outfile) or {}
            if {name: summary.get(name) for name in identity} == identity:
                self._enter(pair, summary)
                # An upload may have failed.
                for path in (pair.outfile, locate_summary(pair.outfile)):
                    self._store(path, again=False)
            else:
                unfinished.append(pair)
        skipped = len(self.files) - len(unfinished)
        self.files = unfinished
        return skipped

    def complete(self, pair: FilePair, summary: JsonMapping) -> None:
        """Upload a finished output, if it goes elsewhere, and note its counts."""
        if pair.outfile is None:
            return
        if self.is_folder:
            self._enter(pair, summary)
        self._store(pair.outfile)
        self._store(locate_summary(pair.outfile))

    def write_manifest(self, signature: str) -> None:
        if self.summary is None or not self.is_folder:
            return
        entries = [self.entries[name] for name in sorted(self.entries)]
        manifest = {
            'signature': signature,
            'records': sum(entry['records'] for entry in entries),
            'bad': sum(entry['bad'] for entry in entries),
            'shards': entries,
        }
        with as_write_error(self.summary, ANOTHER):
            write_text(self.summary, write_json(manifest, indent=1) + '\n')
        self._store(self.summary)

    def _enter(self, pair: FilePair, summary: JsonMapping) -> None:
        assert pair.outfile is not None
        self.entries[pair.outfile.name] = {
            'file': pair.outfile.name,
            'infile': str(pair.infile),
            'records': summary.get('records', summary.get('pools')),
            'bad': summary['bad'],
            'bytes': pair.outfile.stat().st_size,
            'sha256': file_sha256(pair.outfile),
        }

    def url_of(self, path: Path) -> str | None:
        """The address that a file is uploaded to; None if it stays here."""
        if not isinstance(self.target, Remote):
            return None
        url = self.target.url
        if self.is_folder:
            return f'{url.rstrip("/")}/{path.name}'
        if path.name != self.target.name:
            return f'{url.rpartition("/")[0]}/{path.name}'
        return url

    def _store(self, path: Path, again: bool = True) -> None:
        """Upload a file to a store, unless it is there and is not to go ``again``."""
        url = self.url_of(path)
        if url is None:
            return
        remote, size = Remote(url), path.stat().st_size
        try:
            if again or not remote.exists() or remote.state()['size'] != size:
                remote.upload(path)
        except OSError as e:
            raise InputError(
                f'Cannot write {url}: {e}. The output is complete at {path}: copy it, '
                'or run the same command again.'
            ) from e


def plan_outputs(infile: str, outfile: str, ending: str | None = None) -> Outputs:
    """
    The files that two options describe.

    :param infile: a file, a URL, or a pattern of either, such as ``in/*.jsonl``; ``-``
        for the standard input.
    :param outfile: a file or a URL; for a pattern, a folder; ``-`` for the standard
        output.
    :param ending: the ending of the files in a folder: ``jsonl`` or ``parquet``.
    :raises ConfigError: if many inputs would go to one file, or two to one name.
    """
    is_pattern = has_magic(infile) and not Path(infile).exists()
    if outfile in STDOUT:
        if is_pattern or ending:
            raise ConfigError(
                f'--outfile {outfile} takes the JSON lines of one file. Give a folder '
                'for a pattern or --out-format.'
            )
        return Outputs([FilePair(locate(infile), None)], None)
    target = locate(outfile)
    assert not isinstance(target, Stdin)
    is_folder = outfile.endswith('/') or (isinstance(target, Path) and target.is_dir())
    if is_pattern and not is_folder and target.suffix:
        raise ConfigError(
            f'--infile {infile} may match many files, so --outfile must be a folder, '
            f'not {outfile}. Write {outfile.removesuffix(target.suffix)}/'
        )
    inputs = expand_pattern(infile)
    staging = None
    if isinstance(target, Remote):
        # The name depends only on the target, so that a stopped run is found again.
        key = hashlib.sha256(target.url.encode()).hexdigest()[:16]
        staging = cache_folder() / 'outputs' / key
        staging.mkdir(parents=True, exist_ok=True)
    if is_pattern or is_folder:
        folder = staging or target
        assert isinstance(folder, Path)
        names = [output_name(path.name, ending) for path in inputs]
        if twice := [name for name, count in Counter(names).items() if count > 1]:
            raise ConfigError(
                f'Two inputs of {infile} would be written to {twice[0]}. Give them '
                'different names, or process them one folder at a time.'
            )
        pairs = zip(inputs, names, strict=True)
        files = [FilePair(path, folder / name) for path, name in pairs]
        return Outputs(files, target, True, staging)
    if ending and target.suffix.lstrip('.') != ending:
        raise ConfigError(
            f'--out-format {ending} is for the files in a folder. The name of a single '
            f'file shows its format: --outfile {target.name}.{ending}'
        )
    out = staging / target.name if staging else target
    assert isinstance(out, Path)
    return Outputs([FilePair(inputs[0], out)], target, False, staging)


def check_regular(infile: Location) -> None:
    """Check that a file exists and can be read twice; otherwise raise InputError."""
    try:
        if not infile.exists():
            raise InputError(f'There is no file {infile}. Check --infile.')
        if infile.is_file():
            return
        if infile.is_dir():
            raise InputError(
                f'{infile} is a folder. Give a file or, in quotes, a pattern for many: '
                f'--infile "{infile}/*.jsonl"'
            )
    except OSError as e:
        raise InputError(f'Cannot use {infile}: {explain(e)}.') from e
    raise InputError(
        f'{infile} is not a regular file, and a run that was stopped has to read it '
        'again. Save its contents to a file, or give the standard input: --infile -'
    )


def check_manifest(path: Path) -> None:
    """Check that a file which a manifest would replace is a manifest, too."""
    if not path.exists():
        return
    try:
        is_ours = 'shards' in json.loads(path.read_text(encoding='utf-8'))
    except (OSError, ValueError, TypeError):
        is_ours = False
    if not is_ours:
        raise InputError(f'{path} is not the manifest of a run. {ANOTHER}')


def output_name(name: str, ending: str | None = None) -> str:
    """
    The name of the output of one of many files.

    >>> output_name('part-0.csv'), output_name('part-1.jsonl', 'parquet')
    ('part-0.jsonl', 'part-1.parquet')
    """
    return str(PurePosixPath(name).with_suffix(f'.{ending or "jsonl"}'))


def identify(
    infile: Location, signature: str, format: str | None, names: Mapping[str, str]
) -> JsonObject:
    """The properties that a run must share with one that it resumes."""
    return {
        'signature': signature,
        'infile': str(infile.resolve()),
        'format': format,
        **read_state(infile),
        'fields': dict(names),
    }
