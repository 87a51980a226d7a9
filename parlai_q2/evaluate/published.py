"""
The papers' numbers, which are printed beside our own and never instead of them.

[Q2]     Honovich et al., EMNLP 2021, arXiv 2104.08202
[BEGIN]  Dziri et al., TACL 2022, arXiv 2105.00071

Those of Rome are in :mod:`parlai_q2.evaluate.published_rome`.

Scorers go by their names in this package: ``q2_f1`` is the paper's "Q2 w/o NLI",
``nli`` its "E2E NLI", ``content_overlap`` its "Overlap" as the released code counts it.
"""

from typing import Mapping

from parlai_q2.intervals import Interval

# [Q2] Table 2: 150 responses a row. BLEU is in [0, 100] in the paper, in [0, 1] here.
# "random" is a random sample of the system's responses, of either class.
TABLE_2_COLUMNS = tuple(
    'questions q2 q2_f1 no_answer nli content_overlap bleu bertscore'.split()
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
# [Q2] Table 3.
ACCURACY = {'q2': 0.773, 'q2_f1': 0.731, 'nli': 0.653}

# [Q2] Table 4: mean Spearman, and the 95 % interval.
TABLE_4 = {
    'q2': Interval(0.9798, 0.9, 1.0),
    'q2_f1': Interval(0.9711, 0.9, 1.0),
    'nli': Interval(0.9216, 0.6669, 1.0),
    'content_overlap': Interval(0.878, 0.5, 1.0),
    'bertscore': Interval(0.8467, 0.4, 1.0),
    'bleu': Interval(0.3051, -0.7, 1.0),
}
# [Q2] Table 7: the same for Q2 with smaller models.
TABLE_7 = {
    'q2, T5-small QG': Interval(0.9722, 0.9, 1.0),
    'q2, ALBERT-base QA': Interval(0.9797, 0.9, 1.0),
}

# [Q2] Table 5, Topical-Chat, "Uses Knowledge": Spearman and Pearson, of 260 responses;
# all p < 0.001.
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

# By setting, system and class: coverage, Q2 and Q2 without NLI.
Settings = Mapping[str, Mapping[tuple[str, str], tuple[float, ...]]]
ORIGINAL = {
    ('dodeca', 'inconsistent'): (0.9267, 0.238, 0.159),
    ('dodeca', 'consistent'): (0.94, 0.696, 0.516),
    ('memnet', 'inconsistent'): (0.9467, 0.135, 0.123),
    ('memnet', 'consistent'): (0.9267, 0.756, 0.661),
}
# [Q2] Table 8: smaller models.
TABLE_8: Settings = {
    'q2': ORIGINAL,
    'T5-small QG': {
        ('dodeca', 'inconsistent'): (0.9067, 0.198, 0.143),
        ('dodeca', 'consistent'): (0.9067, 0.601, 0.44),
        ('memnet', 'inconsistent'): (0.9, 0.104, 0.099),
        ('memnet', 'consistent'): (0.8867, 0.705, 0.613),
    },
    'ALBERT-base QA': {
        ('dodeca', 'inconsistent'): (0.92, 0.293, 0.213),
        ('dodeca', 'consistent'): (0.9267, 0.709, 0.534),
        ('memnet', 'inconsistent'): (0.94, 0.189, 0.134),
        ('memnet', 'consistent'): (0.8933, 0.791, 0.7),
    },
}
# [Q2] Table 9: ablations, each on top of the one before; without Q2 without NLI.
GREEDY = '-top-n: greedy questions'
GREEDY_PERSONAL = '-filter personal: greedy, personal questions kept'
TABLE_9: Settings = {
    'q2': ORIGINAL,
    GREEDY: {
        ('dodeca', 'inconsistent'): (0.8733, 0.265),
        ('dodeca', 'consistent'): (0.8533, 0.7),
        ('memnet', 'inconsistent'): (0.8467, 0.153),
        ('memnet', 'consistent'): (0.8533, 0.729),
    },
    GREEDY_PERSONAL: {
        ('dodeca', 'inconsistent'): (0.9267, 0.243),
        ('dodeca', 'consistent'): (0.9, 0.675),
        ('memnet', 'inconsistent'): (0.86, 0.139),
        ('memnet', 'consistent'): (0.88, 0.719),
    },
}

# [Q2] Table 10: mean score, and the share of questions without an answer.
TABLE_10 = {'same dialogue': (0.02, 0.9102), 'random dialogue': (0.0, 0.9961)}

# [Q2] Table 11: mean characters and tokens of Dodeca's responses.
TABLE_11 = {
    ('dodeca', 'inconsistent'): (70.84, 15.79),
    ('dodeca', 'consistent'): (69.49, 15.13),
    ('dodeca', 'random'): (69.44, 15.86),
}

# [Q2] Fleiss' kappa of 100 responses that were annotated twice.
KAPPA = 0.853

# [BEGIN] Table 2, all three corpora: macro precision, recall and F1, by classifier and
# training data.
BEGIN_TABLE_2: Mapping[str, Mapping[str, tuple[float, float, float]]] = {
    'T5, MNLI': {'test': (0.486, 0.479, 0.346), 'dev': (0.521, 0.507, 0.374)},
    'T5, DNLI': {'test': (0.408, 0.565, 0.256), 'dev': (0.416, 0.592, 0.286)},
    'T5, AugWoW': {'test': (0.368, 0.398, 0.378), 'dev': (0.367, 0.399, 0.381)},
    'T5, BEGIN-Adversarial': {
        'test': (0.467, 0.474, 0.459),
        'dev': (0.472, 0.471, 0.463),
    },
    'T5, BEGIN-Adversarial + MNLI': {
        'test': (0.469, 0.493, 0.453),
        'dev': (0.476, 0.494, 0.461),
    },
    'RoBERTa, MNLI': {'test': (0.505, 0.511, 0.364), 'dev': (0.523, 0.538, 0.385)},
    'RoBERTa, DNLI': {'test': (0.402, 0.466, 0.272), 'dev': (0.349, 0.461, 0.292)},
    'RoBERTa, AugWoW': {'test': (0.412, 0.392, 0.297), 'dev': (0.294, 0.414, 0.291)},
    'RoBERTa, BEGIN-Adversarial': {
        'test': (0.426, 0.461, 0.411),
        'dev': (0.492, 0.458, 0.411),
    },
    'RoBERTa, BEGIN-Adversarial + MNLI': {
        'test': (0.448, 0.459, 0.452),
        'dev': (0.449, 0.456, 0.451),
    },
}
# One number for people.
BEGIN_HUMAN = {'test': 0.964, 'dev': 0.972}
# [BEGIN] Krippendorff's alpha of its classes.
BEGIN_ALPHA = 0.7
