"""
Splits responses into three groups by how much of the knowledge they copy.

As in Grusky et al. 2018, section 4.3, the thirds of a set by density are its
abstractive, mixed and extractive parts.
"""

from typing import Sequence

from parlai_q2.evaluate.judged import Judged
from parlai_q2.text.density import extractiveness

GROUPS = ('low', 'medium', 'high')


def density_groups(
    responses: Sequence[Judged],
) -> tuple[dict[str, list[Judged]], tuple[float, float]]:
    """
    Split a set at the terciles of its density.

    :param responses: the responses of all classes; may be empty.
    :return: the responses by group, and the two densities at which the groups are cut.
        A density equal to a cut belongs to the group below it. Responses of equal
        density stay together, so the groups may differ in size.
    """
    import numpy as np

    if not responses:
        return {group: [] for group in GROUPS}, (0.0, 0.0)
    densities = [extractiveness(r.knowledge, r.response).density for r in responses]
    low, high = (float(q) for q in np.quantile(densities, [1 / 3, 2 / 3]))
    groups: dict[str, list[Judged]] = {group: [] for group in GROUPS}
    for response, density in zip(responses, densities, strict=True):
        group = 0 if density <= low else 1 if density <= high else 2
        groups[GROUPS[group]].append(response)
    return groups, (low, high)
