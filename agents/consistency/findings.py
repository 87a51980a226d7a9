"""
Turns a score into probabilities of a task's classes, and chooses a class from them.
"""

from typing import Optional, Sequence

from parlai_q2.class_map import ClassMap
from parlai_q2.records import UNVERIFIABLE, Score
from parlai_q2.text.class_names import CONTRADICTION, ENTAILMENT, FINDINGS, GENERIC


def has_findings(score: Score) -> bool:
    """
    Whether a score carries the probability of each finding, as the detector's does.
    """
    return all(finding in score.parts for finding in FINDINGS)


def finding_probabilities(score: Score, classes: ClassMap) -> list[float]:
    """
    The probabilities of the findings.

    A scorer that gives a single number gives that number to "entailment" and the rest
    to "contradiction". Where it says that there is nothing to verify and the task has a
    class for that, "generic" gets everything.

    :param score: the score.
    :param classes: the task's classes, mapped from
        :data:`~parlai_q2.text.class_names.FINDINGS`.
    :return: one probability for each of ``FINDINGS``, in their order, summing to 1.
    """
    if has_findings(score):
        return [score.parts[finding] for finding in FINDINGS]
    said = {ENTAILMENT: score.value, CONTRADICTION: 1 - score.value}
    if score.label in UNVERIFIABLE and place_of(GENERIC, classes) is not None:
        said = {GENERIC: 1.0}
    return [said.get(finding, 0.0) for finding in FINDINGS]


def choose(
    probabilities: Sequence[float], classes: ClassMap, threshold: Optional[float]
) -> int:
    """
    Choose the class to answer with.

    :param probabilities: one for each class.
    :param classes: the classes.
    :param threshold: above this probability the class of entailed responses is chosen,
        otherwise the likeliest of the other classes. None chooses the likeliest class.
    :return: the class's index.
    """
    indices = [i for i, members in enumerate(classes.members) if members]
    reference = place_of(ENTAILMENT, classes)
    if threshold is not None and reference is not None and len(indices) > 1:
        if probabilities[reference] > threshold:
            return reference
        indices.remove(reference)
    return max(indices, key=lambda i: probabilities[i])


def place_of(finding: str, classes: ClassMap) -> Optional[int]:
    """
    The index of the class that a finding counts towards, or None.
    """
    index = FINDINGS.index(finding)
    return next((i for i, m in enumerate(classes.members) if index in m), None)
