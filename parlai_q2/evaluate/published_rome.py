"""
The tables of "Rome was built in 1776" (Santhanam et al. 2021, arXiv 2110.05456), which
are printed beside our own and never instead of them.
"""

from typing import NamedTuple

# Knowledge, decoding and size of GPT-2.
Cell = tuple[str, str, str]
KNOWLEDGE = ('gt', 'knn', 'dpr')
DECODINGS = ('beam', 'nucleus', 'delayed')
SIZES = ('small', 'medium', 'large', 'xlarge')


class Generator(NamedTuple):
    """
    What the crowd said of one generator (Tables 2 and 7).

    :param factual: mean factual correctness, in [0, 1].
    :param hallucination: the share of responses that make something up.
    :param appropriateness: mean appropriateness, from 1 to 5.
    :param responses: how many responses are verifiable.
    """

    factual: float
    hallucination: float
    appropriateness: float
    responses: int


# The tables of F1 by detector. Table 6 is of the detector of Table 4.
DETECTOR_TABLES = (4, 6, 8, 9, 10, 11, 12)

# One generator a line: Table 2 (factual correctness, hallucination in percent,
# appropriateness), Table 7 (responses), and the F1, in percent, of consistent and of
# inconsistent responses in each of DETECTOR_TABLES.
_TEXT = """
gt beam small 0.78 17.2 3.9 64 86.7/0.0 87/0 61/37 71/42 72/43 60/33 67/26
gt beam medium 0.80 18.4 3.7 65 87.0/0.0 87/0 64/41 64/28 58/32 62/37 73/19
gt beam large 0.82 19.1 4.1 73 86.6/10.5 87/11 71/44 75/41 65/35 69/43 85/48
gt beam xlarge 0.84 8.0 3.8 62 91.2/0.0 91/0 55/18 72/29 65/21 54/22 70/18
gt nucleus small 0.80 19.0 3.8 58 87.1/13.3 87/13 68/47 74/47 82/55 75/51 75/21
gt nucleus medium 0.84 11.6 4.0 69 90.3/14.3 90/14 65/30 77/41 70/36 69/36 85/26
gt nucleus large 0.88 8.5 4.0 70 93.1/0.0 93/0 58/27 71/29 71/21 56/24 78/25
gt nucleus xlarge 0.88 3.2 3.9 61 97.5/0.0 97/0 72/13 76/15 74/7 70/13 83/0
gt delayed small 0.81 22.2 3.8 63 87.9/31.6 88/32 63/38 69/44 70/48 67/46 69/31
gt delayed medium 0.82 13.8 4.0 65 89.9/0.0 90/0 64/35 67/29 56/25 58/26 75/14
gt delayed large 0.81 11.7 4.1 68 93.3/50.0 93/50 67/35 75/40 68/36 67/38 83/40
gt delayed xlarge 0.83 8.0 3.8 62 93.8/36.4 94/36 59/19 70/28 68/22 55/18 66/17
knn beam small 0.72 25.4 3.6 55 80.5/26.1 80/26 61/55 59/54 66/52 67/55 68/48
knn beam medium 0.74 21.7 3.5 46 82.7/23.5 83/24 31/34 43/29 44/33 43/29 62/14
knn beam large 0.72 28.0 3.6 50 80.0/20.0 80/20 55/53 53/55 54/50 48/48 67/26
knn beam xlarge 0.77 22.7 3.7 44 78.9/11.8 79/12 42/30 48/43 57/46 47/39 73/18
knn nucleus small 0.70 32.5 3.4 44 81.9/40.0 82/40 42/54 46/55 75/68 57/59 62/21
knn nucleus medium 0.83 16.0 3.6 50 87.1/26.7 87/27 61/44 62/33 73/47 63/45 79/33
knn nucleus large 0.74 17.5 3.8 57 87.2/40.0 87/40 63/47 51/55 63/47 67/49 74/27
knn nucleus xlarge 0.75 28.0 3.7 57 78.2/29.6 83/43 60/60 67/59 71/61 68/62 72/30
knn delayed small 0.71 21.4 3.5 51 82.4/11.8 82/12 50/39 61/47 63/48 51/43 67/30
knn delayed medium 0.69 20.0 3.7 50 86.8/35.3 87/35 42/34 59/36 62/41 54/34 69/21
knn delayed large 0.70 28.3 3.6 53 76.5/24.0 77/24 57/57 57/47 67/65 58/59 71/44
knn delayed xlarge 0.70 22.0 3.8 50 83.1/43.5 78/30 47/45 54/50 57/51 51/49 60/18
dpr beam small 0.65 30.5 3.1 36 72.0/36.4 72/36 34/56 34/56 32/49 39/54 70/55
dpr beam medium 0.64 26.8 3.5 41 71.2/26.1 71/26 46/60 51/56 62/65 54/62 71/52
dpr beam large 0.69 30.7 3.4 39 81.4/42.1 81/42 44/61 50/57 54/59 38/57 56/46
dpr beam xlarge 0.62 35.1 3.4 37 78.4/52.2 78/52 21/52 28/53 39/56 44/57 45/35
dpr nucleus small 0.61 43.2 3.1 37 66.7/26.1 67/26 38/67 50/43 29/57 37/64 71/55
dpr nucleus medium 0.65 30.2 3.4 43 78.8/30.0 79/30 49/53 41/62 57/43 49/53 72/32
dpr nucleus large 0.70 24.4 3.5 45 80.6/22.2 81/22 44/44 50/43 46/38 40/40 69/34
dpr nucleus xlarge 0.67 27.0 3.4 52 84.6/53.9 85/54 39/52 52/56 56/52 43/53 76/48
dpr delayed small 0.59 39.0 3.2 36 69.4/34.8 69/35 30/58 25/62 37/62 30/58 50/50
dpr delayed medium 0.62 35.6 3.5 39 67.9/32.0 68/32 45/64 35/50 54/59 55/67 64/45
dpr delayed large 0.70 24.4 3.4 45 82.9/40.0 83/40 36/39 39/36 43/37 43/41 48/22
dpr delayed xlarge 0.71 18.2 3.3 33 76.0/25.0 76/52 39/46 42/42 47/44 42/42 60/26
"""


def _read(line: str) -> tuple[Cell, Generator, dict[int, tuple[float, float]]]:
    knowledge, decoding, size, factual, made_up, appropriate, count, *f1 = line.split()
    generator = Generator(
        float(factual), float(made_up) / 100, float(appropriate), int(count)
    )
    by_table = {}
    for table, pair in zip(DETECTOR_TABLES, f1, strict=True):
        consistent, inconsistent = (float(value) / 100 for value in pair.split('/'))
        by_table[table] = consistent, inconsistent
    return (knowledge, decoding, size), generator, by_table


_CELLS = [_read(line) for line in _TEXT.strip().splitlines()]
# Tables 2 and 7.
GENERATORS: dict[Cell, Generator] = {cell: one for cell, one, _ in _CELLS}
# F1 of consistent and of inconsistent responses, by table and cell.
DETECTORS: dict[int, dict[Cell, tuple[float, float]]] = {
    table: {cell: f1[table] for cell, _, f1 in _CELLS} for table in DETECTOR_TABLES
}

# Table 5, Factual Dataset-expert: precision, recall and F1 by detector and class; F1
# alone of two detectors.
Measured = dict[str, float]
EXPERT: dict[str, dict[str, Measured]] = {
    'BERT, FEVER + Conv-FEVER': {
        'consistent': {'precision': 0.787, 'recall': 0.998, 'f1': 0.88},
        'inconsistent': {'precision': 0.857, 'recall': 0.046, 'f1': 0.088},
    },
    'FactCC': {
        'consistent': {'precision': 0.813, 'recall': 0.73, 'f1': 0.77},
        'inconsistent': {'precision': 0.301, 'recall': 0.411, 'f1': 0.347},
    },
    'ALBERT, VitaminC': {
        'consistent': {'precision': 0.935, 'recall': 0.507, 'f1': 0.658},
        'inconsistent': {'precision': 0.335, 'recall': 0.876, 'f1': 0.485},
    },
    'ALBERT, VitaminC + FEVER': {
        'consistent': {'f1': 0.678},
        'inconsistent': {'f1': 0.488},
    },
    'ALBERT, MNLI': {
        'consistent': {'precision': 0.956, 'recall': 0.431, 'f1': 0.594},
        'inconsistent': {'precision': 0.316, 'recall': 0.93, 'f1': 0.472},
    },
    'ALBERT, MNLI + VitaminC': {
        'consistent': {'f1': 0.638},
        'inconsistent': {'f1': 0.475},
    },
}
# The share of not-enough-info of the NLI models.
NOT_ENOUGH_INFO = 0.58

# Krippendorff's alpha of its two questions.
AGREEMENT = {'crowd': (0.15, 0.21), 'expert': (0.8, 0.86)}
