"""Builds the papers' tables, with the published figures beside ours."""

from typing import Callable, Optional

from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.table import Table
from parlai_q2.evaluate.tables.annotations import (
    agreement_table,
    generators_table,
    lengths_table,
)
from parlai_q2.evaluate.tables.responses import (
    class_table,
    density_table,
    difference_table,
    group_table,
    means_table,
    ranking_table,
    three_way_table,
)
from parlai_q2.evaluate.tables.settings import (
    ablations_table,
    coverage_table,
    random_knowledge_table,
    ratings_table,
    systems_table,
)

# First in the order of the Q2 paper, then in that of BEGIN. Each builder returns None
# for a set that lacks the data it needs.
BUILDERS: tuple[Callable[[Evaluation], Optional[Table]], ...] = (
    means_table,
    class_table,
    ranking_table,
    difference_table,
    three_way_table,
    systems_table,
    ratings_table,
    coverage_table,
    ablations_table,
    random_knowledge_table,
    generators_table,
    agreement_table,
    lengths_table,
    lambda e: group_table(e, 'system'),
    lambda e: group_table(e, 'corpus'),
    density_table,
)


def all_tables(evaluation: Evaluation) -> list[Table]:
    """Build every table that the set has the data for."""
    built = (build(evaluation) for build in BUILDERS)
    return [table for table in built if table is not None]
