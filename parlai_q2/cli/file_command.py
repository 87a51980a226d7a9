"""
The common parts of the commands that process files: their options, the engine that
these select, and how it processes a file, with a log.
"""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeVar

from parlai_q2.cli import log
from parlai_q2.cli.parser import check_given
from parlai_q2.errors import ConfigError, UnscoredError
from parlai_q2.io.files import read_state
from parlai_q2.io.formats import Format
from parlai_q2.json_values import JsonMapping, JsonObject
from parlai_q2.options import OptionGroup, OptionParser, Options, Word, add_switch
from parlai_q2.runs.file_run import (
    CHUNK_RECORDS,
    Chunk,
    FileJob,
    FileRun,
    Job,
    JobEngine,
    Line,
    LocalEngine,
)
from parlai_q2.runs.outputs import STDOUT, Outputs, plan_outputs
from parlai_q2.signature import Signature, assumed

# The maximum number of empty files to name.
MAX_NAMED = 5
T = TypeVar('T')
RAY_OPTIONS = ('ray_address', 'ray_actors', 'ray_cpus', 'ray_gpus')


class EngineName(Word):
    """Where records are processed: in this process, or in actors on a Ray cluster."""

    LOCAL = 'local'
    RAY = 'ray'


def add_scale_options(parser: OptionParser, chunk_size: int) -> None:
    """Add ``--engine``, its ``--ray-…`` options and ``--chunk-size``."""
    group = parser.add_argument_group('Scoring at scale')
    group.add_argument(
        '--engine',
        choices=tuple(EngineName),
        default=str(EngineName.LOCAL),
        help='local: this process, with all cores; ray: actors on a Ray '
        'cluster (needs the extra parlai_q2[ray])',
    )
    group.add_argument(
        '--ray-address',
        help='the cluster, as host:port or auto; default: start Ray on this '
        'machine for this run',
    )
    group.add_argument(
        '--ray-actors',
        type=int,
        help='number of actors, each with a loaded scorer; default: as many as '
        'the cluster can hold at the start',
    )
    group.add_argument(
        '--ray-cpus',
        type=float,
        default=1.0,
        help='CPUs of an actor, and its number of threads',
    )
    group.add_argument(
        '--ray-gpus', type=float, default=0.0, help='GPUs of an actor, such as 1 or 0.5'
    )
    group.add_argument(
        '--chunk-size',
        type=int,
        default=chunk_size,
        help='records per call of the scorer, fewer if they are long; a killed '
        'run loses at most two calls, or with Ray four for each actor. Larger '
        'chunks use a GPU better',
    )


def add_out_format(group: OptionGroup) -> None:
    group.add_argument(
        '--out-format',
        choices=(str(Format.JSONL), str(Format.PARQUET)),
        help='the format of the files in a folder, jsonl by default; a single '
        'file has the format of its ending, such as scores.parquet',
    )


def check_scale(opt: Options, has_cache: bool = False) -> int:
    """
    Check the options for scale; return the number of records in a chunk. ``has_cache``:
    whether the scores of actors are kept in the score cache.
    """
    if opt.get('engine', EngineName.LOCAL) != EngineName.RAY:
        defaults = {'ray_cpus': 1.0, 'ray_gpus': 0.0}
        for name in RAY_OPTIONS:
            if opt.get(name) not in (None, defaults.get(name)):
                raise ConfigError(
                    f'--{name.replace("_", "-")} has no effect without --engine ray.'
                )
    elif not has_cache and (opt.get('cache') or opt.get('cache_file')):
        raise ConfigError(
            'With --engine ray there is no score cache: its file is for the processes '
            'of one machine. Leave --cache and --cache-file out.'
        )
    size = opt['chunk_size']
    if size < 1:
        raise ConfigError(f'--chunk-size must be at least 1, not {size}.')
    return int(size)


def engine_from_opt(opt: Options, job: Job) -> JobEngine:
    """Make the engine that an ``opt`` asks for, with a job."""
    if opt.get('engine', EngineName.LOCAL) == EngineName.LOCAL:
        return LocalEngine(job)

    from parlai_q2.scale.ray_engine import RayEngine, Resources

    return RayEngine(
        job,
        Resources(
            address=opt.get('ray_address'),
            actors=opt.get('ray_actors'),
            cpus=opt.get('ray_cpus', 1.0),
            gpus=opt.get('ray_gpus', 0.0),
        ),
    )


def make_later(
    make: Callable[[JsonMapping], T], opt: Options
) -> Callable[[str | None], T]:
    """
    Return a function that makes an object from options, in the process that uses it and
    for the device of that process. It can be pickled, and needs no ParlAI there.

    :param make: makes the object from the options that are plain values.
    """
    plain = {
        name: value
        for name, value in opt.items()
        if value is None or isinstance(value, (str, int, float, bool))
    }
    return partial(_make_for_device, make, plain)


def _make_for_device(
    make: Callable[[JsonMapping], T], opt: Options, device: str | None
) -> T:
    return make({**opt, 'scorer_device': device} if device else opt)


def add_file_options(group: OptionGroup, infile: str) -> None:
    """
    Add ``--infile``, whose help says what it holds, ``--outfile`` and
    ``--allow-errors``.
    """
    group.add_argument(
        '--infile',
        help=f'{infile}. A path, a URL such as s3://bucket/in.jsonl, a pattern such as '
        '"in/*.jsonl" for many files, or - for the standard input',
    )
    group.add_argument(
        '--outfile',
        help='file to write, JSON lines or Parquet by its ending; a folder for many '
        'files; or - for the standard output',
    )
    add_switch(
        group,
        '--allow-errors',
        'exit with status 0, instead of 3, if some records have an error in the output',
    )


class JobRunner:
    """
    Processes files with an engine, resumes those that a stopped run began, and logs the
    progress, with a bar.

    :param name: the scorer's name.
    :param format: of the inputs; None to take it from each file's ending.
    :param size: the most records in one call of the engine.
    :param show: called with the lines as they are written.
    """

    def __init__(
        self,
        outputs: Outputs,
        engine: JobEngine,
        job: FileJob,
        name: str,
        *,
        format: str | None = None,
        size: int = CHUNK_RECORDS,
        show: Callable[[list[Line]], None] | None = None,
    ):
        self._outputs, self._engine, self._job = outputs, engine, job
        self._name, self._format, self._size = name, format, size
        self._show = show
        self._problems = log.Problems(f'Not {job.participle}')
        # The bytes of the files before the current one, which are all read.
        self._read = 0
        self._summaries: list[JsonObject] = []
        self._complaints: list[str] = []
        # The files that were opened and are not finished, oldest first.
        self._runs: deque[FileRun] = deque()

    def process(self, allow_errors: bool = False) -> JsonObject:
        """
        Process the files.

        :return: the summary; of many files, those of the ones processed now, under
            ``shards``.
        :raises UnscoredError: if records have errors, unless they are allowed; all
            other records are written.
        :raises InputError: when an input cannot be read, has no record or changes
            during the run, or another run is writing an output.
        """
        outputs, signature = self._outputs, self._engine.signature
        if skipped := outputs.skip_finished(signature, self._format, self._job.names):
            log.info(f'{skipped} files are complete already.')
        summary_file = outputs.summary
        # The size of the standard input is not known and counts as 0.
        total = sum(read_state(pair.infile)['size'] for pair in outputs.files)
        self._progress = log.InputProgress(self._name, total or None, self._job.unit)
        with self._progress:
            self._run()
        if outputs.is_folder:
            outputs.write_manifest(signature)
            empty = _describe_empty(outputs, self._job.unit)
            log.info(f'Wrote {outputs.target}, with its manifest.{empty}')
            if not any(entry['records'] for entry in outputs.entries.values()):
                raise UnscoredError(
                    f'There are no {self._job.unit} in any of the files.'
                )
        report_signature(signature, summary_file)
        if self._complaints:
            message = '\n'.join(self._complaints)
            if not allow_errors:
                raise UnscoredError(message)
            log.warning(message)
        if outputs.is_folder:
            return {'signature': signature, 'shards': self._summaries}
        return self._summaries[0]

    def _run(self) -> None:
        """Process the files as one stream, so that the engine is always busy."""
        try:
            with closing(self._engine.run(self._read_chunks())) as results:
                for (run, chunk), lines in results:
                    if chunk:
                        self._write(run, chunk, lines)
                    else:
                        self._finish(run)
        except BaseException:
            for run in self._runs:
                run.writer.close()
            raise

    def _read_chunks(self) -> Iterator[tuple[tuple[FileRun, Chunk], Chunk]]:
        """The chunks of each file, and an empty one at its end."""
        for pair in self._outputs.files:
            run = FileRun(
                pair, self._job, self._engine.signature, self._format, self._size
            )
            self._runs.append(run)
            if run.writer.started_over:
                log.warning(
                    f'The unfinished {pair.outfile}.part was made from another input '
                    'or with other settings. Starting over.'
                )
            if run.resumed:
                log.info(
                    f'Continuing after the {run.resumed} {self._job.unit} already '
                    f'{self._job.participle}.'
                )
                self._progress.read(run.resumed, self._read + run.resumed_end)
            for chunk in chain(run.chunks, [[]]):
                yield (run, chunk), chunk

    def _write(self, run: FileRun, chunk: Chunk, lines: list[Line]) -> None:
        run.write(chunk, lines)
        for line in lines:
            if line['kind'] == 'error':
                self._problems.add(line['error'])
        if self._show:
            self._show(lines)
        self._progress.read(len(lines), self._read + chunk[-1].read)

    def _finish(self, run: FileRun) -> None:
        """Finish a file, the oldest that is open, and log its result."""
        summary = run.finish(may_be_empty=self._outputs.is_folder)
        self._runs.popleft()
        self._read += run.state['size']
        self._summaries.append(summary)
        infile, outfile = run.files
        self._outputs.complete(run.files, summary)
        place = self._outputs.url_of(outfile) if outfile else 'the standard output'
        log.info(f'Wrote {place or outfile}. {run.tally.describe()}')
        count, good = run.tally.records, run.tally.good
        unit, participle = self._job.unit, self._job.participle
        if count and not good:
            self._complaints.append(
                f'None of the {count} {unit} in {infile} could be {participle}. '
                f'{outfile or "The output"} names the error of each.'
            )
        elif good < count:
            self._complaints.append(
                f'{count - good} of the {count} {unit} in {infile} were not '
                f'{participle}. {outfile or "The output"} has the others, and the '
                'errors of these.'
            )


def run_command_on_files(
    opt: Options,
    job: FileJob,
    name: str,
    show: Callable[[list[Line]], None] | None = None,
) -> JsonObject:
    """
    Process the files that ``--infile`` and ``--outfile`` name; see :class:`JobRunner`.
    """
    for option in ('infile', 'outfile'):
        check_given(opt, option)
    if show and opt['outfile'] in STDOUT:
        raise ConfigError(
            '--show and --outfile - both write to standard output. Leave one out.'
        )
    size = check_scale(opt)
    outputs = plan_outputs(str(opt['infile']), str(opt['outfile']), opt['out_format'])
    outputs.check()
    with engine_from_opt(opt, job) as engine:
        run = JobRunner(
            outputs, engine, job, name, format=opt.get('format'), size=size, show=show
        )
        return run.process(bool(opt.get('allow_errors')))


def _describe_empty(outputs: Outputs, unit: str) -> str:
    """A sentence that names the empty files."""
    entries = outputs.entries.values()
    empty = [entry['infile'] for entry in entries if not entry['records']]
    if not empty:
        return ''
    names = ', '.join(empty[:MAX_NAMED])
    if len(empty) > MAX_NAMED:
        names += f' and {len(empty) - MAX_NAMED} others'
    return f' {len(empty)} of {len(entries)} files have no {unit}: {names}.'


def report_signature(signature: str, summary: Path | None) -> None:
    """Log the signature, and the file that has it in full, if one does."""
    parsed = Signature.from_text(signature)
    where = f', in full in {summary}' if summary else ''
    log.info(f'Signature: {parsed.short}{where}')
    log.debug(f'Signature in full: {signature}')
    prior = parsed.settings.get('prior')
    if prior and (sentence := assumed(float(prior))):
        log.info(sentence)
