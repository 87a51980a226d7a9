"""
Measures what ``parlai_q2 score`` costs a record, in one process and with Ray: whole
commands, each in a process of its own, with the start-up apart.
"""

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from parlai_q2.bench.measuring import processor_seconds, sample
from parlai_q2.cli import log
from parlai_q2.errors import ConfigError, Q2Error
from parlai_q2.figures.style import line_style, new_figure, save
from parlai_q2.options import split_names

# Seconds between two looks at what a command has written.
EVERY = 0.005
# Seconds between two looks at the processor time that it has taken.
LOOK = 0.5
# So many chunks come before the clock starts: each process has loaded its models then.
WARM_CHUNKS = 4
LINE_END = b'\n'


def cases(actors: int, cache: Path | None, ray: bool) -> dict[str, list[str]]:
    """
    The options of the command for each way to run it: one process; Ray on ``actors``
    cores, if it is installed; and one process with a score cache, if one is given.
    """
    ways: dict[str, list[str]] = {'one process': []}
    if ray:
        options = ['--engine', 'ray', '--ray-actors', str(actors)]
        ways[f'Ray, {actors} actors'] = options
    if cache is not None:
        ways['one process, cached'] = ['--cache-file', str(cache)]
    return ways


def write_records(
    path: Path, turns: Sequence[Mapping[str, str]], records: int, distinct: int
) -> None:
    """
    Write ``records`` records, of which ``distinct`` differ, by a number in the
    response.
    """
    with open(path, 'w', encoding='utf-8') as stream:
        for record in range(records):
            number = record % distinct
            turn = turns[number % len(turns)]
            line = {
                'id': record,
                'knowledge': turn['knowledge'],
                'response': f'{turn["response"]} {number}',
            }
            stream.write(json.dumps(line) + '\n')


def measure_scale(
    options: Sequence[str], infile: Path, outfile: Path, scorer: str, chunk: int
) -> dict[str, Any]:
    """
    Score a file of :func:`write_records` by the command.

    :return: seconds until the first chunks were written (``start``) and of the whole
        command (``whole``); milliseconds a record of those after the first chunks
        (``each``), and of processor time (``processor``), which other programs disturb
        less; and the peak memory in MB of the command's process, or of a larger one
        that it waited for (``memory``).
    :raises Q2Error: if the command fails.
    """
    files = ['--infile', str(infile), '--outfile', str(outfile)]
    how = ['--measure', scorer, '--chunk-size', str(chunk), *options]
    command = [sys.executable, '-m', 'parlai_q2', 'score', *files, *how]
    part = outfile.with_name(f'{outfile.name}.part')
    outfile.unlink(missing_ok=True)
    log = outfile.with_name('log.txt')
    began = time.perf_counter()
    with open(log, 'wb') as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=subprocess.STDOUT)
    start = finished = None
    warm = 0
    # Bytes written and processor seconds taken, when the clock starts and later.
    samples: list[tuple[int, float | None]] = []
    looked = began
    while True:
        now = time.perf_counter()
        if start is None and (warm := _lines(part)) >= WARM_CHUNKS * chunk:
            start = now
        if start is not None and now - looked >= LOOK and part.exists():
            looked = now
            samples.append((_size(part), processor_seconds(process.pid)))
        if finished is None and outfile.exists():
            finished = now
        ended, status, used = os.wait4(process.pid, os.WNOHANG)
        if ended:
            break
        time.sleep(EVERY)
    whole = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode or start is None or finished is None:
        last_lines = log.read_text(encoding='utf-8', errors='replace').splitlines()[-5:]
        words = ' '.join(command)
        raise Q2Error(f'{words} failed, or was too quick:\n' + '\n'.join(last_lines))
    records = _lines(outfile)
    return {
        'records': records,
        'start': start - began,
        'each': 1000 * (finished - start) / (records - warm),
        'processor': _processor(samples, _size(outfile) / records),
        'whole': whole,
        # macOS counts in bytes, others in kilobytes.
        'memory': used.ru_maxrss / (1e6 if platform.system() == 'Darwin' else 1e3),
    }


def _processor(
    samples: Sequence[tuple[int, float | None]], bytes_each: float
) -> float | None:
    """Milliseconds of processor time a record, from the first look to the last."""
    valid = [
        (size, seconds) for size, seconds in samples if size and seconds is not None
    ]
    if len(valid) < 2 or valid[-1][0] <= valid[0][0]:
        return None
    (size, seconds), (later_size, later) = valid[0], valid[-1]
    return 1000 * (later - seconds) * bytes_each / (later_size - size)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _lines(path: Path) -> int:
    try:
        with open(path, 'rb') as stream:
            blocks: Iterable[bytes] = iter(lambda: stream.read(1 << 20), b'')
            return sum(block.count(LINE_END) for block in blocks)
    except FileNotFoundError:
        return 0


def describe_scale(scorer: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """What :func:`measure_scale` found, as a table."""
    head = ['', 'records', 'distinct', 'start-up', 'a record', 'processor']
    head += ['whole', 'peak memory']
    table = [head] + [
        [
            row['case'],
            f'{row["records"]:,}',
            f'{row["distinct"]:,}',
            f'{row["start"]:.1f} s',
            f'{row["each"]:.3f} ms',
            '' if row['processor'] is None else f'{row["processor"]:.3f} ms',
            f'{row["whole"]:.1f} s',
            f'{row["memory"]:.0f} MB',
        ]
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(*table)]
    lines = [f'score --measure {scorer}']
    for cells in table:
        first, *rest = (
            cell.ljust(width) if n == 0 else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(cells, widths))
        )
        lines.append('  '.join(['', first, *rest]))
    return '\n'.join(lines)


def run(opt: Mapping[str, Any], outfile: Path) -> list[dict[str, Any]]:
    """Time the score command on files of several lengths, and draw it."""
    scorer, chunk = opt['measure'], opt['chunk_size']
    numbers, least = split_names(opt['records']), 2 * WARM_CHUNKS * chunk
    lengths = [int(number) for number in numbers if number.isdecimal()]
    if not lengths or len(lengths) < len(numbers) or min(lengths) < least:
        raise ConfigError(
            f'--records must be whole numbers of at least {least}, not '
            f'{opt["records"]!r}: the first {WARM_CHUNKS} chunks of {chunk} are '
            'start-up. Or give less --chunk-size.'
        )
    ray = find_spec('ray') is not None
    if not ray:
        log.warning('Ray is not installed, so one process alone is measured.')
    rows: list[dict[str, Any]] = []
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        infile, cache = folder / 'in.jsonl', folder / 'scores.sqlite'
        for length in lengths:
            distinct = min(opt['distinct'] or length, length)
            write_records(infile, sample(), length, distinct)
            cached = cache if opt['distinct'] else None
            for _ in range(opt['rounds']):
                for name, how in cases(opt['ray_actors'], cached, ray).items():
                    cache.unlink(missing_ok=True)
                    scored = folder / 'out.jsonl'
                    row = measure_scale(how, infile, scored, scorer, chunk)
                    rows.append({'distinct': distinct, 'case': name, **row})
                    log.show_result(describe_scale(scorer, rows[-1:]))
    log.show_result(describe_scale(scorer, rows))
    draw(rows, outfile)
    return rows


def draw(rows: Sequence[Mapping[str, Any]], outfile: Path) -> None:
    """Draw what a record costs, beside the output, where matplotlib is installed."""
    if find_spec('matplotlib') is None:
        return
    costs: dict[str, list[tuple[int, float]]] = {}
    for key in sorted({(row['case'], row['records']) for row in rows}):
        name, records = key
        each = [r['each'] for r in rows if (r['case'], r['records']) == key]
        costs.setdefault(name, []).append((records, median(each)))
    with new_figure(2.6) as figure:
        draw_costs(figure.subplots(), costs)
        for path in save(figure, outfile.parent, f'{outfile.stem}_scale'):
            log.info(f'Wrote {path}')


def draw_costs(axes: Any, costs: Mapping[str, Sequence[tuple[int, float]]]) -> None:
    """Draw a line for each way to work: milliseconds by the number of records."""
    for n, (name, points) in enumerate(costs.items()):
        axes.plot(*zip(*points), label=name, **line_style(n, 4))
    axes.set_xscale('log')
    axes.set_ylim(bottom=0)
    axes.set_xlabel('Records')
    axes.set_ylabel('Milliseconds a record')
    axes.legend()
