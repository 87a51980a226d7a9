"""
Times indexes of several sizes, and draws them:

    python -m benchmarks.index_sizes TEXT --sizes 10000,100000 --outdir FOLDER

The passages are sentences of a text, drawn at random and put together to 430
characters, so that words are as frequent as in the text. Queries are twelve words in a
row of a passage. Indexing and serving run in processes of their own.
"""

import argparse
import json
import multiprocessing
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from parlai_q2.figures.style import line_style, new_figure, panels, save
from parlai_q2.retrieve.build import build
from parlai_q2.retrieve.index import Index
from parlai_q2.text.sentences import sentences

CHARACTERS, QUERY_WORDS, QUERIES, SEED = 430, 12, 200, 0
HEIGHT = 2.2  # inches
# Of each panel of the figure: what its axis says, and the measurements drawn.
PANELS: Mapping[str, Mapping[str, str]] = {
    'seconds': {'index_s': 'indexing', 'open_s': 'opening'},
    'ms a search': {'search_ms_95': '95 % of them', 'search_ms': 'median'},
    'MB': {'disk_mb': 'disk', 'index_peak_mb': 'indexing', 'serve_peak_mb': 'search'},
}


def passages(text: list[str], size: int) -> Iterator[str]:
    """Make ``size`` passages of random sentences of a text."""
    generator = random.Random(SEED)
    for _ in range(size):
        passage = ''
        while len(passage) < CHARACTERS:
            passage = f'{passage} {generator.choice(text)}'
        yield passage[:CHARACTERS].strip()


def queries(text: list[str]) -> Iterator[str]:
    """Draw a run of words from each of the first passages."""
    generator = random.Random(SEED + 1)
    for passage in passages(text, QUERIES):
        words = passage.split()
        start = generator.randrange(max(1, len(words) - QUERY_WORDS))
        yield ' '.join(words[start : start + QUERY_WORDS])


def _time_indexing(file: str, folder: str) -> dict[str, float]:
    began, worked = time.perf_counter(), time.process_time()
    build([file], Path(folder))
    return {
        'index_s': time.perf_counter() - began,
        'index_cpu_s': time.process_time() - worked,
        'index_peak_mb': _peak_memory(),
    }


def _time_searches(folder: str, queries: list[str]) -> dict[str, float]:
    began = time.perf_counter()
    index = Index(folder)
    opened = time.perf_counter() - began
    times = []
    for query in queries:
        began = time.perf_counter()
        index.search([query], 5)
        times.append(1000 * (time.perf_counter() - began))
    times.sort()
    return {
        'open_s': opened,
        'search_ms': statistics.median(times),
        'search_ms_95': times[int(0.95 * len(times))],
        'serve_peak_mb': _peak_memory(),
        'disk_mb': sum(f.stat().st_size for f in Path(folder).rglob('*')) / 1e6,
    }


def _peak_memory() -> float:
    # Not getrusage's, which counts what the process was before it was this program.
    status = Path('/proc/self/status').read_text(encoding='ascii')
    return int(status.partition('VmHWM:')[2].split()[0]) / 1e3


def _run_apart(work: Any, *arguments: Any) -> dict[str, float]:
    with multiprocessing.get_context('spawn').Pool(1) as pool:
        return pool.apply(work, arguments)


def measure(text: list[str], size: int) -> dict[str, float]:
    """Times, in seconds and milliseconds, and sizes, in megabytes, of one index."""
    with tempfile.TemporaryDirectory() as folder:
        file, index = Path(folder, 'passages.jsonl'), str(Path(folder, 'index'))
        with open(file, 'w', encoding='utf-8') as stream:
            for passage in passages(text, size):
                stream.write(json.dumps({'text': passage}) + '\n')
        indexing = _run_apart(_time_indexing, str(file), index)
        return {
            'passages': size,
            **indexing,
            **_run_apart(_time_searches, index, [*queries(text)]),
        }


def draw_sizes(rows: Sequence[Mapping[str, float]], folder: Path) -> list[Path]:
    """Write the figure ``sizes`` as PNG and SVG, both axes logarithmic."""
    sizes = [row['passages'] for row in rows]
    with new_figure(HEIGHT) as figure:
        drawn = panels(figure, len(PANELS))
        for axes, (unit, names) in zip(drawn, PANELS.items(), strict=True):
            for n, (field, name) in enumerate(names.items()):
                values = [row[field] for row in rows]
                axes.plot(sizes, values, label=name, **line_style(n))
            axes.set(xscale='log', yscale='log', xlabel='passages', ylabel=unit)
            axes.legend()
        return save(figure, folder, 'sizes')


def main(arguments: list[str]) -> None:
    """Measure each size, and print a line of JSON for it."""
    parser = argparse.ArgumentParser(prog='python -m benchmarks.index_sizes')
    parser.add_argument('text', nargs='*', help='text files to draw sentences from')
    parser.add_argument('--sizes', default='10000,100000')
    parser.add_argument('--outdir', type=Path, help='where to draw the figure')
    parser.add_argument(
        '--measured', type=Path, help='lines that were printed before, to draw, too'
    )
    options = parser.parse_args(arguments)
    texts = []
    for name in options.text:
        text = Path(name).read_text(encoding='utf-8')
        texts += [sentence.text for sentence in sentences(text)]
    rows = []
    if options.measured:
        rows = [json.loads(line) for line in options.measured.read_text().splitlines()]
    for size in map(int, filter(None, options.sizes.split(','))):
        row = {k: round(v, 4) for k, v in measure(texts, size).items()}
        print(json.dumps(row), flush=True)
        rows.append(row)
    if options.outdir:
        options.outdir.mkdir(parents=True, exist_ok=True)
        draw_sizes(sorted(rows, key=lambda row: row['passages']), options.outdir)


if __name__ == '__main__':
    main(sys.argv[1:])
