"""
What all figures share: colours, sizes, and how they are written, as PNG and as SVG that
keeps its text as text. The same numbers give the same bytes.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from parlai_q2.claims import Label
from parlai_q2.io.write import as_write_error, whole_file
from parlai_q2.packages import import_package

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# From Okabe and Ito (2008): distinguishable with any colour vision, and in print.
BLUE, VERMILION, GREEN, ORANGE = '#0072B2', '#D55E00', '#009E73', '#E69F00'
SKY, PURPLE, BLACK, GREY = '#56B4E9', '#CC79A7', '#000000', '#8A8A8A'
# Line styles and markers also distinguish scorers, not colour alone.
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
LINES = ('-', '--', '-.', ':', (0, (5, 1, 1, 1, 1, 1)), (0, (9, 2)))
MARKERS = ('o', 's', '^', 'D', 'v', 'P', 'X')
CLASS_COLOURS: Mapping[str, str] = {
    Label.CONSISTENT: BLUE,
    Label.INCONSISTENT: VERMILION,
    Label.GENERIC: GREY,
}

WIDTH = 7.0  # in inches, that of the text of a two-column paper
DPI = 250
MOST_PANELS = 4  # in a row

_STYLE = {
    'font.size': 8,
    'axes.titlesize': 8,
    'axes.labelsize': 8,
    'figure.labelsize': 8,
    'xtick.labelsize': 7,
    'ytick.labelsize': 7,
    'legend.fontsize': 7,
    'legend.edgecolor': 'none',
    'axes.spines.top': False,
    'axes.spines.right': False,
    'axes.linewidth': 0.6,
    'lines.linewidth': 1.2,
    'figure.constrained_layout.use': True,
    # Keeps text as text, and makes the output reproducible byte for byte.
    'svg.fonttype': 'none',
    'svg.hashsalt': 'parlai_q2',
}
# What would tell two runs apart, by format.
_STAMPS = {'png': 'Software', 'svg': 'Date'}


def check_matplotlib() -> ModuleType:
    """
    Return matplotlib; without it, raise a MissingPackageError that says how to install
    it.
    """
    return import_package('matplotlib', 'matplotlib', 'plots', 'A figure')


def line_style(n: int, size: float = 3) -> dict[str, Any]:
    """How the n-th line of a panel is drawn, with markers of a size."""
    return {
        'color': COLOURS[n % len(COLOURS)],
        'linestyle': LINES[n % len(LINES)],
        'marker': MARKERS[n % len(MARKERS)],
        'markersize': size,
    }


@contextmanager
def new_figure(height: float) -> Iterator['Figure']:
    """A figure of a height in inches, to draw on and save inside the context."""
    with check_matplotlib().rc_context(_STYLE):
        # Without pyplot there is no window and no global state.
        from matplotlib.figure import Figure

        yield Figure(figsize=(WIDTH, height))


def save(figure: 'Figure', folder: Path, name: str) -> list[Path]:
    """
    Write a figure as PNG and as SVG, each whole or not at all.

    :raises InputError: when they cannot be written.
    """
    written = []
    for ending, stamp in _STAMPS.items():
        path = folder / f'{name}.{ending}'
        with as_write_error(path, 'Check --outdir.'), whole_file(path) as part:
            figure.savefig(part, format=ending, dpi=DPI, metadata={stamp: None})
        written.append(path)
    return written


def data_address(path: Path) -> str:
    """The contents of an SVG file as an address that a page can hold."""
    return f'data:image/svg+xml;base64,{b64encode(path.read_bytes()).decode("ascii")}'


def panels(figure: 'Figure', count: int, **options: Any) -> list['Axes']:
    """
    Make ``count`` panels, at most :data:`MOST_PANELS` in a row, in rows of equal
    length.
    """
    rows = rows_of_panels(count)
    columns = -(-count // rows)
    all_axes = list(figure.subplots(rows, columns, squeeze=False, **options).flat)
    for axes in all_axes[count:]:
        figure.delaxes(axes)
    return all_axes[:count]


def rows_of_panels(count: int) -> int:
    """The number of rows of :func:`panels`."""
    return -(-count // MOST_PANELS)
