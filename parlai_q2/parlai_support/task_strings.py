"""
Reads ParlAI task strings: what a task is called, and the words after the teacher that
choose among its data, e.g. ``wow`` and ``dev`` of ``begin:annotated:wow:dev``.
"""

from typing import Mapping, Sequence

from parlai.core.loader import REGISTERED_REPOS

from parlai_q2.errors import ConfigError, UnknownNameError


def without_repo(task: str) -> str:
    """
    A task string without the short name of its repository.

    :param task: e.g. ``internal:wizard_of_wikipedia:generator``.
    :return: e.g. ``wizard_of_wikipedia:generator``.
    """
    task = task.strip()
    for prefix in REGISTERED_REPOS:
        if task.startswith(prefix):
            return task[len(prefix) :]
    return task


def task_arguments(task: str) -> list[str]:
    """
    What a task string says after the task and the teacher.

    :param task: e.g. ``q2_wow:annotated:dodeca``, or dotted.
    :return: e.g. ``['dodeca']``; flags such as ``threshold=0.3`` are left out.
    """
    parts = [p for p in without_repo(task).split(':') if '=' not in p]
    return [p for p in parts[2:] if p]


def spelt_out(words: Sequence[str], aliases: Mapping[str, Sequence[str]]) -> list[str]:
    """
    Words, with what some of them stand for in their place.

    :param words: as given, in any case.
    :param aliases: such words, in lower case, and what they stand for.
    """
    return [one for word in words for one in aliases.get(word.lower(), (word,))]


def narrowed(
    teacher: str,
    fixed: Sequence[str],
    words: Sequence[str],
    groups: Mapping[str, Sequence[str]],
) -> list[str]:
    """
    The words of a teacher that shows a part of its task, and those of a task string,
    which may choose among them.

    :param teacher: the teacher's class, for the error message.
    :param fixed: its own words.
    :param words: those of the task string.
    :param groups: what can be chosen, e.g. ``corpus``, and the words for it.
    :return: those of the task string, after the fixed ones that it leaves open.
    :raises ConfigError: for a word that is none of the fixed ones of its group: it
        would make the part larger, and not smaller.
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
    Sort words by what they choose.

    :param task: the task's name, for the error message.
    :param words: as given, in any order and case.
    :param groups: what can be chosen, e.g. ``part``, and the words for it.
    :param aliases: as :func:`spelt_out` takes them.
    :return: for each group its words that were given, in the group's order; empty where
        none was.
    :raises UnknownNameError: for a word of no group; it names the nearest one.
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
