"""What the commands that work off files have in common: ``score`` and ``rerank``."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Optional

from parlai_q2.cli import log
from parlai_q2.cli.files import given_file, tell_signature
from parlai_q2.cli.progress import Progress
from parlai_q2.cli.scale_options import check_scale, engine_from_opt
from parlai_q2.errors import InputError
from parlai_q2.io.chunks import CHUNK_RECORDS
from parlai_q2.scale.file_run import FileRun, Kind, Watch, run_files
from parlai_q2.scale.job import Engine, Job
from parlai_q2.scale.shards import Plan, check_places, planned

# So many empty files are named.
MOST_NAMED = 5


def run_command_on_files(
    opt: Mapping[str, Any],
    job: Job,
    kind: Kind,
    words: tuple[str, str, str],
    lines: Callable[[bytes], None] = lambda lines: None,
) -> dict[str, Any]:
    """
    Do a job with the files that ``--infile`` and ``--outfile`` name.

    :param words: for messages: the name of what scores, ``records`` or the like, and
        ``scored`` or the like.
    :param lines: is given the lines as they are written.
    :return: the summary; of many files, those of each under ``shards``.
    """
    for name in ('infile', 'outfile'):
        given_file(opt, name)
    size = check_scale(opt)
    plan = planned(opt['infile'], opt['outfile'], opt['out_format'])
    check_places(plan)
    with engine_from_opt(opt, job) as engine:
        return work_off(plan, engine, kind, words, opt.get('format'), size, lines)


def work_off(
    plan: Plan,
    engine: Engine,
    kind: Kind,
    words: tuple[str, str, str],
    format: Optional[str] = None,
    size: int = CHUNK_RECORDS,
    lines: Callable[[bytes], None] = lambda lines: None,
) -> dict[str, Any]:
    """
    Work off the files of a plan, with a progress bar; parameters as for
    :func:`run_command_on_files`.

    :raises InputError: when an input cannot be read to its end, has no good record or
        changes during the run, or another run is writing an output.
    """
    name, unit, done = words
    skipped = plan.skip_finished(engine.signature, format, kind.identity)
    if skipped:
        log.info(f'{skipped} files are complete already.')
    problems = log.Named(f'Not {done}')
    summaries: list[dict[str, Any]] = []
    complaints: list[str] = []
    total = plan.size()
    # Of the files before the current one: their bytes, all read.
    before = [0]
    progress = Progress(name, total, unit, 0, 0)

    def begun(run: FileRun) -> None:
        _tell_begun(run, unit, done)
        if run.work.records:
            progress.skip(run.work.records, run.work.read)

    def finished(run: FileRun) -> None:
        summaries.append(run.summary)
        before[0] += run.state['size']
        log.info(f'Wrote {run.shard.outfile}. {run.counts.sentence()}')
        plan.done(run)
        complaints.extend(_complaint(run, unit, done, kind.bad_is_error))

    def moved(records: int, read: int) -> None:
        progress.update(records, before[0] + read)

    watch = Watch(begun, problems.add, lines, moved, finished)
    with progress:
        run_files(plan.shards, engine, kind, format, size, watch, plan.sharded)
    plan.finish(engine.signature)
    if plan.sharded:
        log.info(f'Wrote {plan.target}, with its manifest.{_empty(plan, unit)}')
        if not any(one['records'] for one in plan.entries.values()):
            complaints.append(f'There are no {unit} in any of the files.')
    tell_signature(engine.signature, plan.summary)
    if complaints:
        raise InputError('\n'.join(complaints))
    if plan.sharded:
        return {'signature': engine.signature, 'shards': summaries}
    return summaries[0]


def _tell_begun(run: FileRun, unit: str, done: str) -> None:
    """Log what became of what a stopped run left."""
    if run.writer.started_over:
        log.warning(
            f'The unfinished {run.writer.part} was made from another input or with '
            'another scorer. Starting over.'
        )
    if run.work.records:
        log.info(f'Continuing after the {run.work.records} {unit} already {done}.')


def _complaint(run: FileRun, unit: str, done: str, bad_is_error: bool) -> Iterator[str]:
    """What is wrong with a file that was worked off, if anything."""
    infile, outfile = run.shard.infile, run.shard.outfile
    count, good = run.counts.records, run.counts.good
    if run.cut_short:
        yield f'{infile} was not read to its end: see the last line of {outfile}.'
    elif count and not good:
        yield (
            f'None of the {count} {unit} in {infile} could be {done}. {outfile} says '
            'what is wrong with each.'
        )
    elif bad_is_error and good < count:
        # The others are written; whoever goes on from here should know.
        yield (
            f'{count - good} of the {count} {unit} in {infile} were not {done}. '
            f'{outfile} has the others, and what is wrong with these.'
        )


def _empty(plan: Plan, unit: str) -> str:
    """Which files of a plan that is worked off had nothing in them, as a sentence."""
    entries = plan.entries.values()
    empty = [one['infile'] for one in entries if not one['records']]
    if not empty:
        return ''
    named = ', '.join(empty[:MOST_NAMED])
    more = f' and {len(empty) - MOST_NAMED} others' if len(empty) > MOST_NAMED else ''
    return f' {len(empty)} of {len(entries)} files have no {unit}: {named}{more}.'
