"""
The files of a run: one in and one out; or many shards in, and a folder with as many
out, beside which a manifest says what is in each. Outputs may be URLs: they are written
to a folder on this machine, where a stopped run goes on, and stored when complete.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from glob import has_magic
from pathlib import Path, PurePosixPath
from typing import Any, Optional, Union

from parlai_q2.errors import ConfigError, InputError
from parlai_q2.io.files import cache_folder, file_sha256, reason
from parlai_q2.io.locations import Location, Remote, located, matching, state_of
from parlai_q2.io.manifest import MANIFEST
from parlai_q2.io.parquet import check_pyarrow, is_parquet
from parlai_q2.io.strict_json import write_json
from parlai_q2.io.write import ANOTHER, meta_of, writable, write_text, writing
from parlai_q2.scale.file_run import FileRun, Shard


@dataclass
class Plan:
    """
    What a run reads and writes.

    :param target: the output: a file, or with ``sharded`` a folder.
    :param staging: where files are written before they are stored, if the target is a
        URL.
    """

    shards: list[Shard]
    target: Location
    sharded: bool
    staging: Optional[Path] = None
    # What is known of each shard's output, by its name.
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def summary(self) -> Path:
        """The file that says how the results were made and how many there are."""
        if self.sharded:
            folder = self.staging or self.target
            assert isinstance(folder, Path)
            return folder / MANIFEST
        return meta_of(self.shards[0].outfile)

    def size(self) -> int:
        """Bytes of all inputs that are still to be read."""
        return sum(state_of(shard.infile)['size'] for shard in self.shards)

    def skip_finished(
        self, signature: str, format: Optional[str], more: Mapping[str, Any]
    ) -> int:
        """Leave out the shards that an earlier run has finished; return how many."""
        if not self.sharded:
            return 0
        left = []
        for shard in self.shards:
            summary = _finished(shard, signature, format, more)
            if summary is None:
                left.append(shard)
            else:
                self._enter(shard, summary)
        skipped = len(self.shards) - len(left)
        self.shards = left
        return skipped

    def done(self, run: FileRun) -> None:
        """Store a finished output, if it goes elsewhere, and note what is in it."""
        if self.sharded:
            self._enter(run.shard, run.summary)
        self._store(run.shard.outfile)
        self._store(meta_of(run.shard.outfile))

    def finish(self, signature: str) -> None:
        """Write the manifest of a sharded output."""
        if not self.sharded:
            return
        entries = [self.entries[name] for name in sorted(self.entries)]
        found = {
            'signature': signature,
            'records': sum(one['records'] for one in entries),
            'bad': sum(one['bad'] for one in entries),
            'shards': entries,
        }
        place = self.summary
        with writing(place, ANOTHER):
            write_text(place, write_json(found, indent=1) + '\n')
        self._store(place)

    def _enter(self, shard: Shard, summary: Mapping[str, Any]) -> None:
        outfile = shard.outfile
        self.entries[outfile.name] = {
            'file': outfile.name,
            'infile': str(shard.infile),
            'records': summary.get('records', summary.get('pools')),
            'bad': summary['bad'],
            'bytes': outfile.stat().st_size,
            'sha256': file_sha256(outfile),
        }

    def _store(self, path: Path) -> None:
        if not isinstance(self.target, Remote):
            return
        url = self.target.url
        if self.sharded:
            url = f'{url.rstrip("/")}/{path.name}'
        elif path.name != self.target.name:
            url = f'{url.rpartition("/")[0]}/{path.name}'
        try:
            Remote(url).put(path)
        except OSError as e:
            raise InputError(
                f'Cannot write {url}: {e}. It is complete at {path}; run the same '
                'command again to store it, or copy it yourself.'
            ) from e


def planned(
    infile: Union[str, Path], outfile: Union[str, Path], ending: Optional[str] = None
) -> Plan:
    """
    The shards that two options describe.

    :param infile: a file, a URL, or a pattern of either, such as ``in/*.jsonl``.
    :param outfile: a file or a URL; for a pattern, a folder.
    :param ending: of the files in a folder: ``jsonl`` or ``parquet``.
    :raises ConfigError: if many inputs would go to one file, or two to one name.
    """
    given = str(infile)
    many = has_magic(given) and not Path(given).exists()
    target = located(str(outfile))
    folder = str(outfile).endswith('/') or isinstance(target, Path) and target.is_dir()
    if many and not folder and target.suffix:
        raise ConfigError(
            f'--infile {given} may fit many files, so --outfile must be a folder, not '
            f'{outfile}. Write {str(outfile).removesuffix(target.suffix)}/'
        )
    sharded = many or folder
    inputs = matching(given)
    staging = None
    if isinstance(target, Remote):
        # The same for the same target, so that a stopped run is found again.
        key = hashlib.sha256(target.url.encode()).hexdigest()[:16]
        staging = cache_folder() / 'outputs' / key
        staging.mkdir(parents=True, exist_ok=True)
    if not sharded:
        if ending and target.suffix.lstrip('.') != ending:
            raise ConfigError(
                f'--out-format {ending} is for the files in a folder, and a file says '
                f'its own by its name. Write --outfile {target.name}.{ending}'
            )
        out = staging / target.name if staging else target
        assert isinstance(out, Path)
        return Plan([Shard(inputs[0], out)], target, False, staging)
    base = staging or target
    assert isinstance(base, Path)
    shards = [Shard(one, base / output_name(one.name, ending)) for one in inputs]
    names = [shard.outfile.name for shard in shards]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(
                f'Two inputs of {given} would be written to {name}. Give them '
                'different names, or score them one folder at a time.'
            )
    return Plan(shards, target, True, staging)


def check_places(plan: Plan) -> None:
    """
    Check inputs and outputs before any work is done.

    :raises InputError: if an input is not there or no regular file, or an output cannot
        be written.
    """
    for shard in plan.shards:
        check_regular(shard.infile)
        if shard.outfile.suffix.lower() in ('.csv', '.tsv'):
            raise InputError(
                f'{shard.outfile}: what is written is JSON lines or Parquet. Name it '
                '.jsonl or .parquet.'
            )
        if is_parquet(shard.outfile):
            check_pyarrow(f'Writing {shard.outfile}')
        # Two inputs never have one output, so that it could only be its own.
        own = [shard.infile] if isinstance(shard.infile, Path) else []
        writable(shard.outfile, *own)


def check_regular(infile: Location) -> None:
    """Check that a file is there and can be read twice; else an InputError."""
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
        raise InputError(f'Cannot use {infile}: {reason(e)}.') from e
    raise InputError(
        f'{infile} is not a regular file. Save its contents to a file and give '
        'that as --infile: a run that was stopped has to read it again.'
    )


def output_name(name: str, ending: Optional[str] = None) -> str:
    """
    The name of a shard's output.

    >>> output_name('part-0.csv'), output_name('part-1.jsonl', 'parquet')
    ('part-0.jsonl', 'part-1.parquet')
    """
    return str(PurePosixPath(name).with_suffix(f'.{ending or "jsonl"}'))


def _finished(
    shard: Shard, signature: str, format: Optional[str], more: Mapping[str, Any]
) -> Optional[Mapping[str, Any]]:
    """The summary of a shard that an earlier run has finished; None if it has not."""
    identity = {
        'signature': signature,
        'infile': str(shard.infile.resolve()),
        'format': format,
        **state_of(shard.infile),
        **more,
    }
    try:
        summary = json.loads(meta_of(shard.outfile).read_text(encoding='utf-8'))
        same = {name: summary.get(name) for name in identity} == identity
    except (OSError, ValueError, AttributeError):
        return None
    return summary if same and shard.outfile.is_file() else None
