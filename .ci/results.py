"""
Measures a release, and brings its figures into the pages.

``python .ci/results.py run --datapath data`` runs ``meta_eval`` on every annotated set,
the shortest first; a run that was stopped goes on where it was. It ends with
``python .ci/results.py refresh``, which

- writes docs/results: of each run its tables with the command and the signatures on
  top, the same as data, and README.md, which lists them;
- puts the figures into the sentences and rows that .ci/quotes.tsv lists.

``python .ci/results.py check`` says which figures on pages are not those of the runs,
or of no run yet.
"""

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path('docs/results')
QUOTES = Path('.ci/quotes.tsv')
OUTPUTS = Path('outputs/results')
# In a run's folder: the command that made it, with data for its --datapath.
COMMAND = 'command.txt'
SCORERS = (
    'grounded,grounded_fast,consistency,q2,q2_f1,nli,content_overlap,overlap,precision,'
    'rouge_l,bleu'
)
BASE = 'grounded,grounded@base,grounded_fast@base,consistency@base'
OWN_KNOWLEDGE = '--random-knowledge false'


@dataclass(frozen=True)
class Run:
    """
    One run of ``meta_eval`` on one set: ``minutes`` of one core, for the order (a base
    run costs this after the other run of its set, whose scores are kept); ``tuned`` if
    settings were chosen on it.
    """

    name: str
    task: str
    what: str
    minutes: int
    scorers: str = SCORERS
    options: str = ''
    tuned: bool = False

    def words(self, datapath: str, scorers: str = '') -> list[str]:
        """The words behind ``parlai_q2``, also with other scorers."""
        words = ['meta_eval', '--task', self.task, '--datapath', datapath]
        return [*words, '--scorers', scorers or self.scorers, *self.options.split()]


RUNS = (
    Run('q2_wow', 'q2_wow', "The Q² paper's annotated responses", 16),
    Run(
        'q2_wow_base',
        'q2_wow',
        "The Q² paper's responses, preset base",
        4,
        BASE,
        f'{OWN_KNOWLEDGE} --ablations false',
    ),
    Run('rome_expert', 'rome:expert', 'Factual Dataset-expert (Rome)', 7),
    Run(
        'rome_expert_base',
        'rome:expert',
        'Factual Dataset-expert, preset base',
        4,
        BASE,
    ),
    Run('rome_crowd', 'rome:crowd', "Rome's crowd, 36 generators", 19),
    Run('begin_wow_test', 'begin:wow:test', 'BEGIN test, wow', 27),
    Run(
        'begin_wow_test_base',
        'begin:wow:test',
        'BEGIN test, wow, preset base',
        17,
        BASE,
    ),
    Run(
        'topical_chat_usr',
        'topical_chat_usr',
        'Topical-Chat, "Uses Knowledge"',
        2,
        f'{SCORERS},meteor',
        OWN_KNOWLEDGE,
    ),
    Run('begin', 'begin', 'BEGIN dev', 13, tuned=True),
    Run('twins', 'twins', 'Twins, dev: one response right, one nearly', 3, tuned=True),
    Run('twins_test', 'twins:test', 'Twins, test', 2),
)
PLACE = re.compile(r'\{([^{}|]+)(?:\|(\w*%?\w*))?\}')
# A figure, or what is said while it is not of the release's run.
PIECE = re.compile(r'(\{[^{}]+\}|\[\[.*?\]\])')
NUMBER = r'(?:–|[-+−]?[\d,]*\.?\d+)'
BRACKETS = r'(?: \[[^\]\n]*\])?'


def refuse(problem: str) -> NoReturn:
    """End with a problem."""
    sys.exit(f'results: {problem}')


class Results:
    """What the runs in the folder of a checkout found."""

    def __init__(self, root: Path = ROOT):
        self.root = root
        self.runs: dict[str, dict[str, Any]] = {}
        for run in RUNS:
            path = root / RESULTS / f'{run.name}.json'
            if path.is_file():
                self.runs[run.name] = json.loads(path.read_text('utf-8'))

    def find(self, key: str) -> Any:
        """
        A number, or one with its interval, by ``run/table/row/column`` (a row that
        several columns identify has several words); None where it is not there.
        """
        run, table, *row, column = key.split('/')
        if run not in {one.name for one in RUNS}:
            refuse(f'{key}: there is no run {run!r}')
        rows = self.runs.get(run, {}).get('tables', {}).get(table, {})
        return rows.get('/'.join(row), {}).get(column)

    def shown(self, key: str, form: str = '') -> str | None:
        """
        A number as a page has it.

        :param form: a digit for the decimals; ``%`` for percent; ``i`` with the
            interval; ``s`` with its sign; ``n`` for a count.
        """
        found = self.find(key)
        if found is None:
            return None
        if isinstance(found, str):
            return found
        numbers = found if isinstance(found, list) else [found]
        if 'n' in form:
            return f'{round(numbers[0]):,}'
        percent = '%' in form
        digits = re.search(r'\d', form)
        decimals = int(digits[0]) if digits else 1 if percent else 3
        sign = '+' if 's' in form else ''
        scale = 100 if percent else 1
        value, *ends = (f'{scale * n:{sign}.{decimals}f}' for n in numbers)
        if 'i' not in form or not ends:
            return value
        return f'{value} [{", ".join(ends)}]'

    def quotes(self) -> Iterator[tuple[str, str]]:
        """
        The pages, each with a text that has ``{key}`` or ``{key|form}`` in it, and
        ``[[words]]`` that go when all its figures are of the runs, such as a version.
        """
        for line in (self.root / QUOTES).read_text('utf-8').splitlines():
            if line and not line.startswith('#'):
                page, _, text = line.partition('\t')
                yield page, text

    def refreshed(self, page: str, text: str) -> tuple[str, list[str]]:
        """A page's text with the figures of the runs, and the keys that no run has."""
        missing = []
        for one, quote in self.quotes():
            if one != page:
                continue
            parts = PIECE.split(quote)
            pattern = ''.join(f'({_pattern(part)})' for part in parts)
            found = list(re.finditer(pattern, text))
            if len(found) != 1:
                refuse(f'{page} has this {len(found)} times, not once: {quote}')
            (match,) = found
            values = {}
            for part in parts:
                if place := PLACE.fullmatch(part):
                    values[part] = self.shown(place[1], place[2] or '')
                    missing += [] if values[part] else [place[1]]
            new = list(match.groups())
            for number, part in enumerate(parts):
                if part.startswith('[[') and None not in values.values():
                    new[number] = ''
                new[number] = values.get(part) or new[number]
            text = text[: match.start()] + ''.join(new) + text[match.end() :]
        return text, missing

    def summary(self) -> str:
        """docs/results/README.md: what was run, and where its tables are."""
        rows = []
        for run in RUNS:
            if found := self.runs.get(run.name):
                count, version = f'{found["responses"]:,}', found['version']
                chosen = 'yes' if run.tuned else 'no'
                link = f'[{run.what}]({run.name}.txt)'
                rows.append(f'| {link} | {count} | {version} | {chosen} |')
        return '\n'.join([HEAD, *rows, ''])


HEAD = """\
# All tables, set by set

Every table that `parlai_q2 meta_eval` prints with the shipped models, one run a set,
with its command and signatures. `.json` files have the same figures. `.ci/results.py`
writes them and this page. [How to read them](../meta_eval.md#how-to-read-it).

| set | responses | version | settings were chosen on it |
|---|---|---|---|"""


def _pattern(part: str) -> str:
    """What a part of a quote looks like on a page, with any figure and line breaks."""
    if place := PLACE.fullmatch(part):
        return NUMBER + (BRACKETS if 'i' in (place[2] or '') else '')
    if part.startswith('[['):
        return f'(?:{_literal(part[2:-2])})?'
    return _literal(part)


def _literal(text: str) -> str:
    return re.sub(r'(\\ )+', r'\\s+', re.escape(text))


def slim(found: dict[str, Any], command: str) -> dict[str, Any]:
    """A run's own figures: tables by name, rows by what identifies them."""
    ((name, one),) = found['sets'].items()
    tables: dict[str, Any] = {}
    for table in one['tables']:
        rows = tables.setdefault(table['name'].removeprefix(f'{name}_'), {})
        for row in table['rows']:
            if row.pop('source') == 'here':
                # What identifies a row are its first cells, which are texts. A count
                # can be one, too: 56/8.
                cells, names = list(row.items()), []
                while cells and cells[0][0] != 'count' and isinstance(cells[0][1], str):
                    names.append(cells.pop(0)[1])
                rows['/'.join(names)] = {k: _rounded(v) for k, v in cells}
    return {
        'command': command,
        **{k: found[k] for k in ('version', 'seed', 'rounds')},
        'responses': one['responses'],
        'signatures': one['signatures'],
        'tables': tables,
    }


def lines_of(value: Any, levels: int = 3) -> str:
    """JSON with a line for each row of a table."""
    if not levels or not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    inside = (f'{json.dumps(k)}: {lines_of(v, levels - 1)}' for k, v in value.items())
    return '{\n' + ',\n'.join(inside) + '\n}'


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return [_rounded(value[k]) for k in ('value', 'low', 'high')]
    return round(value, 8) if isinstance(value, float) else value


def as_text(tables: str, found: dict[str, Any]) -> str:
    """A run's tables, with its command and signatures on top."""
    head, _, body = tables.partition('\n')
    body = body.partition('\nSignatures, ')[0].strip('\n')
    signatures = (f'  {k}\n    {v}\n' for k, v in found['signatures'].items())
    return f'{found["command"]}\n\n{head}\n\n{"".join(signatures)}\n\n{body}\n'


def refresh(outputs: Path, root: Path = ROOT) -> list[str]:
    """Bring what runs wrote into docs/results and pages; return what no run has."""
    folder = root / RESULTS
    for run in RUNS:
        made = outputs / run.name / 'meta_eval.json'
        if made.is_file():
            command = (made.parent / COMMAND).read_text('utf-8').strip()
            found = slim(json.loads(made.read_text('utf-8')), command)
            tables = made.with_suffix('.txt').read_text('utf-8')
            data = folder / f'{run.name}.json'
            data.write_text(f'{lines_of(found)}\n', 'utf-8')
            (folder / f'{run.name}.txt').write_text(as_text(tables, found), 'utf-8')
    results, missing = Results(root), []
    (folder / 'README.md').write_text(results.summary(), 'utf-8')
    for page in sorted({page for page, _ in results.quotes()}):
        path = root / page
        text, absent = results.refreshed(page, path.read_text('utf-8'))
        path.write_text(text, 'utf-8')
        missing += [f'{page}: {key}' for key in absent]
    return missing


def check(root: Path = ROOT) -> list[str]:
    """What is not as ``refresh`` would have it, and what no run has."""
    results, problems = Results(root), []
    if (root / RESULTS / 'README.md').read_text('utf-8') != results.summary():
        problems.append(f'{RESULTS}/README.md is not that of the runs.')
    for page in sorted({page for page, _ in results.quotes()}):
        before = (root / page).read_text('utf-8')
        after, absent = results.refreshed(page, before)
        if after != before:
            problems.append(f'{page} has other figures than the runs.')
        problems += [f'{page}: no run has {key}' for key in absent]
    return problems


def measure(datapath: str, only: str, scorers: str) -> None:
    """Run what ``only`` names, or all, with the runs' own scorers or others."""
    wanted = [name for name in only.split(',') if name]
    if unknown := set(wanted) - {run.name for run in RUNS}:
        refuse(f'there is no run {", ".join(unknown)}')
    for run in sorted(RUNS, key=lambda run: run.minutes):
        if not wanted or run.name in wanted:
            folder = OUTPUTS / run.name
            words = run.words(datapath, scorers)
            command = [sys.executable, '-m', 'parlai_q2', *words]
            print('$', ' '.join(command), flush=True)
            if subprocess.run([*command, '--outdir', folder], cwd=ROOT).returncode:
                refuse(f'{run.name} failed.')
            told = ' '.join(['parlai_q2', *run.words('data', scorers)])
            (ROOT / folder / COMMAND).write_text(f'{told}\n', 'utf-8')


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description='Measures a release.')
    parser.add_argument('what', choices=('run', 'refresh', 'check'))
    parser.add_argument('--datapath', default='data')
    parser.add_argument('--only', default='', help='comma-separated runs; default: all')
    parser.add_argument('--scorers', default='', help="default: the runs' own")
    opt = parser.parse_args()
    if opt.what == 'run':
        measure(opt.datapath, opt.only, opt.scorers)
    problems = check() if opt.what == 'check' else refresh(ROOT / OUTPUTS)
    print('\n'.join(problems) or 'Every figure on the pages is that of a run.')
    sys.exit(bool(problems) and opt.what == 'check')


if __name__ == '__main__':
    main()
