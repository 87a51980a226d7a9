"""What the commands that process files have in common: ``score`` and ``rerank``."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from parlai_q2.cli import log
from parlai_q2.cli.files import given_file, report_signature
from parlai_q2.cli.progress import Progress
from parlai_q2.cli.scale_options import check_scale, engine_from_opt
from parlai_q2.errors import ConfigError, UnscoredError
from parlai_q2.io.files import read_state
from parlai_q2.runs.file_run import FileRun, Line, Listener, Task, run_files
from parlai_q2.runs.job import CHUNK_RECORDS, Engine, Job
from parlai_q2.runs.outputs import STDOUT, Outputs, plan_outputs

# So many empty files are named.
MAX_NAMED = 5


def add_file_options(group: Any, infile: str) -> None:
    """
    Add ``--infile``, ``--outfile`` and ``--allow-errors``.

    :param infile: what the input holds, for the help.
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
    group.add_argument(
        '--allow-errors',
        nargs='?',
        type='bool',
        const=True,
        default=False,
        help='exit with status 0 even if some records have an error in the output; '
        'without it, with status 3',
    )


class Words(NamedTuple):
    """
    How messages name things.

    :param scorer: the name of the scorer.
    :param unit: ``records`` or the like.
    :param participle: ``scored`` or the like.
    """

    scorer: str
    unit: str
    participle: str


class Reporter(Listener):
    """Logs how a run proceeds, with a progress bar, and collects what went wrong."""

    def __init__(
        self, outputs: Outputs, words: Words, show: Callable[[list[Line]], None] | None
    ):
        self._outputs, self._words, self._show = outputs, words, show
        self._problems = log.Problems(f'Not {words.participle}')
        # Bytes of the files before the current one, all read.
        self._read = 0
        # The size of the standard input is not known and counts as 0.
        total = sum(read_state(pair.infile)['size'] for pair in outputs.files)
        self.progress = Progress(words.scorer, total or None, words.unit, 0, 0)
        self.summaries: list[dict[str, Any]] = []
        self.complaints: list[str] = []

    def begin(self, run: FileRun) -> None:
        """Log what became of what a stopped run left."""
        if run.writer.started_over:
            log.warning(
                f'The unfinished {run.files.outfile}.part was made from another input '
                'or with another scorer. Starting over.'
            )
        if run.resumed:
            _, unit, scored = self._words
            log.info(f'Continuing after the {run.resumed} {unit} already {scored}.')
            self.progress.skip(run.resumed, run.resumed_end)

    def write(self, run: FileRun, lines: list[Line], end: int) -> None:
        """Log the errors in lines, and how far the run is."""
        for line in lines:
            if line['kind'] == 'error':
                self._problems.add(line['error'])
        if self._show:
            self._show(lines)
        self.progress.update(len(lines), self._read + end)

    def finish(self, run: FileRun) -> None:
        """Log what came of a file."""
        self._read += run.state['size']
        self.summaries.append(run.summary)
        name = run.files.outfile or 'the standard output'
        log.info(f'Wrote {name}. {run.tally.describe()}')
        self._outputs.complete(run.files, run.summary)
        if complaint := self._describe_errors(run):
            self.complaints.append(complaint)

    def _describe_errors(self, run: FileRun) -> str:
        """What is wrong with a file that was processed; empty if nothing is."""
        infile, outfile = run.files.infile, run.files.outfile or 'The output'
        count, good = run.tally.records, run.tally.good
        _, unit, scored = self._words
        if count and not good:
            return (
                f'None of the {count} {unit} in {infile} could be {scored}. {outfile} '
                'names the error of each.'
            )
        if good < count:
            return (
                f'{count - good} of the {count} {unit} in {infile} were not {scored}. '
                f'{outfile} has the others, and the errors of these.'
            )
        return ''


def run_command_on_files(
    opt: Mapping[str, Any],
    job: Job,
    task: Task,
    words: Words,
    show: Callable[[list[Line]], None] | None = None,
) -> dict[str, Any]:
    """
    Process the files that ``--infile`` and ``--outfile`` name.

    :param show: is given the lines as they are written.
    :return: the summary; of many files, those of each under ``shards``.
    :raises UnscoredError: if records have errors, unless ``--allow-errors`` is given;
        all that could be written is.
    """
    for name in ('infile', 'outfile'):
        given_file(opt, name)
    if show and opt['outfile'] in STDOUT:
        raise ConfigError(
            '--show and --outfile - both write to standard output. Leave one out.'
        )
    size = check_scale(opt)
    outputs = plan_outputs(str(opt['infile']), str(opt['outfile']), opt['out_format'])
    outputs.check()
    with engine_from_opt(opt, job) as engine:
        return process_files(
            outputs,
            engine,
            task,
            words,
            format=opt.get('format'),
            size=size,
            show=show,
            allow_errors=bool(opt.get('allow_errors')),
        )


def process_files(
    outputs: Outputs,
    engine: Engine,
    task: Task,
    words: Words,
    *,
    format: str | None = None,
    size: int = CHUNK_RECORDS,
    show: Callable[[list[Line]], None] | None = None,
    allow_errors: bool = False,
) -> dict[str, Any]:
    """
    Process files, with a progress bar; parameters as for :func:`run_command_on_files`.

    :raises InputError: when an input cannot be read, has no record or changes during
        the run, or another run is writing an output.
    """
    skipped = outputs.skip_finished(engine.signature, format, task.identity)
    if skipped:
        log.info(f'{skipped} files are complete already.')
    summary_file = outputs.summary
    reporter = Reporter(outputs, words, show)
    with reporter.progress:
        run_files(
            outputs.files,
            engine,
            task,
            format,
            size,
            listener=reporter,
            may_be_empty=outputs.is_folder,
        )
    if outputs.is_folder:
        outputs.write_manifest(engine.signature)
        empty = _describe_empty(outputs, words.unit)
        log.info(f'Wrote {outputs.target}, with its manifest.{empty}')
        if not any(entry['records'] for entry in outputs.entries.values()):
            raise UnscoredError(f'There are no {words.unit} in any of the files.')
    report_signature(engine.signature, summary_file)
    if reporter.complaints:
        message = '\n'.join(reporter.complaints)
        if not allow_errors:
            raise UnscoredError(message)
        log.warning(message)
    if outputs.is_folder:
        return {'signature': engine.signature, 'shards': reporter.summaries}
    return reporter.summaries[0]


def _describe_empty(outputs: Outputs, unit: str) -> str:
    """Which files had nothing in them, as a sentence."""
    entries = outputs.entries.values()
    empty = [entry['infile'] for entry in entries if not entry['records']]
    if not empty:
        return ''
    names = ', '.join(empty[:MAX_NAMED])
    if len(empty) > MAX_NAMED:
        names += f' and {len(empty) - MAX_NAMED} others'
    return f' {len(empty)} of {len(entries)} files have no {unit}: {names}.'
