"""
Writes what an evaluation found: tables as text, JSON and LaTeX, and the scores.
"""

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Sequence

from parlai_q2.errors import InputError
from parlai_q2.files.write import write_text
from parlai_q2.meta_eval.evaluation import Evaluation
from parlai_q2.meta_eval.latex import render_latex
from parlai_q2.meta_eval.measure import Measure
from parlai_q2.meta_eval.table import Table
from parlai_q2.meta_eval.tables import all_tables
from parlai_q2.meta_eval.text_table import render_text
from parlai_q2.version import __version__

NAME = 'meta_eval'


@dataclass(frozen=True)
class SetReport:
    """
    One set with its tables.
    """

    evaluation: Evaluation
    tables: tuple[Table, ...]

    @property
    def measures(self) -> list[Measure]:
        """
        All that was measured, Q2's other settings among it.
        """
        return [*self.evaluation.measures, *self.evaluation.variants]

    @property
    def signatures(self) -> dict[str, str]:
        """
        How to get the numbers again, by the names that tables print.
        """
        return {measure.name: measure.signature for measure in self.measures}


def set_report(evaluation: Evaluation) -> SetReport:
    """
    Make the tables of a set.
    """
    return SetReport(evaluation, tuple(all_tables(evaluation)))


def to_text(reports: Sequence[SetReport]) -> str:
    """
    All tables for a terminal, and the signatures after those of each set.
    """
    parts = [_made(reports)]
    for report in reports:
        parts += [render_text(table) for table in report.tables]
        lines = [f'Signatures, {report.evaluation.judged.title}', '']
        for name, signature in report.signatures.items():
            lines += [f'  {name}', f'    {signature}']
        parts.append('\n'.join(lines) + '\n')
    return '\n\n'.join(parts)


def to_dict(reports: Sequence[SetReport]) -> dict[str, Any]:
    """
    All tables at full precision, JSON-safe.
    """
    first = reports[0].evaluation
    return {
        'version': __version__,
        'seed': first.seed,
        'rounds': first.rounds,
        'sets': {
            report.evaluation.judged.name: {
                'responses': len(report.evaluation.judged.responses),
                'signatures': report.signatures,
                'tables': [table.to_dict() for table in report.tables],
            }
            for report in reports
        },
    }


def to_latex(reports: Sequence[SetReport]) -> str:
    """
    All tables as LaTeX, and the signatures of each set in comments.
    """
    lines = [f'% {_made(reports)}', r'% needs \usepackage{booktabs,graphicx}']
    parts = ['\n'.join(lines) + '\n']
    for report in reports:
        parts += [render_latex(table) for table in report.tables]
        signed = [f'% {name}: {text}' for name, text in report.signatures.items()]
        parts.append('\n'.join(signed) + '\n')
    return '\n'.join(parts)


def scores_csv(report: SetReport) -> str:
    """
    The set with a column of scores for each measure, as csv.

    It is read again as columns of scores made elsewhere. Responses to contexts of
    several systems that are not in the set stand at the end; ``use`` tells them apart.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator='\n')
    fields = ('knowledge', 'response', 'label', 'corpus', 'system')
    writer.writerow([*fields, 'use', *(m.name for m in report.measures)])
    judged_set = report.evaluation.judged
    own = {judged.pair for judged in judged_set.responses}
    crossed = {r.pair: r for r in judged_set.crossed_responses}
    uses = {
        'set': judged_set.responses,
        'system level': [r for pair, r in crossed.items() if pair not in own],
    }
    for use, responses in uses.items():
        for judged in responses:
            scores = [
                repr(m.score(judged).value) if judged in m else ''
                for m in report.measures
            ]
            said = (getattr(judged, name) for name in fields)
            writer.writerow([*said, use, *scores])
    return stream.getvalue()


def write_report(reports: Sequence[SetReport], folder: Path) -> list[Path]:
    """
    Write everything but the figures, each file whole or not at all.

    :param reports: at least one.
    :param folder: made if there is none.
    :return: the files.
    :raises InputError: when one cannot be written.
    """
    texts = {
        f'{NAME}.txt': to_text(reports),
        f'{NAME}.json': json.dumps(to_dict(reports), indent=1, allow_nan=False) + '\n',
        f'{NAME}.tex': to_latex(reports),
    }
    for report in reports:
        texts[f'scores_{report.evaluation.judged.name}.csv'] = scores_csv(report)
    written = []
    try:
        for name, text in texts.items():
            # A lone surrogate has no UTF-8; it is kept as an escape.
            text = text.encode('utf-8', 'backslashreplace').decode('utf-8')
            write_text(folder / name, text)
            written.append(folder / name)
    except OSError as e:
        raise InputError(
            f'Cannot write to {folder}: {e.strerror}. Check --outdir.'
        ) from e
    return written


def _made(reports: Sequence[SetReport]) -> str:
    first = reports[0].evaluation
    return (
        f'parlai_q2 {__version__}, seed {first.seed}, {first.rounds} rounds of each '
        'bootstrap'
    )
