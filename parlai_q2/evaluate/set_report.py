"""Writes the results of an evaluation: tables as text and JSON, and scores."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.tables import annotations, responses, systems
from parlai_q2.io.write import as_write_error, write_text
from parlai_q2.json_values import JsonObject
from parlai_q2.tables import Table, render_text
from parlai_q2.version import __version__

NAME = 'meta_eval'

# First in the order of the Q2 paper, then in that of BEGIN. Each builder returns None
# for a set that lacks the data it needs.
BUILDERS: tuple[Callable[[Evaluation], Table | None], ...] = (
    responses.means_table,
    responses.class_table,
    responses.likeliest_table,
    responses.ranking_table,
    responses.difference_table,
    responses.three_way_table,
    annotations.choices_table,
    annotations.twins_table,
    systems.systems_table,
    systems.ratings_table,
    systems.coverage_table,
    systems.ablations_table,
    systems.random_knowledge_table,
    systems.generators_table,
    systems.cells_table,
    systems.papers_cells_table,
    annotations.agreement_table,
    annotations.lengths_table,
    responses.system_table,
    responses.corpus_table,
    responses.f1_table,
    responses.density_table,
)


def all_tables(evaluation: Evaluation) -> list[Table]:
    """Build every table that the set has the data for."""
    built = (build(evaluation) for build in BUILDERS)
    return [table for table in built if table is not None]


class SetReport:
    """One set with its tables, all measures and their signatures."""

    def __init__(self, evaluation: Evaluation):
        self.evaluation = evaluation
        self.tables = all_tables(evaluation)
        self.measures = [*evaluation.measures, *evaluation.variants]
        self.signatures = {m.name: m.signature for m in self.measures}


def to_text(reports: Sequence[SetReport]) -> str:
    """All tables for a terminal; after each set's tables come its signatures."""
    first = reports[0].evaluation
    parts = [
        f'parlai_q2 {__version__}, seed {first.seed}, {first.rounds} rounds of each '
        'bootstrap'
    ]
    for report in reports:
        parts += [render_text(table) for table in report.tables]
        lines = [f'Signatures, {report.evaluation.annotated.title}', '']
        for name, signature in report.signatures.items():
            lines += [f'  {name}', f'    {signature}']
        parts.append('\n'.join(lines) + '\n')
    return '\n\n'.join(parts)


def to_dict(reports: Sequence[SetReport]) -> JsonObject:
    """All tables at full precision, JSON-safe."""
    first = reports[0].evaluation
    sets = {}
    for report in reports:
        annotated = report.evaluation.annotated
        sets[annotated.name] = {
            'responses': len(annotated.responses),
            'signatures': report.signatures,
            'tables': [table.to_dict() for table in report.tables],
        }
    return {
        'version': __version__,
        'seed': first.seed,
        'rounds': first.rounds,
        'sets': sets,
    }


def scores_csv(report: SetReport) -> str:
    """
    The set as csv, with a column of scores for each measure, which can be read back.
    The responses of contexts that several systems answered come last, unless they are
    in the set; the column ``use`` tells them apart.
    """
    fields = ('knowledge', 'response', 'label', 'corpus', 'system')
    lines = [_csv_line([*fields, 'use', *(m.name for m in report.measures)])]
    annotated = report.evaluation.annotated
    own_pairs = {response.pair for response in annotated.responses}
    crossed = {r.pair: r for r in annotated.crossed_responses}
    uses = {
        'set': annotated.responses,
        'system level': [r for pair, r in crossed.items() if pair not in own_pairs],
    }
    for use, members in uses.items():
        for response in members:
            scores = [
                repr(m.score(response).value) if response in m else ''
                for m in report.measures
            ]
            values = (getattr(response, name) for name in fields)
            lines.append(_csv_line([*values, use, *scores]))
    return ''.join(lines)


def _csv_line(cells: Sequence[str]) -> str:
    stream = io.StringIO()
    # Before Python 3.13 only what ends a line is quoted: here also a lone CR.
    csv.writer(stream, lineterminator='\r\n').writerow(cells)
    return stream.getvalue().removesuffix('\r\n') + '\n'


def write_set_reports(reports: Sequence[SetReport], folder: Path) -> list[Path]:
    """
    Write everything but the figures into a folder, each file completely or not at all.

    :raises InputError: when a file cannot be written.
    """
    texts = {
        f'{NAME}.txt': to_text(reports),
        f'{NAME}.json': json.dumps(to_dict(reports), indent=1, allow_nan=False) + '\n',
    }
    for report in reports:
        texts[f'scores_{report.evaluation.annotated.name}.csv'] = scores_csv(report)
    written = []
    for name, text in texts.items():
        # UTF-8 cannot encode a lone surrogate; it is written as an escape.
        text = text.encode('utf-8', 'backslashreplace').decode('utf-8')
        with as_write_error(folder / name, 'Check --outdir.'):
            write_text(folder / name, text)
        written.append(folder / name)
    return written
