"""The style of the figures, and how they are written to files."""

from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator, Union

from parlai_q2.io.write import whole_file, writing
from parlai_q2.optional import import_package
from parlai_q2.records import Label

_PACKAGE = ('matplotlib', 'matplotlib', 'plots', 'A figure')

# From Okabe and Ito (2008): distinguishable with any colour vision, and in print.
BLUE, VERMILION, GREEN, ORANGE = '#0072B2', '#D55E00', '#009E73', '#E69F00'
SKY, PURPLE, BLACK = '#56B4E9', '#CC79A7', '#000000'
GREY = '#8A8A8A'
# Line styles and markers also distinguish scorers, not colour alone.
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
LINES = ('-', '--', '-.', ':', (0, (5, 1, 1, 1, 1, 1)), (0, (9, 2)))
MARKERS = ('o', 's', '^', 'D', 'v', 'P', 'X')
CLASS_COLOURS = {Label.CONSISTENT: BLUE, Label.INCONSISTENT: VERMILION}
CLASS_COLOURS[Label.GENERIC] = GREY

# In inches: the column and text widths of a two-column paper.
COLUMN, TEXT = 3.4, 7.0
DPI = 250

_STYLE = {
    'font.size': 8,
    'axes.titlesize': 8,
    'axes.labelsize': 8,
    'xtick.labelsize': 7,
    'ytick.labelsize': 7,
    'legend.fontsize': 7,
    # No frame, but a background, so that no line runs through the text.
    'legend.edgecolor': 'none',
    'legend.framealpha': 0.85,
    'legend.borderpad': 0.2,
    'legend.handlelength': 2.2,
    'axes.spines.top': False,
    'axes.spines.right': False,
    'axes.linewidth': 0.6,
    'xtick.major.width': 0.6,
    'ytick.major.width': 0.6,
    'lines.linewidth': 1.2,
    'figure.constrained_layout.use': True,
    # Keeps text as text, and makes the output reproducible byte for byte.
    'svg.fonttype': 'none',
    'svg.hashsalt': 'parlai_q2',
}


def check_matplotlib() -> None:
    """
    Check that figures can be drawn.

    :raises MissingPackageError: when matplotlib is not installed; the message has the
        command that installs it.
    """
    import_package(*_PACKAGE)


@contextmanager
def drawing() -> Iterator[Any]:
    """
    Give matplotlib's ``Figure`` class, with our figures' style in effect.

    :raises MissingPackageError: when matplotlib is not installed.
    """
    matplotlib = import_package(*_PACKAGE)
    # Without pyplot there is no window and no global state, and nothing to close.
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        yield Figure


def save(figure: Any, path: Union[str, Path]) -> list[Path]:
    """
    Write a figure as PNG and SVG, each whole or not at all.

    :param figure: a matplotlib figure.
    :param path: where to write; a suffix is replaced.
    :return: both paths.
    :raises InputError: when they cannot be written.
    """
    path = Path(path)
    if path.suffix in ('.png', '.svg'):
        path = path.with_suffix('')
    written = []
    with writing(path, 'Check --outdir.'):
        for ending in ('png', 'svg'):
            target = path.with_name(f'{path.name}.{ending}')
            stamp = {'Date': None} if ending == 'svg' else {'Software': None}
            with whole_file(target) as part:
                figure.savefig(part, format=ending, dpi=DPI, metadata=stamp)
            written.append(target)
    return written


def grid(count: int, most: int = 4) -> tuple[int, int]:
    """The rows and columns of a grid of ``count`` panels, at most ``most`` in a row."""
    rows = -(-count // most)
    return rows, -(-count // rows)
