"""
Tables of choosing among responses to one turn, and of twins; and of a set's annotations
and texts, whatever the scorers: lengths, and agreement of annotators as Fleiss' kappa
(1971; Honovich et al. 2021) and Krippendorff's alpha (2011; Santhanam et al. 2021,
Dziri et al. 2022).
"""

from collections import Counter
from collections.abc import Sequence
from itertools import chain, product
from statistics import fmean
from typing import Any

from parlai_q2.claims import Label
from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.measures import ScoreTable
from parlai_q2.evaluate.pools import HALLUCINATION, choices, group_pools
from parlai_q2.evaluate.sets import BINARY, AnnotatedResponse, by_system_and_class
from parlai_q2.evaluate.tables import Rows
from parlai_q2.intervals import mean_interval
from parlai_q2.tables import Cell, Table

# The field with each annotator's answers, by question.
ANNOTATIONS = 'annotations'

Ratings = Sequence[Sequence[float]]


def fleiss_kappa(ratings: Ratings) -> float | None:
    """
    Agreement on categories beyond chance, 1 for full agreement. None without responses,
    where their numbers of annotators differ or are below two, or where only one
    category was ever chosen.

    :param ratings: for each response, the categories that its annotators chose.
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
    Agreement beyond chance by squared differences, 1 for full agreement. None where no
    response has two ratings, or all ratings are equal.
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


ALL = 'all'
SIZES = (2, 4, 8, 16)
RANDOM, ORACLE = 'random', 'best possible'
# The field of a response that says which twin it belongs to.
TWIN = 'twin'
Twin = tuple[AnnotatedResponse, AnnotatedResponse]


def choices_table(evaluation: Evaluation) -> Table | None:
    """
    The shares of wrong choices, among all responses and among 2 to 16 of each pool.
    """
    pools = group_pools(evaluation.annotated.responses)
    corpora = sorted({pool.corpus for pool in pools if pool.corpus})
    parts: dict[tuple[str, str], tuple[list[Any], int | None]] = {}
    for corpus in corpora if len(corpora) > 1 else ():
        parts[corpus, ALL] = [p for p in pools if p.corpus == corpus], None
    name = corpora[0] if len(corpora) == 1 else ALL
    parts[name, ALL] = pools, None
    parts.update({(name, str(n)): (pools, n) for n in SIZES})
    rows = Rows(evaluation, 'choices')
    for (corpus, size), (members, n) in parts.items():
        shown: dict[str, Cell] = {}
        for measure in evaluation.measures:
            result = choices(measure, members, n, evaluation.rounds, evaluation.seed)
            if result is None:
                continue
            counted = {name: result[name] for name in ('pools', 'mixed')}
            if not shown:
                rows.ours(corpus, size, RANDOM, wrong=result['random'], **counted)
                rows.ours(corpus, size, ORACLE, wrong=result['oracle'])
                shown = counted
            rows.ours(
                corpus,
                size,
                measure.name,
                wrong=result['chosen'],
                change=result['change'],
                avoided=result['avoided'],
                # A measure that lacks scores has pools of its own.
                **({} if counted == shown else counted),
            )
    wrong = 'inconsistent; chit-chat is not wrong.'
    if any(HALLUCINATION in r.extra for r in evaluation.annotated.responses):
        wrong = (
            'one that most annotators say makes something up; only verifiable '
            'responses.'
        )
    return rows.table(wrong=wrong)


def pair_twins(responses: list[AnnotatedResponse]) -> list[Twin]:
    """Pair the right and the wrong response of each twin."""
    by_twin: dict[object, dict[str, AnnotatedResponse]] = {}
    for response in responses:
        if TWIN in response.extra:
            by_twin.setdefault(response.extra[TWIN], {})[response.label] = response
    return [
        (sides[Label.CONSISTENT], sides[Label.INCONSISTENT])
        for sides in by_twin.values()
        if set(BINARY) <= sides.keys()
    ]


def twins_table(evaluation: Evaluation) -> Table | None:
    """
    For each kind and scorer: how often the wrong response is found, the right one kept,
    and the right one scored higher.
    """
    twins = pair_twins(list(evaluation.annotated.responses))
    kinds = list(dict.fromkeys(right.corpus for right, _ in twins))
    rows = Rows(evaluation, 'twins')
    for kind in kinds + [ALL] * (len(kinds) > 1):
        members = [t for t in twins if kind in (ALL, t[0].corpus)]
        for measure in evaluation.measures:
            if cells := _twin_cells(measure, members, evaluation):
                rows.ours(kind, measure.name, **cells)
    return rows.table()


def _twin_cells(
    measure: ScoreTable, twins: list[Twin], evaluation: Evaluation
) -> dict[str, Cell]:
    twins = [t for t in twins if t[0] in measure and t[1] in measure]
    if not twins:
        return {}
    rounds, seed = evaluation.rounds, evaluation.seed
    values = [measure.values(twin).tolist() for twin in twins]

    def share(shares: list[float]) -> Cell:
        return mean_interval(shares, rounds=rounds, seed=seed)

    cells: dict[str, Cell] = {
        'twins': len(twins),
        'order': share([(r > w) + 0.5 * (r == w) for r, w in values]),
    }
    if (threshold := measure.threshold) is not None:
        cells['wrong'] = share([float(w <= threshold) for _, w in values])
        cells['kept'] = share([float(r > threshold) for r, _ in values])
    labels = [measure.score(response).label for _, response in twins]
    cells['generic'] = sum(label == Label.GENERIC for label in labels) / len(labels)
    return cells
