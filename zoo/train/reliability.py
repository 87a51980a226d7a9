"""
Draws a reliability diagram: how far the probabilities of ``grounded`` can be trusted.

The upper panel shows, for each corpus, the share of supported responses among those
with about the same probability (Guo et al. 2017, section 2). The lower panel shows how
many there are of each class. Needs matplotlib (``pip install parlai_q2[plots]``).
"""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from parlai_q2.calibrate.logistic import even_weights, reliability

if TYPE_CHECKING:
    from parlai_q2.zoo.train.grounded import Data

SUPPORTED, NOT_SUPPORTED = '#1b7a3d', '#b3261e'  # as in the report page
MARKS = 'osD^v<>P'
BINS = 20


def draw(data: 'Data', p: np.ndarray, path: Path) -> None:
    """
    Draw the diagram.

    :param data: B examples.
    :param p: probabilities [B], from models that had not seen the examples.
    :param path: a path that ends in .svg or .png.
    """
    import matplotlib

    matplotlib.use('Agg')
    # A fixed salt, so that the same data give the same file.
    matplotlib.rcParams['svg.hashsalt'] = 'parlai_q2'
    import matplotlib.pyplot as plt

    figure, (above, below) = plt.subplots(
        2, 1, figsize=(5.2, 6), height_ratios=(3, 1), sharex=True, layout='constrained'
    )
    above.plot([0, 1], [0, 1], color='#9aa5b1', linewidth=1, linestyle='--')
    weight = even_weights(list(data.corpora), data.y)
    for n, corpus in enumerate(np.unique(data.corpora)):
        of = data.corpora == corpus
        points = reliability(p[of], data.y[of], weight[of] / weight[of].sum(), bins=5)
        above.plot(
            [mean for _, mean, _, _ in points],
            [share for _, _, share, _ in points],
            marker=MARKS[n % len(MARKS)],
            linewidth=1,
            label=str(corpus),
        )
    above.set_ylabel('share that is supported')
    above.legend(frameon=False)
    edges = np.linspace(0, 1, BINS + 1)
    for label, colour, word in ((1, SUPPORTED, ''), (0, NOT_SUPPORTED, 'not ')):
        below.hist(
            p[data.y == label],
            edges,
            weights=weight[data.y == label] / weight.sum(),
            histtype='step',
            color=colour,
            label=f'{word}supported',
        )
    below.set_xlabel('probability given (held out)')
    below.set_ylabel('weight')
    below.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={'Date': None} if path.suffix == '.svg' else None)
    plt.close(figure)
