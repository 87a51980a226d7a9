"""
Tables of a set's annotations and texts, whatever the scorers: lengths, and agreement of
annotators as Fleiss' kappa (1971; Honovich et al. 2021) and Krippendorff's alpha (2011;
Santhanam et al. 2021, Dziri et al. 2022).
"""

from collections import Counter
from collections.abc import Sequence
from itertools import chain, product
from statistics import fmean

from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.sets import by_system_and_class
from parlai_q2.evaluate.tables import Rows
from parlai_q2.tables import Table

# Where a response has what each annotator said, by question.
ANNOTATIONS = 'annotations'

Ratings = Sequence[Sequence[float]]


def fleiss_kappa(ratings: Ratings) -> float | None:
    """
    Agreement on categories beyond chance, 1 for full agreement.

    :param ratings: for each response, the categories that its annotators chose; all
        responses have the same number of annotators, at least two.
    :return: None without responses, where their numbers of annotators differ, or where
        only one category was ever chosen.
    """
    sizes = {len(unit) for unit in ratings}
    if len(sizes) != 1 or min(sizes) < 2:
        return None
    (size,) = sizes
    counts = [Counter(unit) for unit in ratings]
    equal_pairs = sum(n * (n - 1) for c in counts for n in c.values())
    observed = equal_pairs / (size * (size - 1) * len(counts))
    total = sum(counts, Counter())
    chance = sum((n / (size * len(counts))) ** 2 for n in total.values())
    return (observed - chance) / (1 - chance) if chance < 1 else None


def krippendorff_alpha(ratings: Ratings) -> float | None:
    """
    Agreement beyond chance by squared differences, 1 for full agreement.

    :param ratings: for each response, its ratings; a response with one is left out.
    :return: None where no response has two ratings, or all ratings are equal.
    """
    units = [unit for unit in ratings if len(unit) > 1]
    values = [*chain.from_iterable(units)]
    observed = sum(_squared_differences(unit) / (len(unit) - 1) for unit in units)
    chance = _squared_differences(values)
    if not chance:
        return None
    return 1 - observed * (len(values) - 1) / chance


def _squared_differences(values: Sequence[float]) -> float:
    """The sum of the squared differences of all ordered pairs."""
    counts = Counter(values).items()
    return sum((a - b) ** 2 * n * m for (a, n), (b, m) in product(counts, counts))


def agreement_table(evaluation: Evaluation) -> Table | None:
    """Krippendorff's alpha and Fleiss' kappa of each question."""
    annotations = [r.extra.get(ANNOTATIONS) for r in evaluation.annotated.responses]
    with_all = [g for g in annotations if isinstance(g, dict)]
    rows = Rows(evaluation, 'agreement')
    for question in sorted(set(chain.from_iterable(with_all))):
        ratings = [answers[question] for answers in with_all if question in answers]
        rows.ours(
            question,
            count=len(ratings),
            alpha=krippendorff_alpha(ratings),
            kappa=fleiss_kappa(ratings),
        )
    note = 'Alpha: interval. Kappa: categories, whatever their distance.'
    if not with_all:
        note = 'The files have no single annotations, so ours cannot be computed.'
    return rows.table(agreement=note)


def lengths_table(evaluation: Evaluation) -> Table | None:
    """Mean characters and tokens of responses (Honovich et al. 2021, Table 11)."""
    annotated, rows = evaluation.annotated, Rows(evaluation, 'table_11')
    groups = by_system_and_class(annotated, evaluation.seed)
    for (system, name), members in groups.items() if annotated.crossed else ():
        texts = [r.response for r in members]
        if texts:
            rows.ours(
                system,
                name,
                count=len(texts),
                characters=fmean(map(len, texts)),
                tokens=fmean(len(text.split()) for text in texts),
            )
    return rows.table()
