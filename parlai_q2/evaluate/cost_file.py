"""
Keeps the cost of scoring in a file, so that a run that takes every score from the cache
can still report it.
"""

import json
from pathlib import Path
from typing import Mapping

from parlai_q2.evaluate.scoring import Cost
from parlai_q2.io.write import write_text


def add_costs(path: Path, costs: Mapping[str, Cost]) -> dict[str, Cost]:
    """
    Add this run's costs to those of earlier runs.

    :param path: a JSON file in an existing folder. A file that cannot be read counts as
        empty.
    :param costs: this run's costs by signature.
    :return: the total costs by signature, as the file now has them.
    """
    try:
        earlier = {k: Cost(**v) for k, v in json.loads(path.read_text()).items()}
    except (OSError, ValueError, TypeError, AttributeError):
        earlier = {}
    for signature, cost in costs.items():
        earlier[signature] = earlier.get(signature, Cost()) + cost
    kept = {k: v for k, v in earlier.items() if v.responses}
    write_text(path, json.dumps({k: vars(v) for k, v in kept.items()}, indent=1))
    return kept
