"""
Defines a response that people have judged, and sets of such responses.
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
    One response with its human annotations.

    :param knowledge: the text that the response should be grounded in.
    :param response: the response.
    :param label: one of :data:`CLASSES`; empty where people gave only ratings.
    :param corpus: the dialogue corpus that it comes from.
    :param system: the system that produced it.
    :param dialogue: identifies its conversation; empty if unknown.
    :param turn: identifies its turn in the conversation.
    :param human: human ratings by name, on any scale.
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
        The knowledge and the response, which is what scorers score.
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
    :param responses: the responses.
    :param crossed: for each context that several systems answered, if any, their judged
        responses. These may repeat some of ``responses``.
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
        The responses to all contexts that several systems answered, in order.
        """
        return [response for context in self.crossed for response in context]

    def of_classes(self, classes: Iterable[str] = BINARY) -> list[Judged]:
        """
        The responses of the given classes, in order.
        """
        wanted = set(classes)
        return [r for r in self.responses if r.label in wanted]

    def groups(self, field_name: str) -> dict[str, list[Judged]]:
        """
        The responses by ``corpus`` or ``system``, sorted by name. Responses that have
        none are left out.
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
    :return: a contrast for each context that has one response of each class.
    """
    found = []
    for responses in crossed:
        by_label = {r.label: r for r in responses}
        if len(responses) == 2 and set(by_label) == set(BINARY):
            found.append(
                Contrast(by_label[Label.CONSISTENT], by_label[Label.INCONSISTENT])
            )
    return found
