"""
Tables for a paper: LaTeX with booktabs.
"""

from parlai_q2.bootstrap import Interval
from parlai_q2.evaluate.table import PAPER, Cell, Column, Table, number, row_name

_ESCAPES = {
    '\\': r'\textbackslash{}',
    '~': r'\textasciitilde{}',
    '^': r'\textasciicircum{}',
    '<': r'\textless{}',
    '>': r'\textgreater{}',
    '|': r'\textbar{}',
    **{c: '\\' + c for c in '&%$#_{}'},
}
DASH = '--'


def escape(text: str) -> str:
    """
    Escape plain text for LaTeX.
    """
    return ''.join(_ESCAPES.get(c, c) for c in text)


def render_latex(table: Table) -> str:
    """
    Render a table as a floating ``table`` environment.

    :param table: the table. The paper's rows are set in italics.
    :return: LaTeX that needs the packages booktabs and graphicx. A table wider than the
        text is shrunk to the text's width.
    """
    align = ''.join('l' if c.repeated else 'r' for c in table.columns)
    lines = [
        r'\begin{table}',
        r'\centering',
        rf'\caption{{{escape(table.title)}}}',
        rf'\label{{tab:{table.name}}}',
        r'\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%',
        rf'\begin{{tabular}}{{@{{}}{align}@{{}}}}',
        r'\toprule',
        ' & '.join(escape(c.head) for c in table.columns) + r' \\',
        r'\midrule',
    ]
    for given in table.rows:
        row = {**given, **row_name(given, table.columns)}
        cells = [latex_cell(row.get(c.key), c) for c in table.columns]
        if row.get('source') == PAPER:
            cells = [rf'\textit{{{cell}}}' if cell else cell for cell in cells]
        lines.append(' & '.join(cells) + r' \\')
    lines += [r'\bottomrule', r'\end{tabular}}']
    for note in table.notes:
        lines.append(rf'\par\smallskip\footnotesize {escape(note)}')
    lines.append(r'\end{table}')
    return '\n'.join(lines) + '\n'


def latex_cell(cell: Cell, column: Column) -> str:
    """
    Render one cell; an interval follows its figure in smaller type.
    """
    if cell is None:
        return DASH
    if isinstance(cell, str):
        return escape(cell)
    if isinstance(cell, Interval):
        value = number(cell.mean, column)
        if not column.bounds:
            return value
        low, high = number(cell.low, column), number(cell.high, column)
        return rf'{value} {{\scriptsize [{low}, {high}]}}'
    return str(cell) if isinstance(cell, int) else number(cell, column)
