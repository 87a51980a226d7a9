"""What an index of documents takes, over the number of its passages."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from parlai_q2.figures.style import COLOURS, LINES, MARKERS, new_figure, panels, save

HEIGHT = 2.2  # inches
# Of each panel: what its axis says, and the measurements drawn, with their names.
PANELS: Sequence[tuple[str, Mapping[str, str]]] = (
    ('seconds', {'index_s': 'indexing', 'open_s': 'opening'}),
    ('ms a search', {'search_ms_95': '95 % of them', 'search_ms': 'median'}),
    ('MB', {'disk_mb': 'disk', 'index_peak_mb': 'indexing', 'serve_peak_mb': 'search'}),
)


def draw_sizes(rows: Sequence[Mapping[str, float]], folder: Path) -> list[Path]:
    """
    Write the figure ``sizes`` as PNG and SVG, both axes logarithmic.

    :param rows: as ``benchmarks.index_sizes.measure`` gives them.
    """
    with new_figure(HEIGHT) as figure:
        drawn = panels(figure, len(PANELS))
        for axes, (unit, names) in zip(drawn, PANELS, strict=True):
            for n, (field, name) in enumerate(names.items()):
                axes.plot(
                    [row['passages'] for row in rows],
                    [row[field] for row in rows],
                    color=COLOURS[n],
                    linestyle=LINES[n],
                    marker=MARKERS[n],
                    markersize=3,
                    label=name,
                )
            axes.set(xscale='log', yscale='log', xlabel='passages', ylabel=unit)
            axes.legend()
        return save(figure, folder, 'sizes')
