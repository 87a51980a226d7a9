"""
Conv-FEVER's examples, and the JSON lines files that hold them.

A file stays on disk, and a line is read when it is asked for. The training fold (some
400,000 lines) thus takes no memory except for the line starts.
"""

import json
import mmap
import re
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, Optional

from parlai_q2.errors import RecordError
from parlai_q2.records import Label

NONE, RANDOM_PAIRING = 'none', 'random_pairing'
NEGATION, ENTITY_SWAP = 'negation', 'entity_swap'
PERTURBATIONS = (NONE, RANDOM_PAIRING, NEGATION, ENTITY_SWAP)
RESPONSE, KNOWLEDGE, CONTEXT = 'response', 'knowledge', 'context'
PERTURBED = (RESPONSE, KNOWLEDGE, CONTEXT)

# Bytes read at a time when lines are counted.
BLOCK = 1 << 20
# Each line begins with these two fields, so that lines can be chosen without parsing.
_START = re.compile(rb'\{"perturbation": "(\w+)", "perturbed": "(\w*)", ')


@dataclass(frozen=True)
class ConvFeverExample:
    """
    A response with knowledge that it agrees with or not.

    :param perturbation: one of :data:`PERTURBATIONS`; ``none`` for a wizard's own words
        with the sentence that he checked, which are consistent.
    :param perturbed: the text that was changed, one of :data:`PERTURBED`; empty for
        none.
    :param episode: the conversation's place in Wizard of Wikipedia's file, from 0.
    :param turn: the place of the wizard's turn in the conversation, from 0.
    :param topic: the topic of the conversation.
    :param title: the article that the knowledge comes from.
    :param context: the turns before, oldest first.
    :param knowledge: the sentence.
    :param response: the response.
    :param before: the word or entity that was replaced, if one was.
    :param after: its replacement.
    """

    perturbation: str
    perturbed: str
    episode: int
    turn: int
    topic: str
    title: str
    context: tuple[str, ...]
    knowledge: str
    response: str
    before: str = ''
    after: str = ''

    @property
    def label(self) -> str:
        """The class: ``consistent`` or ``inconsistent``."""
        consistent = self.perturbation == NONE
        return Label.CONSISTENT if consistent else Label.INCONSISTENT

    def to_dict(self) -> dict[str, Any]:
        """The example as JSON-safe values, in the order in which the file has them."""
        return {
            'perturbation': self.perturbation,
            'perturbed': self.perturbed,
            'episode': self.episode,
            'turn': self.turn,
            'topic': self.topic,
            'title': self.title,
            'context': list(self.context),
            'knowledge': self.knowledge,
            'response': self.response,
            'before': self.before,
            'after': self.after,
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> 'ConvFeverExample':
        """Make an example from the output of :meth:`to_dict`."""
        return cls(**{**fields, 'context': tuple(fields['context'])})


class ExampleFile:
    """
    The examples of a file, by place.

    :param path: a file that the task built.
    :param chosen: takes an example's perturbation and perturbed text, and returns
        whether to include it; None for all.
    :raises RecordError: when a line is not an example.
    """

    def __init__(self, path: Path, chosen: Optional[Callable[[str, str], bool]] = None):
        self.path = path
        self._starts = array('Q')
        # Which examples are consistent, a byte for each.
        self._consistent = bytearray()
        with open(path, 'rb') as stream:
            # An empty file cannot be mapped.
            self._bytes: Any = (
                mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
                if path.stat().st_size
                else b''
            )
        start = 0
        while start < len(self._bytes):
            found = _START.match(self._bytes, start)
            if not found:
                raise self._broken(start)
            perturbation, perturbed = found[1].decode(), found[2].decode()
            if chosen is None or chosen(perturbation, perturbed):
                self._starts.append(start)
                self._consistent.append(perturbation == NONE)
            start = self._bytes.find(b'\n', start) + 1 or len(self._bytes)

    def __len__(self) -> int:
        return len(self._starts)

    def consistent(self, place: int) -> bool:
        """Whether the example at a place is consistent, found without reading it."""
        return bool(self._consistent[place])

    def __getitem__(self, place: int) -> ConvFeverExample:
        start = self._starts[place]
        end = self._bytes.find(b'\n', start)
        line = self._bytes[start : end if end >= 0 else None]
        try:
            return ConvFeverExample.from_dict(json.loads(line))
        except (ValueError, TypeError, KeyError) as e:
            raise self._broken(start, f': {e}') from e

    def __iter__(self) -> Iterator[ConvFeverExample]:
        return (self[i] for i in range(len(self)))

    def _broken(self, start: int, why: str = '') -> RecordError:
        # The line in the file, not among the chosen examples.
        line = 1 + count_lines(self.path, start)
        return RecordError(
            str(self.path),
            line,
            f'this is not an example of Conv-FEVER{why}. Delete the file to have '
            'it built again',
        )


def count_lines(path: Path, size: Optional[int] = None) -> int:
    """
    Count the whole lines of a file.

    :param size: how many of its bytes to look at; None for all.
    """
    lines, left = 0, path.stat().st_size if size is None else size
    with open(path, 'rb') as stream:
        while left > 0 and (block := stream.read(min(BLOCK, left))):
            lines += block.count(b'\n')
            left -= len(block)
    return lines


def read_file(path: Path) -> Iterator[ConvFeverExample]:
    """
    The examples of a file that the task built, in order.

    :raises RecordError: when a line is not an example.
    """
    return iter(ExampleFile(path))
