"""
Scores all texts of an evaluation, one scorer after another, and keeps count of the
cost.

Each scorer comes wrapped in its cache, so a run that was stopped resumes where it was,
and a second run scores nothing.
"""

import json
import time
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping, NamedTuple, Optional, Sequence

from parlai_q2.errors import ConfigError
from parlai_q2.evaluate.measures import Measure
from parlai_q2.evaluate.published import GREEDY, GREEDY_PERSONAL
from parlai_q2.evaluate.sets import Pair
from parlai_q2.io.write import write_text
from parlai_q2.presets import Preset, load_preset
from parlai_q2.records import Example, Score
from parlai_q2.scorers import load_scorer
from parlai_q2.scorers.base import Scorer, label_of

# Texts in one call of a scorer; a run that is stopped loses at most these.
CHUNK = 64

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Cost:
    """
    The time that scoring took, not counting scores that came from a cache.

    :param responses: how many responses were scored.
    :param seconds: how long that took, including the loading of models.
    """

    responses: int = 0
    seconds: float = 0.0

    def __add__(self, other: 'Cost') -> 'Cost':
        return Cost(self.responses + other.responses, self.seconds + other.seconds)


def score_pairs(
    name: str,
    scorer: Scorer,
    pairs: Iterable[Pair],
    progress: Optional[Progress] = None,
) -> tuple[Measure, Cost]:
    """
    Score pairs of texts, each distinct pair once.

    :param name: the name of the measure.
    :param scorer: the scorer.
    :param pairs: (knowledge, response).
    :param progress: called at the start and after each chunk, with the name, the number
        of pairs done, and their total.
    :return: the scores, and what they cost.
    :raises ConfigError: when a score is not a finite number.
    """
    distinct = list(dict.fromkeys(pairs))
    scores: dict[Pair, Score] = {}
    cost = Cost()
    if progress:
        progress(name, 0, len(distinct))
    for start in range(0, len(distinct), CHUNK):
        chunk = distinct[start : start + CHUNK]
        missed, began = getattr(scorer, 'misses', None), time.perf_counter()
        found = scorer.score([Example(*pair) for pair in chunk])
        seconds = time.perf_counter() - began
        fresh = len(chunk) if missed is None else scorer.misses - missed  # type: ignore
        if fresh:
            cost += Cost(fresh, seconds)
        for pair, score in zip(chunk, found, strict=True):
            if not isfinite(score.value):
                raise ConfigError(
                    f'The scorer {name} gave {score.value} for the response '
                    f'{pair[1][:60]!r}. A score must be a finite number.'
                )
            scores[pair] = score
        if progress:
            progress(name, len(scores), len(distinct))
    return Measure(name, str(scorer.signature), scorer.threshold, scores), cost


def without_nli(q2: Measure, name: str, scorer: Scorer) -> Measure:
    """
    Take the scores of Q2 without NLI from those of Q2, which have them as the part
    ``q2_f1``.

    Both ask the same questions and get the same answers, so the numbers are the same;
    scoring again would take as long as Q2 did.

    :param q2: a measure of Q2.
    :param name: the name of the new measure.
    :param scorer: Q2 without NLI, with the same models and settings. It is not asked to
        score, only for its signature and threshold.
    """
    signature = str(scorer.signature)
    scores = {}
    for pair, score in q2.scores.items():
        # The score of an empty response, or without knowledge, has no parts.
        value = score.parts.get('q2_f1', score.value)
        label = label_of(value, scorer.threshold) if score.parts else score.label
        if score.fallback and '|f1_fallback:nli|' in signature:
            label = score.label
        scores[pair] = Score(
            value, label, score.verdicts, score.fallback, signature=signature
        )
    return Measure(name, signature, scorer.threshold, scores)


def mean_seconds(costs: Mapping[str, Cost], names: Sequence[str]) -> dict[str, float]:
    """Mean seconds a response by name, for the scorers that scored any."""
    return {
        name: costs[name].seconds / costs[name].responses
        for name in names
        if name in costs and costs[name].responses
    }


class Variant(NamedTuple):
    """
    One setting of Q2.

    :param name: names the difference from Q2 as published.
    :param options: options of the scorer.
    :param question_generation: settings that replace those of the preset's question
        generation.
    """

    name: str
    options: dict[str, Any] = {}
    question_generation: dict[str, Any] = {}


# "-top-n" and "-filter personal" are the paper's ablations, the second on top of the
# first. Fewer beams stand in for
# the cheaper models of its Table 8, whose weights do not ship. To evaluate smaller
# models, name their preset as a scorer of its own: q2@PRESET.
VARIANTS = (
    Variant('beam 2', question_generation={'num_beams': 2, 'num_questions': 2}),
    Variant(GREEDY, {'decoding': 'greedy'}),
    Variant(GREEDY_PERSONAL, {'decoding': 'greedy', 'personal_filter': False}),
    Variant('all valid questions (multi)', {'variant': 'multi'}),
)


def load_variant(variant: Variant, preset: str, **options: Any) -> Scorer:
    """
    Build Q2 in one setting; its models are loaded when it first scores.

    :param variant: the setting.
    :param preset: the preset that it changes.
    :param options: options that every scorer takes, such as ``device``.
    """
    loaded: Preset = load_preset(preset)
    if variant.question_generation:
        generation = loaded.model('question_generation')
        settings = {**generation.settings, **variant.question_generation}
        models = {
            **loaded.models,
            'question_generation': replace(generation, settings=settings),
        }
        loaded = replace(loaded, models=models)
    return load_scorer('q2', loaded, **variant.options, **options)


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
