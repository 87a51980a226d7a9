"""
Which of a model's outputs speak for which class of a task.

Models and tasks cut responses up differently: VitaminC's model has SUPPORTS, REFUTES
and NOT ENOUGH INFO, BEGIN has "Fully attributable", "Not fully attributable" and
"Generic". An output goes to the class of its own name, else to the class that says the
same (:mod:`parlai_q2.text.class_names`). Where a task has no class of its own for it,
neutral counts as contradiction and the other way round: what the knowledge does not say
is not grounded in it. An output that says "generic" is left out where the task has no
such class: the other classes' probabilities are then those of a response that can be
verified.
"""

from dataclasses import dataclass
from textwrap import shorten
from typing import Iterable, Mapping, Optional, Sequence

from parlai_q2.errors import ConfigError, UnknownNameError
from parlai_q2.text.class_names import (
    CONTRADICTION,
    FINDINGS,
    GENERIC,
    NEUTRAL,
    finding_of,
    plain,
)
from parlai_q2.text.typed import typed_pairs

# What an output may count as where a task has no class for it.
_NEXT_BEST = {NEUTRAL: CONTRADICTION, CONTRADICTION: NEUTRAL}


@dataclass(frozen=True)
class ClassMap:
    """
    The outputs that speak for each class.

    :param classes: the task's C classes.
    :param members: for each class the indices of its outputs; may be empty.
    """

    classes: tuple[str, ...]
    members: tuple[tuple[int, ...], ...]

    @property
    def without_output(self) -> list[str]:
        """
        The classes that this model can never choose.
        """
        return [c for c, m in zip(self.classes, self.members) if not m]

    def probabilities(self, outputs: Sequence[float]) -> list[float]:
        """
        The classes' probabilities.

        :param outputs: a probability for each output of the model, summing to 1.
        :return: one for each class, summing to 1: a class's outputs are added up, and
            those that speak for none are left out. All the same where nothing is left.
        """
        sums = [sum(outputs[i] for i in members) for members in self.members]
        total = sum(sums)
        if total <= 0:
            return [1 / len(sums)] * len(sums)
        return [value / total for value in sums]


def map_classes(
    outputs: Sequence[Optional[str]],
    classes: Sequence[str],
    given: Optional[Mapping[str, str]] = None,
) -> ClassMap:
    """
    Say which outputs speak for which class.

    :param outputs: the names of a model's outputs, in order; None for one that is to be
        left out.
    :param classes: the names of the task's classes.
    :param given: output name, or what it says, to class; goes before all else. An empty
        class leaves the output out.
    :return: the map.
    :raises ConfigError: when an output's name says nothing, or no class has an output.
    :raises UnknownNameError: when ``given`` names an output or a class that is not
        there.
    """
    given = dict(given or {})
    _check(given, outputs, classes)
    members: dict[str, list[int]] = {name: [] for name in classes}
    for index, output in enumerate(outputs):
        place = _place(output, classes, given) if output is not None else None
        if place:
            members[place].append(index)
    if not any(members.values()):
        # The candidates of a task of replies fill pages.
        shown = shorten(', '.join(classes), 200, placeholder=', ...')
        raise ConfigError(
            f"None of the task's classes ({shown}) matches an output of the model "
            f'({", ".join(filter(None, outputs))}). If they are replies, use the '
            "task's ClassificationTeacher; if they are classes, map them with "
            f'--class-map, e.g. --class-map "entailment={classes[0]}".'
        )
    return ClassMap(tuple(classes), tuple(tuple(members[c]) for c in classes))


def class_of(finding: str, classes: Iterable[str]) -> Optional[str]:
    """
    The class that says a finding, the first if there are several; None without any.
    """
    return next((name for name in classes if finding_of(name) == finding), None)


def parse_class_map(text: Optional[str]) -> dict[str, str]:
    """
    Read ``--class-map``.

    :param text: ``output=class`` pairs parted by commas; None or empty for none.
    :return: output name, or what it says, to class.
    :raises ConfigError: when a part is no pair.
    """
    return typed_pairs(
        text,
        '--class-map',
        'output=class',
        'entailment=Fully attributable,generic=Generic',
    )


def _place(
    output: str, classes: Sequence[str], given: Mapping[str, str]
) -> Optional[str]:
    finding = finding_of(output)
    for name, chosen in given.items():
        if plain(name) == plain(output) or finding and finding_of(name) == finding:
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
    place = class_of(finding, classes)
    if place is None and finding != GENERIC and finding in _NEXT_BEST:
        place = class_of(_NEXT_BEST[finding], classes)
    return place


def _check(
    given: Mapping[str, str], outputs: Sequence[Optional[str]], classes: Sequence[str]
) -> None:
    known = {plain(output) for output in outputs if output is not None}
    said = {finding_of(output) for output in outputs if output is not None} - {None}
    for name, place in given.items():
        if plain(name) not in known and finding_of(name) not in said:
            names = [*filter(None, outputs), *(f for f in FINDINGS if f in said)]
            raise UnknownNameError('output', name, list(dict.fromkeys(names)))
        if place and place not in classes:
            raise UnknownNameError('class', place, classes)
