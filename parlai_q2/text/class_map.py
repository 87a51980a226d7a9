"""
The classes of models and of tasks, and which stand for each other.

Knowledge can entail a response, contradict it, or say nothing about its content
(neutral), or the response states nothing that could be checked (generic). An output of
a model goes to the class with the same name, or else with the same meaning. Without
such a class, neutral counts as contradiction and contradiction as neutral: either way
the response is not grounded; and so does a class that does not tell the two apart
("inconsistent"). A "generic" output is left out if the task has no such class; the
other probabilities are then conditional on the response being verifiable.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten

from parlai_q2.claims import UNVERIFIABLE, Score
from parlai_q2.errors import ConfigError, UnknownNameError
from parlai_q2.options import Word, split_pairs


class Finding(Word):
    """What a model can find about a response."""

    ENTAILMENT = 'entailment'
    NEUTRAL = 'neutral'
    CONTRADICTION = 'contradiction'
    GENERIC = 'generic'


_NAMES: Mapping[Finding, tuple[str, ...]] = {
    Finding.ENTAILMENT: (
        *('entailment', 'entailed', 'entail', 'supports', 'supported', 'correct'),
        *('consistent', 'factually consistent', 'positive'),
        *('fully attributable', 'attributable'),
    ),
    Finding.NEUTRAL: ('neutral', 'not enough info', 'nei', 'unsupported'),
    Finding.CONTRADICTION: (
        *('contradiction', 'contradicted', 'contradict', 'refutes', 'refuted'),
        *('incorrect', 'inconsistent', 'factually inconsistent', 'negative'),
        *('not fully attributable', 'not attributable'),
        *('hallucinated', 'hallucination'),
    ),
    Finding.GENERIC: ('generic', 'not verifiable', 'non verifiable', 'chit chat'),
}
_FINDINGS = {name: finding for finding, names in _NAMES.items() for name in names}
# Labels that are numbers or truth values.
_TRUTH = {
    **dict.fromkeys(('1', '1.0', 'true', 'yes'), Finding.ENTAILMENT),
    **dict.fromkeys(('0', '0.0', 'false', 'no'), Finding.CONTRADICTION),
}
UNKNOWN_LABEL = (
    'the label is {!r:.60}; expected consistent, inconsistent or generic (or another '
    'name for one of them), or 1 or 0.'
)
# The names that transformers gives to classes without one.
_UNNAMED = re.compile(r'label_\d+')
# What an output counts as if the task has no class for it.
_NEXT_BEST = {
    Finding.NEUTRAL: Finding.CONTRADICTION,
    Finding.CONTRADICTION: Finding.NEUTRAL,
}


def match_finding(name: str) -> Finding | None:
    """The one of :class:`Finding` that a name stands for, however written, or None."""
    return _FINDINGS.get(plain(name))


def read_finding(label: object) -> Finding | None:
    """
    What a person's label says of a response: any name of a finding, or 1 or 0, yes or
    no, true or false; None if it is none of these.

    >>> read_finding('REFUTES'), read_finding(1.0)
    ('contradiction', 'entailment')
    """
    text = str(label)
    return match_finding(text) or _TRUTH.get(plain(text))


def plain(name: str) -> str:
    """A name in lower case, with single spaces between its words."""
    return ' '.join(re.split(r'[\s_-]+', name.lower().strip()))


def is_unnamed(name: str) -> bool:
    """Whether a name is a default such as ``LABEL_0``."""
    return _UNNAMED.fullmatch(name.lower()) is not None


@dataclass(frozen=True)
class ClassMap:
    """A task's classes, and for each the indices of the outputs that count for it."""

    classes: tuple[str, ...]
    members: tuple[tuple[int, ...], ...]

    @property
    def without_output(self) -> list[str]:
        """The classes that this model can never choose."""
        return [c for c, m in zip(self.classes, self.members) if not m]

    def probabilities(self, outputs: Sequence[float]) -> list[float]:
        """
        The probability of each class: its outputs' added up, and renormalised without
        outputs that have no class; uniform if nothing is left.
        """
        sums = [sum(outputs[i] for i in members) for members in self.members]
        total = sum(sums)
        if total <= 0:
            return [1 / len(sums)] * len(sums)
        return [value / total for value in sums]


def map_classes(
    outputs: Sequence[str | None],
    classes: Sequence[str],
    class_map: Mapping[str, str] | None = None,
) -> ClassMap:
    """
    Assign each model output to a class of the task.

    :param outputs: the names of the model's outputs, in order; None leaves one out.
    :param class_map: maps an output's name or finding to a class, before anything else.
        An empty class leaves the output out.
    :raises ConfigError: if an output's name is unknown, or no class has an output.
    :raises UnknownNameError: if ``class_map`` names an unknown output or class.
    """
    class_map = dict(class_map or {})
    _check(class_map, outputs, classes)
    members: dict[str, list[int]] = {name: [] for name in classes}
    for index, output in enumerate(outputs):
        place = _place(output, classes, class_map) if output is not None else None
        if place:
            members[place].append(index)
    if not any(members.values()):
        # If the classes are candidate replies, the full list would fill pages.
        excerpt = shorten(', '.join(classes), 200, placeholder=', ...')
        raise ConfigError(
            f"None of the task's classes ({excerpt}) matches an output of the model "
            f'({", ".join(filter(None, outputs))}). If they are replies, use the '
            "task's ClassificationTeacher; if they are classes, map them with "
            f'--class-map, e.g. --class-map "entailment={classes[0]}".'
        )
    return ClassMap(tuple(classes), tuple(tuple(members[c]) for c in classes))


def has_findings(score: Score) -> bool:
    """Whether a score has the probability of each finding, as the detector's."""
    return all(finding in score.parts for finding in Finding)


def finding_probabilities(score: Score, classes: ClassMap) -> list[float]:
    """
    The probability of each of :class:`Finding`, summing to 1.

    A single number is that of "entailment"; the rest goes to "contradiction". Where the
    scorer finds nothing to verify and the task has a class for that, "generic" is 1.

    :param classes: the task's classes, mapped from the findings.
    """
    if has_findings(score):
        return [score.parts[finding] for finding in Finding]
    probabilities = {
        Finding.ENTAILMENT: score.value,
        Finding.CONTRADICTION: 1 - score.value,
    }
    if score.label in UNVERIFIABLE and find_place(Finding.GENERIC, classes) is not None:
        probabilities = {Finding.GENERIC: 1.0}
    return [probabilities.get(finding, 0.0) for finding in Finding]


def choose(
    outputs: Sequence[float], classes: ClassMap, threshold: float | None = None
) -> int:
    """
    The index of the class to answer with.

    :param outputs: the probability of each of the model's outputs.
    :param threshold: above this probability the class of entailed responses is chosen,
        otherwise the likeliest of the other classes. None chooses the class of the
        likeliest output, as the papers do, which merge classes after the choice.
    """
    if threshold is None:
        of_output = {i: c for c, m in enumerate(classes.members) for i in m}
        return of_output[max(of_output, key=lambda i: outputs[i])]
    probabilities = classes.probabilities(outputs)
    indices = [i for i, members in enumerate(classes.members) if members]
    reference = find_place(Finding.ENTAILMENT, classes)
    if reference is not None and len(indices) > 1:
        if probabilities[reference] > threshold:
            return reference
        indices.remove(reference)
    return max(indices, key=lambda i: probabilities[i])


def find_place(finding: Finding, classes: ClassMap) -> int | None:
    """The index of the class that a finding counts towards, or None."""
    index = tuple(Finding).index(finding)
    return next((i for i, m in enumerate(classes.members) if index in m), None)


def find_class(finding: Finding, classes: Iterable[str]) -> str | None:
    """The first class that stands for a finding; None if there is none."""
    return next((name for name in classes if match_finding(name) == finding), None)


def parse_class_map(text: str | None) -> dict[str, str]:
    """The comma-separated ``output=class`` pairs of ``--class-map``."""
    return split_pairs(
        text,
        '--class-map',
        'output=class',
        'entailment=Fully attributable,generic=Generic',
    )


def _place(
    output: str, classes: Sequence[str], class_map: Mapping[str, str]
) -> str | None:
    finding = match_finding(output)
    for name, chosen in class_map.items():
        if plain(name) == plain(output) or (finding and match_finding(name) == finding):
            return chosen
    same = next((name for name in classes if plain(name) == plain(output)), None)
    if same is not None:
        return same
    if finding is None:
        raise ConfigError(
            f"The model's output {output!r} matches none of the classes "
            f'({", ".join(classes)}), and its meaning is not known here. Map it, '
            f'e.g. --class-map "{output}={classes[0]}".'
        )
    place = find_class(finding, classes)
    if place is None and finding in _NEXT_BEST:
        place = find_class(_NEXT_BEST[finding], classes)
    return place


def _check(
    class_map: Mapping[str, str], outputs: Sequence[str | None], classes: Sequence[str]
) -> None:
    output_names = {plain(output) for output in outputs if output is not None}
    findings = {match_finding(output) for output in outputs if output is not None} - {
        None
    }
    for name, place in class_map.items():
        if plain(name) not in output_names and match_finding(name) not in findings:
            names = [*filter(None, outputs), *(f for f in Finding if f in findings)]
            raise UnknownNameError('output', name, list(dict.fromkeys(names)))
        if place and place not in classes:
            raise UnknownNameError('class', place, classes)
