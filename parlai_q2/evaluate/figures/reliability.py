"""
Draws a reliability diagram, which shows how well probabilities are calibrated.
"""

from pathlib import Path
from typing import Sequence, Union

from parlai_q2.evaluate.calibration import BINS, calibration
from parlai_q2.evaluate.figures.style import BLUE, COLUMN, GREY, drawing, save


def reliability_plot(
    probabilities: Sequence[float],
    labels: Sequence[bool],
    path: Union[str, Path],
    bins: int = BINS,
    title: str = '',
    positive: str = 'consistent',
) -> list[Path]:
    """
    Draw probabilities against outcomes, with the number of responses in each bin.

    :param probabilities: n values in [0, 1].
    :param labels: n outcomes, whether each response is positive.
    :param path: where to write, with or without a suffix; a PNG and an SVG are written.
    :param bins: number of bins, of equal width.
    :param title: printed above the figure.
    :param positive: what the axes call a positive response.
    :return: both paths.
    :raises ValueError: when a value is not a probability, or there are no values.
    :raises MissingPackageError: when matplotlib is not installed.
    """
    found = calibration(probabilities, [bool(label) for label in labels], bins)
    with drawing() as figure_of:
        figure = figure_of(figsize=(COLUMN, 3.7))
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3.2, 1))
        above.plot([0, 1], [0, 1], color=GREY, linewidth=0.8)
        held = [(b.confidence, b.share) for b in found.bins if b.share is not None]
        shares = [share for _, share in held]
        above.errorbar(
            [confidence for confidence, _ in held],
            [s.mean for s in shares],
            yerr=[[s.mean - s.low for s in shares], [s.high - s.mean for s in shares]],
            fmt='o-',
            color=BLUE,
            markersize=4,
            elinewidth=0.9,
            # So that a mark at 0 or 1 is not cut in half.
            clip_on=False,
        )
        above.set_xlim(0, 1)
        above.set_ylim(0, 1)
        above.set_ylabel(f'Share that is {positive}')
        above.text(
            0.03,
            0.97,
            f'ECE {found.error:.3f}\nBrier {found.brier:.3f}\nn = {len(labels)}',
            transform=above.transAxes,
            va='top',
            fontsize=7,
        )
        below.bar(
            [b.low for b in found.bins],
            [b.count for b in found.bins],
            width=1 / bins,
            align='edge',
            color=BLUE,
            alpha=0.5,
            edgecolor='white',
            linewidth=0.5,
        )
        below.set_ylabel('Responses')
        below.set_xlabel(f'Probability of {positive}')
        if title:
            above.set_title(title)
        return save(figure, path)
