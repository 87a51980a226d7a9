"""
Annotated responses, sets of them, samples of a set, and the words that select a part of
one, e.g. ``wow`` and ``dev`` in ``begin:wow:dev``.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, NamedTuple

from parlai_q2.claims import Label
from parlai_q2.errors import ConfigError, InputError, UnknownNameError
from parlai_q2.text.overlap import extractiveness

BINARY: tuple[str, ...] = (Label.CONSISTENT, Label.INCONSISTENT)
# BEGIN's third class is chit-chat that states nothing (Dziri et al. 2022).
CLASSES: tuple[str, ...] = (*BINARY, Label.GENERIC)

Pair = tuple[str, str]
# A random sample of a system's responses, and its size (Honovich et al. 2021, Table 2).
RANDOM, SAMPLE = 'random', 150


@dataclass(frozen=True)
class AnnotatedResponse:
    """
    One response that people have annotated, with the turn it answers. What is unknown
    is empty.

    Scorers see ``knowledge`` and ``response``. The fields from ``text`` on make a
    ParlAI message; a set that is only evaluated needs none of them.

    :param label: its class; in an :class:`AnnotatedSet` one of :data:`CLASSES`, or
        empty where people gave only ratings.
    :param dialogue: identifies its conversation, and ``turn`` its turn there.
    :param human: human ratings by name, on any scale.
    :param text: the person's message; empty if the system opened the conversation.
    :param passage: all sentences that were shown, including ``knowledge``; empty for
        the knowledge alone.
    :param gold: a human reply; empty if there is none.
    :param episode: consecutive turns with the same episode form one conversation.
    :param extra: additional JSON-safe fields for the message.
    """

    knowledge: str
    response: str
    label: str = ''
    corpus: str = ''
    system: str = ''
    dialogue: str = ''
    turn: str = ''
    human: Mapping[str, float] = field(default_factory=dict, hash=False)
    text: str = ''
    topic: str = ''
    passage: tuple[str, ...] = ()
    gold: str = ''
    episode: str = ''
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def pair(self) -> Pair:
        """The knowledge and the response, which is what scorers score."""
        return self.knowledge, self.response


class Contrast(NamedTuple):
    """Two systems' responses to one context, of which one is inconsistent."""

    consistent: AnnotatedResponse
    inconsistent: AnnotatedResponse


@dataclass(frozen=True)
class AnnotatedSet:
    """
    Annotated responses, each with one of our classes or none.

    :param name: its name on command lines and in file names.
    :param title: its name in captions.
    :param responses: the responses.
    :param crossed: for each context that several systems answered, if any, their
        annotated responses. These may repeat some of ``responses``.
    :param fitted_on: whether scorers that ship were fitted on these responses.
    :param paper: the name under which a paper's results on it are looked up; empty if
        no paper has any.
    """

    name: str
    title: str
    responses: tuple[AnnotatedResponse, ...]
    crossed: tuple[tuple[AnnotatedResponse, ...], ...] = ()
    fitted_on: bool = False
    paper: str = ''

    def __post_init__(self) -> None:
        unknown_labels = {r.label for r in self.responses} - {*CLASSES, ''}
        if unknown_labels:
            raise InputError(
                f'The responses of {self.name} must be {", ".join(CLASSES)} or '
                f'unlabelled, not {sorted(unknown_labels)[0]!r}.'
            )

    @property
    def crossed_responses(self) -> list[AnnotatedResponse]:
        """The responses to all contexts that several systems answered, in order."""
        return [*chain.from_iterable(self.crossed)]

    def of_classes(self, classes: Iterable[str] = BINARY) -> list[AnnotatedResponse]:
        """The responses of the given classes, in order."""
        names = set(classes)
        return [r for r in self.responses if r.label in names]

    def groups(self, field_name: str) -> dict[str, list[AnnotatedResponse]]:
        """
        The responses by ``corpus`` or ``system``, if they have one, sorted by name.
        """
        groups: dict[str, list[AnnotatedResponse]] = {}
        for response in self.responses:
            name = getattr(response, field_name)
            if name:
                groups.setdefault(name, []).append(response)
        return dict(sorted(groups.items()))


def contrasts(crossed: Sequence[Sequence[AnnotatedResponse]]) -> list[Contrast]:
    """
    The contexts to which exactly one of two systems gave an inconsistent response.
    """
    pairs = []
    for responses in crossed:
        by_label = {r.label: r for r in responses}
        if len(responses) == 2 and set(by_label) == set(BINARY):
            pairs.append(
                Contrast(by_label[Label.CONSISTENT], by_label[Label.INCONSISTENT])
            )
    return pairs


def sampled(annotated: AnnotatedSet, count: int, seed: int) -> AnnotatedSet:
    """
    Sample ``count`` responses, and as many contexts that several systems answered. A
    negative count, or one not below the number of responses, gives the whole set.
    """
    if count < 0 or count >= len(annotated.responses):
        return annotated
    rng = random.Random(f'sample {seed}')
    chosen = sorted(rng.sample(range(len(annotated.responses)), count))
    contexts = range(len(annotated.crossed))
    crossed = sorted(rng.sample(contexts, min(count, len(contexts))))
    return replace(
        annotated,
        title=f'{annotated.title}, a sample of {count}',
        responses=tuple(annotated.responses[i] for i in chosen),
        crossed=tuple(annotated.crossed[i] for i in crossed),
        paper='',
    )


DENSITIES = ('low', 'medium', 'high')


def measure_density(response: AnnotatedResponse) -> float:
    """How much of its knowledge a response copies, from 0 to its length in tokens."""
    return extractiveness(response.knowledge, response.response).density


def density_groups(
    responses: Sequence[AnnotatedResponse],
) -> tuple[dict[str, list[AnnotatedResponse]], tuple[float, float]]:
    """
    Split responses at the terciles of their density, and return the groups and both
    cuts. Equal densities stay together; one equal to a cut belongs to the group below
    it.
    """
    import numpy as np

    if not responses:
        return {group: [] for group in DENSITIES}, (0.0, 0.0)
    densities = [measure_density(r) for r in responses]
    low, high = (float(q) for q in np.quantile(densities, [1 / 3, 2 / 3]))
    groups: dict[str, list[AnnotatedResponse]] = {group: [] for group in DENSITIES}
    for response, density in zip(responses, densities, strict=True):
        group = 0 if density <= low else 1 if density <= high else 2
        groups[DENSITIES[group]].append(response)
    return groups, (low, high)


SAME_DIALOGUE, RANDOM_DIALOGUE = 'same dialogue', 'random dialogue'


def same_dialogue(
    responses: Sequence[AnnotatedResponse],
    sources: Sequence[AnnotatedResponse],
    seed: int,
) -> list[Pair]:
    """Pair responses with the knowledge of another turn of their dialogue, if any."""
    by_dialogue: dict[str, dict[str, set[str]]] = {}
    for source in sources:
        turns = by_dialogue.setdefault(source.dialogue, {})
        turns.setdefault(source.knowledge, set()).add(source.turn)
    rng = random.Random(f'{SAME_DIALOGUE} {seed}')
    pairs = []
    for response in responses:
        candidates = sorted(
            knowledge
            for knowledge, turns in by_dialogue.get(response.dialogue, {}).items()
            if knowledge != response.knowledge and response.turn not in turns
        )
        if response.dialogue and candidates:
            pairs.append((rng.choice(candidates), response.response))
    return pairs


def random_dialogue(
    responses: Sequence[AnnotatedResponse],
    sources: Sequence[AnnotatedResponse],
    seed: int,
) -> list[Pair]:
    """
    Pair each response with the knowledge of another dialogue, or with any other where a
    dialogue is unknown. Those for which there is none are left out.
    """
    knowledge_pool = sorted({(other.knowledge, other.dialogue) for other in sources})
    rng = random.Random(f'{RANDOM_DIALOGUE} {seed}')
    pairs = []
    for response in responses:
        # Most draws hit another dialogue; the full list is built only if none does.
        for _ in range(20):
            knowledge, dialogue = rng.choice(knowledge_pool)
            if _is_other(response, knowledge, dialogue):
                pairs.append((knowledge, response.response))
                break
        else:
            rest = [k for k, d in knowledge_pool if _is_other(response, k, d)]
            if rest:
                pairs.append((rng.choice(rest), response.response))
    return pairs


def _is_other(response: AnnotatedResponse, knowledge: str, dialogue: str) -> bool:
    unknown = not (response.dialogue and dialogue)
    return knowledge != response.knowledge and (
        unknown or dialogue != response.dialogue
    )


def random_sample(
    annotated: AnnotatedSet, system: str, seed: int
) -> list[AnnotatedResponse]:
    """
    At most :data:`SAMPLE` responses of a system, from contexts annotated for all
    systems.
    """
    candidates = [r for r in annotated.crossed_responses if r.system == system]
    rng = random.Random(f'{RANDOM} {system} {seed}')
    return rng.sample(candidates, min(SAMPLE, len(candidates)))


ALL = 'all'


def by_system_and_class(
    annotated: AnnotatedSet, seed: int
) -> dict[tuple[str, str], list[AnnotatedResponse]]:
    """
    The responses of each system and class, and a random sample of each system. In a set
    without contexts that several systems answered, all count as one system.
    """
    systems = annotated.groups('system') if annotated.crossed else {}
    groups: dict[tuple[str, str], list[AnnotatedResponse]] = {}
    for system, responses in (systems or {ALL: [*annotated.responses]}).items():
        for label in (Label.INCONSISTENT, Label.CONSISTENT, Label.GENERIC):
            of_class = [r for r in responses if r.label == label]
            if of_class or label in BINARY:
                groups[system, label] = of_class
        sample = random_sample(annotated, system, seed)
        if sample:
            groups[system, RANDOM] = sample
    return groups


def expand_aliases(
    words: Sequence[str], aliases: Mapping[str, Sequence[str]]
) -> list[str]:
    """Replace aliases among words, in any case, by the words that they stand for."""
    expanded: list[str] = []
    for word in words:
        expanded += aliases.get(word.lower(), (word,))
    return expanded


def narrow_words(
    teacher: str,
    fixed: Sequence[str],
    words: Sequence[str],
    groups: Mapping[str, Sequence[str]],
) -> list[str]:
    """
    Combine the words of a teacher that shows only part of its task with those of a task
    string, which may narrow that part further. A group that the task string names
    replaces the teacher's words of that group.

    :raises ConfigError: when the task string has a word of a group that the teacher
        restricts to other words, since it would widen the part.
    """
    kept_words = [*fixed]
    for name, group in groups.items():
        own_words = [word for word in fixed if word in group]
        named_words = [word for word in words if word.lower() in group]
        outside_words = [word for word in named_words if word.lower() not in own_words]
        if own_words and outside_words:
            raise ConfigError(
                f'{teacher} shows only the {name} {" and ".join(own_words)}, and '
                f'{outside_words[0]!r} is another {name}. Leave that word out, or '
                'choose by words after a teacher that shows all.'
            )
        if named_words:
            kept_words = [word for word in kept_words if word not in group]
    return [*kept_words, *words]


def one_fold(words: Sequence[str], folds: Sequence[str]) -> str:
    """
    The fold that words name, in any case, else the first; a ConfigError if they name
    two.
    """
    lower = dict.fromkeys(word.lower() for word in words)
    named = [word for word in lower if word in folds]
    if len(named) > 1:
        either = ' or '.join(folds)
        raise ConfigError(f'An annotated set has one fold: {either}. Name one.')
    return named[0] if named else folds[0]


def select_words(
    task: str,
    words: Sequence[str],
    groups: Mapping[str, Sequence[str]],
    aliases: Mapping[str, Sequence[str]] = {},
) -> dict[str, list[str]]:
    """
    Sort words, in any order and case, by what they select.

    :param groups: what can be selected, e.g. ``part``, and the words for it.
    :return: for each group, those of its words that were given, in the group's order.
    :raises UnknownNameError: for a word of no group.
    """
    vocabulary = [*chain.from_iterable(groups.values())]
    expanded = expand_aliases(words, aliases)
    for word in expanded:
        if word.lower() not in vocabulary:
            *first, last = groups
            kinds = f'{", ".join(first)} or {last}' if first else last
            raise UnknownNameError(f'{kinds} of {task}', word, [*vocabulary, *aliases])
    selected = {word.lower() for word in expanded}
    by_group = {}
    for name, group in groups.items():
        by_group[name] = [word for word in group if word in selected]
    return by_group
