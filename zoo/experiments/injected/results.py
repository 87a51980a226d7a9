"""
Computes the experiment's figures, with 95 % bootstrap intervals over the held-out
contexts.

For each context, the mean over the seeds counts. Conditions are compared context by
context.
"""

from pathlib import Path
from typing import Any, Mapping, NamedTuple, Optional, Sequence

import numpy as np

from parlai_q2.bootstrap import Interval, intervals, mean_interval, ratio
from parlai_q2.zoo.experiments.injected.files import Fields, read_turns
from parlai_q2.zoo.experiments.injected.filter_quality import (
    Quality,
    dropped,
    quality,
)
from parlai_q2.zoo.experiments.injected.measure import (
    MADE_UP,
    measure,
    measures,
    open_scorer,
)
from parlai_q2.zoo.experiments.injected.runs import WAYS, read_run
from parlai_q2.zoo.experiments.injected.sets import HELD_OUT, SCORES, path_of
from parlai_q2.zoo.experiments.injected.settings import (
    CLEAN,
    UNFILTERED,
    Settings,
)

# An array over contexts for each condition, way of decoding and measure.
Values = Mapping[tuple[str, str, str], np.ndarray]


class Results(NamedTuple):
    """
    Everything that is reported.

    :param filters: the quality of each scorer as a filter, over the first
        ``compared_turns``.
    :param trained_on: the number of turns in each condition.
    :param means: the mean for each condition, way of decoding and measure.
    :param gains: the same minus that of ``unfiltered``, which has none itself.
    :param closed: for each condition and way of decoding, the share of the way from
        ``unfiltered`` to ``clean`` in what is made up; None where ``clean`` is not
        better.
    :param by_seed: the mean of what is made up for each condition, way and seed.
    :param examples: replies to the same contexts, sampled, with the first seed.
    """

    filters: dict[str, Quality]
    trained_on: dict[str, int]
    means: dict[tuple[str, str, str], Interval]
    gains: dict[tuple[str, str, str], Interval]
    closed: dict[tuple[str, str], Optional[Interval]]
    by_seed: dict[tuple[str, str, int], float]
    examples: list[dict[str, Any]]


def results(folder: Path, settings: Settings) -> Results:
    """
    Measure the sets and runs in a folder.

    :param folder: a folder with all sets and runs.
    """
    scores = folder / SCORES
    training = list(read_turns(path_of(folder, UNFILTERED)))[: settings.compared_turns]
    filters = {
        name: quality(
            training, dropped(training, open_scorer(name, scores)), settings.rounds
        )
        for name in settings.compared
    }
    judges = {name: open_scorer(name, scores) for name in settings.judges}
    contexts = list(read_turns(path_of(folder, HELD_OUT)))[: settings.contexts]
    trained_on: dict[str, int] = {}
    values: dict[tuple[str, str, str], np.ndarray] = {}
    by_seed: dict[tuple[str, str, int], float] = {}
    replies: dict[str, list[str]] = {}
    for condition in settings.conditions:
        runs = [read_run(folder, condition, seed) for seed in settings.seeds]
        trained_on[condition] = runs[0]['turns']
        replies[condition] = _said(runs[0], 'sampled', settings)
        for way in WAYS:
            found = [
                measure(contexts, _said(run, way, settings), judges) for run in runs
            ]
            for one in measures(settings.judges):
                table = np.array([[c[one.name] for c in of_run] for of_run in found])
                values[condition, way, one.name] = table.mean(axis=0)
                if one == MADE_UP:
                    for seed, mean in zip(settings.seeds, table.mean(axis=1)):
                        by_seed[condition, way, seed] = float(mean)
    return Results(
        filters,
        trained_on,
        {key: mean_interval(v, settings.rounds) for key, v in values.items()},
        gains(values, settings.rounds),
        closed(values, settings.conditions, settings.rounds),
        by_seed,
        _examples(contexts, replies),
    )


def gains(values: Values, rounds: int) -> dict[tuple[str, str, str], Interval]:
    """
    How much each condition differs from ``unfiltered``, context by context.
    """
    return {
        (condition, way, name): mean_interval(
            found - values[UNFILTERED, way, name], rounds
        )
        for (condition, way, name), found in values.items()
        if condition != UNFILTERED
    }


def closed(
    values: Values, conditions: Sequence[str], rounds: int
) -> dict[tuple[str, str], Optional[Interval]]:
    """
    How much of the way from ``unfiltered`` to ``clean`` each condition covers.

    :return: 1 for all of it; empty where ``clean`` is not among the conditions.
    """
    found: dict[tuple[str, str], Optional[Interval]] = {}
    if CLEAN not in conditions:
        return found
    between = [c for c in conditions if c not in (UNFILTERED, CLEAN)]
    for way in WAYS:
        worst, best = (values[c, way, MADE_UP.name] for c in (UNFILTERED, CLEAN))
        gone = np.stack([worst - values[c, way, MADE_UP.name] for c in between], 1)

        def statistic(weights: np.ndarray) -> np.ndarray:
            whole = weights @ (worst - best)  # noqa: B023
            parts = weights @ gone  # noqa: B023
            # If clean is not better in a resample, there is no way to cover.
            whole = np.where(whole > 0, whole, 0.0)[:, None].repeat(parts.shape[1], 1)
            return ratio(parts, whole, np.nan)

        for condition, interval in zip(
            between, intervals(statistic, len(worst), rounds)
        ):
            found[condition, way] = interval
    return found


def _said(run: Mapping[str, Any], way: str, settings: Settings) -> list[str]:
    return [reply[way] for reply in run['replies'][: settings.contexts]]


def _examples(
    contexts: Sequence[Fields], replies: Mapping[str, Sequence[str]]
) -> list[dict[str, Any]]:
    return [
        {
            'text': context['text'],
            'knowledge': context['knowledge'],
            'gold': context['reply'],
            **{condition: found[n] for condition, found in replies.items()},
        }
        for n, context in enumerate(contexts)
    ]
