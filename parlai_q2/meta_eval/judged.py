"""
Responses that people have judged, and sets of them.
"""

from dataclasses import dataclass, field
from typing import Iterable, Mapping, NamedTuple, Sequence

from parlai_q2.errors import InputError
from parlai_q2.records import Label

BINARY = (Label.CONSISTENT, Label.INCONSISTENT)
# BEGIN's third class is chit-chat that states nothing (Dziri et al. 2022, section 3).
CLASSES = (*BINARY, Label.GENERIC)

Pair = tuple[str, str]


@dataclass(frozen=True)
class Judged:
    """
    One response with what people say of it.

    :param knowledge: the text that it should stay with.
    :param response: the response.
    :param label: one of :data:`CLASSES`; empty where people gave numbers alone.
    :param corpus: the dialogue corpus that it comes from.
    :param system: the system that said it.
    :param dialogue: names its conversation; empty where that is not known.
    :param turn: names its turn in the conversation.
    :param human: people's ratings by name, on any scale.
    """

    knowledge: str
    response: str
    label: str = ''
    corpus: str = ''
    system: str = ''
    dialogue: str = ''
    turn: str = ''
    human: Mapping[str, float] = field(default_factory=dict, hash=False)

    def __post_init__(self):
        if self.label and self.label not in CLASSES:
            raise InputError(
                f'A judged response must be {", ".join(CLASSES)} or unlabelled, '
                f'not {self.label!r}.'
            )

    @property
    def pair(self) -> Pair:
        """
        What is scored: knowledge and response.
        """
        return self.knowledge, self.response


class Contrast(NamedTuple):
    """
    Two systems' responses to one context, of which one is inconsistent.
    """

    consistent: Judged
    inconsistent: Judged


@dataclass(frozen=True)
class JudgedSet:
    """
    A set of judged responses.

    :param name: its name on command lines and in file names.
    :param title: its name in captions.
    :param responses: the set.
    :param crossed: contexts with the judged responses of several systems, where the set
        has such; they may repeat ``responses``.
    :param fitted_on: whether scorers that ship were fitted on these responses.
    """

    name: str
    title: str
    responses: tuple[Judged, ...]
    crossed: tuple[tuple[Judged, ...], ...] = ()
    fitted_on: bool = False

    @property
    def crossed_responses(self) -> list[Judged]:
        """
        The responses of all contexts of several systems, in order.
        """
        return [response for context in self.crossed for response in context]

    def of_classes(self, classes: Iterable[str] = BINARY) -> list[Judged]:
        """
        The responses of some classes, in order.
        """
        wanted = set(classes)
        return [r for r in self.responses if r.label in wanted]

    def groups(self, field_name: str) -> dict[str, list[Judged]]:
        """
        The responses by ``corpus`` or ``system``, in order of the names; those that
        have none are left out.
        """
        found: dict[str, list[Judged]] = {}
        for response in self.responses:
            name = getattr(response, field_name)
            if name:
                found.setdefault(name, []).append(response)
        return dict(sorted(found.items()))


def contrasts(crossed: Sequence[Sequence[Judged]]) -> list[Contrast]:
    """
    The contexts to which exactly one of two systems responded inconsistently.

    :param crossed: contexts with their responses.
    :return: one contrast for each that has one response of each class.
    """
    found = []
    for responses in crossed:
        by_label = {r.label: r for r in responses}
        if len(responses) == 2 and set(by_label) == set(BINARY):
            found.append(
                Contrast(by_label[Label.CONSISTENT], by_label[Label.INCONSISTENT])
            )
    return found
