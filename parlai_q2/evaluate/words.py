"""Words that select part of a set, e.g. ``wow`` and ``dev`` in ``begin:wow:dev``."""

from typing import Mapping, Sequence

from parlai_q2.errors import ConfigError, UnknownNameError


def spelt_out(words: Sequence[str], aliases: Mapping[str, Sequence[str]]) -> list[str]:
    """Replace aliases among words, in any case, by the words that they stand for."""
    return [one for word in words for one in aliases.get(word.lower(), (word,))]


def narrowed(
    teacher: str,
    fixed: Sequence[str],
    words: Sequence[str],
    groups: Mapping[str, Sequence[str]],
) -> list[str]:
    """
    Combine the words of a teacher that shows only part of its task with those of a task
    string, which may narrow that part further.

    :param teacher: the teacher's class, for the error message.
    :param fixed: the teacher's own words.
    :param words: the words of the task string.
    :param groups: what can be selected, e.g. ``corpus``, and the words for it.
    :return: the fixed words of those groups that the task string does not mention,
        followed by the words of the task string.
    :raises ConfigError: when the task string has a word of a group that the teacher
        restricts to other words, since it would widen the part.
    """
    left_open = [*fixed]
    for name, group in groups.items():
        ours = [word for word in fixed if word in group]
        given = [word for word in words if word.lower() in group]
        others = [word for word in given if word.lower() not in ours]
        if ours and others:
            raise ConfigError(
                f'{teacher} shows only the {name} {" and ".join(ours)}, and '
                f'{others[0]!r} is another {name}. Leave that word out, or choose '
                'by words after a teacher that shows all.'
            )
        if given:
            left_open = [word for word in left_open if word not in group]
    return [*left_open, *words]


def chosen_words(
    task: str,
    words: Sequence[str],
    groups: Mapping[str, Sequence[str]],
    aliases: Mapping[str, Sequence[str]] = {},
) -> dict[str, list[str]]:
    """
    Sort words by what they select.

    :param task: the task's name, for the error message.
    :param words: the words, in any order and case.
    :param groups: what can be selected, e.g. ``part``, and the words for it.
    :param aliases: as for :func:`spelt_out`.
    :return: for each group, those of its words that were given, in the group's order;
        empty if none was.
    :raises UnknownNameError: for a word of no group; the message suggests the nearest
        word.
    """
    known = [word for group in groups.values() for word in group]
    spelt = spelt_out(words, aliases)
    for word in spelt:
        if word.lower() not in known:
            *others, last = groups
            kinds = f'{", ".join(others)} or {last}' if others else last
            raise UnknownNameError(f'{kinds} of {task}', word, [*known, *aliases])
    given = {word.lower() for word in spelt}
    return {
        name: [word for word in group if word in given]
        for name, group in groups.items()
    }
