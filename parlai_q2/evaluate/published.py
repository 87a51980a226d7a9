"""
The papers' figures, which are printed beside our own and never instead of them.

[Q2]     Honovich et al., EMNLP 2021, arXiv 2104.08202
[BEGIN]  Dziri et al., TACL 2022, arXiv 2105.00071

Scorers go by their names in this package: ``q2_f1`` is the paper's "Q2 w/o NLI",
``nli`` its "E2E NLI", ``content_overlap`` its "Overlap" as the released code counts it.
Figures that are not here were not at hand when this was written: Table 8 has only the
range of its coverage, and Table 9 is missing.
"""

from typing import Any, Mapping, Optional

# [Q2] Table 2: 150 responses a row. BLEU is in [0, 100] in the paper, in [0, 1] here.
# "random" is a random sample of the system's responses, of either class.
TABLE_2_COLUMNS = (
    'questions',
    'q2',
    'q2_f1',
    'no_answer',
    'nli',
    'content_overlap',
    'bleu',
    'bertscore',
)
TABLE_2: dict[tuple[str, str], tuple[float, ...]] = {
    ('dodeca', 'inconsistent'): (328, 0.238, 0.159, 0.5488, 0.5, 0.299, 0.03355, 0.179),
    ('dodeca', 'consistent'): (341, 0.696, 0.516, 0.1525, 0.723, 0.426, 0.05136, 0.291),
    ('dodeca', 'random'): (258, 0.496, 0.349, 0.2984, 0.573, 0.325, 0.03788, 0.164),
    ('memnet', 'inconsistent'): (324, 0.135, 0.123, 0.6204, 0.37, 0.27, 0.0749, 0.145),
    ('memnet', 'consistent'): (352, 0.756, 0.661, 0.0994, 0.717, 0.526, 0.20145, 0.376),
    ('memnet', 'random'): (268, 0.448, 0.387, 0.3209, 0.537, 0.337, 0.11654, 0.183),
}

# [Q2] Table 3: precision, recall and F1 at 0.5 on the 600 responses.
TABLE_3: dict[tuple[str, str], tuple[float, float, float]] = {
    ('q2', 'inconsistent'): (0.73, 0.867, 0.793),
    ('q2', 'consistent'): (0.835, 0.679, 0.749),
    ('q2_f1', 'inconsistent'): (0.671, 0.91, 0.772),
    ('q2_f1', 'consistent'): (0.859, 0.552, 0.672),
    ('nli', 'inconsistent'): (0.612, 0.837, 0.707),
    ('nli', 'consistent'): (0.741, 0.468, 0.574),
}
# [Q2] Table 3 and section 5.1.
ACCURACY = {'q2': 0.773, 'q2_f1': 0.731, 'nli': 0.653}

# [Q2] Table 4: mean Spearman, and the 95 % interval where we know it.
TABLE_4: dict[str, tuple[float, Optional[float], Optional[float]]] = {
    'q2': (0.9798, 0.9, 1.0),
    'q2_f1': (0.9711, None, None),
    'nli': (0.9216, None, None),
    'content_overlap': (0.878, None, None),
    'bertscore': (0.8467, None, None),
    'bleu': (0.3051, None, None),
}

# [Q2] Table 5, Topical-Chat, "Uses Knowledge": Spearman and Pearson.
TABLE_5 = {
    'q2': (0.4579, 0.4698),
    'q2_f1': (0.3933, 0.4105),
    'usr': (0.4468, 0.3175),
    'meteor': (0.3909, 0.3328),
}
TABLE_5_RATING = 'Uses Knowledge'

# [Q2] Table 6, Dialogue NLI, Test Gold: accuracy.
TABLE_6 = {
    'q2': 0.7449,
    'nli': 0.6742,
    'InferSent SNLI': 0.4703,
    'hypothesis only': 0.5152,
}

# [Q2] Table 8: the range of coverage with smaller models that ask and answer.
TABLE_8_COVERAGE = (0.88, 0.94)

# [Q2] Table 10: mean score, and the share of questions without an answer.
TABLE_10 = {
    'same dialogue': (0.02, 0.9102),
    'random dialogue': (0.0, 0.9961),
}

# [BEGIN] macro F1 of classifiers on the test set, by their training data.
BEGIN_MACRO_F1: Mapping[str, Mapping[str, float]] = {
    'T5': {
        'MNLI': 0.346,
        'DNLI': 0.256,
        'AugWow': 0.378,
        'BEGIN-adversarial': 0.459,
        'BEGIN-adversarial + MNLI': 0.453,
    },
    'RoBERTa': {
        'MNLI': 0.364,
        'DNLI': 0.272,
        'AugWow': 0.297,
        'BEGIN-adversarial': 0.411,
        'BEGIN-adversarial + MNLI': 0.452,
    },
}


def table_2_row(system: str, responses: str) -> dict[str, Any]:
    """
    One row of Table 2 by column name; empty where the paper has no such row.
    """
    values = TABLE_2.get((system, responses), ())
    return dict(zip(TABLE_2_COLUMNS, values))
