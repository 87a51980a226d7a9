"""Reads labelled pairs, and fits the calibration of a scorer to them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from parlai_q2.calibrate.fit import (
    Pairs,
    Target,
    bootstrap_threshold,
    fit_pairs,
    held_out,
    make_pairs,
    metrics,
)
from parlai_q2.claims import Label
from parlai_q2.decimals import percent
from parlai_q2.errors import ConfigError, RecordError
from parlai_q2.io.fields import NO_NAMES
from parlai_q2.io.files import Location
from parlai_q2.io.read import Record, read_valid
from parlai_q2.json_values import JsonObject
from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.calibrated import Calibration
from parlai_q2.scorers.grounded import FAST_FEATURES, FEATURES, GROUNDED, GROUNDED_FAST
from parlai_q2.text.class_map import UNKNOWN_LABEL, Finding, read_finding
from parlai_q2.turns import Example

if TYPE_CHECKING:
    import numpy as np

FEATURES_OF = {GROUNDED: FEATURES, GROUNDED_FAST: FAST_FEATURES}
DIGITS = 4


def read_labelled(
    path: str | Location, format: str | None = None, names: Mapping[str, str] = NO_NAMES
) -> tuple[list[Example], list[bool], int]:
    """
    Read labelled pairs; generic ones and those without a text are left out.

    :return: the examples, whether annotators found each consistent, and the number of
        examples left out as generic.
    :raises RecordError: for a record that cannot be read, or whose label is unknown.
    """
    examples, consistent, generic = [], [], 0
    for record, example in read_valid(path, format, names):
        label = read_label(record)
        if not (example.knowledge_text.strip() and example.response.strip()):
            continue
        if label is None:
            generic += 1
        else:
            examples.append(example)
            consistent.append(label)
    return examples, consistent, generic


def read_label(record: Record) -> bool | None:
    """Whether a record is labelled consistent; None for generic."""
    value = record.fields.get('label')
    if value is None or str(value).strip() == '':
        raise RecordError(
            record.source,
            record.line,
            "there is no 'label'. Name the field that has it: --fields label=NAME",
        )
    finding = read_finding(value)
    if finding is None:
        raise RecordError(record.source, record.line, UNKNOWN_LABEL.format(value))
    return None if finding == Finding.GENERIC else finding == Finding.ENTAILMENT


class Calibrated(NamedTuple):
    """
    A calibration fitted to N labelled pairs: JSON-safe values, with the ``calibration``
    that scoring reads; the labels [N]; and the values [N] before calibration, and from
    fits that leave out the pair's passage.
    """

    written: JsonObject
    consistent: 'np.ndarray'
    before: 'np.ndarray'
    held_out: 'np.ndarray'


def calibrate(
    scorer: Scorer,
    examples: Sequence[Example],
    consistent: Sequence[bool],
    target: Target,
    refit: bool = False,
    generic: int = 0,
) -> Calibrated:
    """
    Fit a scorer's prior, threshold and perhaps weights to labelled pairs. As in
    reports, a pair that the scorer calls generic or not verifiable has no verdict: it
    is left out of the fit and of all measures, and counted.

    :param consistent: whether annotators found each example consistent.
    :param generic: the number of pairs left out before, which annotators found generic.
    :param refit: whether to fit the weights of ``grounded`` or ``grounded_fast``, too.
    :raises ConfigError: if a scorer without weights is to be refitted.
    :raises InputError: if there are too few pairs of a class.
    """
    if refit and scorer.name not in FEATURES_OF:
        raise ConfigError(
            f'--refit is for {" and ".join(FEATURES_OF)}; {scorer.name} has no weights.'
        )
    features = FEATURES_OF[scorer.name] if refit else ()
    pairs = judge_pairs(scorer, examples, consistent, features)
    probabilities = scorer.prior is not None
    fitted = fit_pairs(pairs, target, probabilities)
    threshold = bootstrap_threshold(pairs, fitted, target, probabilities)
    values, called = held_out(pairs, target, probabilities)
    before = pairs.values > scorer.threshold
    share = float(pairs.consistent.mean())
    # Rounded, the threshold would miss its target where scores are close.
    calibration = Calibration(
        scorer.name,
        scorer.signature.texts(),
        threshold=fitted.threshold,
        prior=round(share, DIGITS) if probabilities else None,
        shift=fitted.shift,
        refitted=refit,
    )
    written: JsonObject = {
        'calibration': asdict(calibration),
        'target': str(target),
        'threshold_interval': [threshold.low, threshold.high],
        'pairs': {
            Label.CONSISTENT: int(pairs.consistent.sum()),
            Label.INCONSISTENT: int((~pairs.consistent).sum()),
        },
        'left_out': {
            'generic_by_people': generic,
            'no_verdict_by_scorer': len(examples) - len(pairs.values),
        },
        'held_out': rounded(metrics(values, pairs.consistent, called)),
        'before': rounded(metrics(pairs.values, pairs.consistent, before)),
    }
    if fitted.weights is not None:
        weights = dict(zip(features, fitted.weights.weights.tolist(), strict=True))
        written['preset'] = f'{scorer.settings["preset"]}, refitted'
        written[scorer.name] = {
            'weights': weights,
            'intercept': fitted.weights.intercept,
        }
    return Calibrated(written, pairs.consistent, pairs.values, values)


def judge_pairs(
    scorer: Scorer,
    examples: Sequence[Example],
    consistent: Sequence[bool],
    features: Sequence[str],
) -> Pairs:
    """The pairs on which a scorer reaches a verdict, with its scores."""
    judged = [
        (example.knowledge_text, label, score)
        for example, label, score in zip(
            examples, consistent, scorer.score(examples), strict=True
        )
        if score.verifiable
    ]
    knowledge, labels, scores = zip(*judged) if judged else ((), (), ())
    return make_pairs(scores, labels, knowledge, features)


def rounded(values: Any) -> Any:
    """Round numbers, also in lists and dicts, to :data:`DIGITS` digits."""
    if isinstance(values, dict):
        return {name: rounded(value) for name, value in values.items()}
    if isinstance(values, list):
        return [rounded(value) for value in values]
    return None if values is None else round(values, DIGITS)


def describe(written: JsonObject) -> str:
    """Format the result of :func:`calibrate` as text."""
    calibration, pairs = written['calibration'], written['pairs']
    low, high = written['threshold_interval']
    people, scorer = written['left_out'].values()
    lines = [
        f'{pairs[Label.CONSISTENT]} consistent and {pairs[Label.INCONSISTENT]} '
        f'inconsistent pairs, target {written["target"]}',
        f'left out: {people} that people call generic, {scorer} that the scorer calls '
        'generic or not verifiable',
        f'threshold {calibration["threshold"]:.3f}; 95 % of resamples put it between '
        f'{low:.3f} and {high:.3f}',
    ]
    if calibration['prior'] is not None:
        lines.append(
            f'values are probabilities if {percent(calibration["prior"])} of all '
            'responses are consistent'
        )
    for name, title in (('before', 'as it was'), ('held_out', 'held-out pairs')):
        row = written[name]
        precision = row['precision']
        lines.append(
            f'{title}: accuracy {row["accuracy"]:.3f} (always the more frequent class: '
            f'{row["majority"]:.3f}), finds {row["recall"]:.3f} of the inconsistent, '
            f'{row["false_alarms"]:.3f} false alarms, precision '
            f'{"-" if precision is None else f"{precision:.3f}"}, AUC {row["auc"]:.3f}'
        )
    return '\n'.join(lines)
