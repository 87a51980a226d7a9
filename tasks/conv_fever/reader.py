"""
Conv-FEVER's examples, and the JSON lines files that hold them.

A file stays on disk, and each line is read on demand. The training fold (some 400,000
lines) thus takes no memory except for the line starts.
"""

import json
import mmap
import re
from array import array
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from parlai_q2.claims import Label
from parlai_q2.errors import RecordError
from parlai_q2.json_values import JsonObject

NONE, RANDOM_PAIRING = 'none', 'random_pairing'
NEGATION, ENTITY_SWAP = 'negation', 'entity_swap'
PERTURBATIONS = (NONE, RANDOM_PAIRING, NEGATION, ENTITY_SWAP)
RESPONSE, KNOWLEDGE, CONTEXT = 'response', 'knowledge', 'context'

# Each line begins with these two fields, so that lines can be chosen without parsing.
_START = re.compile(rb'\{"perturbation": "(\w+)", "perturbed": "(\w*)", ')


@dataclass(frozen=True)
class ConvFeverExample:
    """
    A response with knowledge that it agrees or disagrees with.

    :param perturbation: one of :data:`PERTURBATIONS`; ``none`` for a wizard's own reply
        with the sentence it is based on, which is consistent.
    :param perturbed: the changed text: ``response``, ``knowledge``, ``context`` or
        empty.
    :param episode: the conversation's place in the file, and ``turn`` the turn's, from
        0.
    :param title: the article that the knowledge comes from.
    :param before: the word or entity that ``after`` replaced, if any.
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

    def to_dict(self) -> JsonObject:
        """The example as JSON-safe values, in the order in which the file has them."""
        return asdict(self)

    @classmethod
    def from_dict(cls, fields: JsonObject) -> 'ConvFeverExample':
        """Make an example from the output of :meth:`to_dict`."""
        return cls(**{**fields, 'context': tuple(fields['context'])})


class ExampleFile:
    """
    Examples of a file that the task built, by place.

    :param perturbations: the kinds to show; empty for all.
    :param perturbed: the changed texts to show; empty for all. Consistent examples have
        none, and are shown if ``perturbations`` names them.
    :param context: whether the context is shown. Otherwise an example whose context was
        perturbed is left out, since from knowledge and response it looks consistent.
    :raises RecordError: for a line that is no such example.
    """

    def __init__(
        self,
        path: Path,
        perturbations: Sequence[str] = (),
        perturbed: Sequence[str] = (),
        context: bool = False,
    ):
        self.path = path
        self._starts = array('Q')
        with open(path, 'rb') as stream:
            # An empty file cannot be mapped.
            self._bytes: Any = (
                mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
                if path.stat().st_size
                else b''
            )
        start = 0
        while start < len(self._bytes):
            match = _START.match(self._bytes, start)
            if not match:
                raise self._broken(start)
            kind, changed = match[1].decode(), match[2].decode()
            named = kind == NONE and NONE in perturbations
            if (
                (context or changed != CONTEXT)
                and kind in (perturbations or PERTURBATIONS)
                and (not perturbed or changed in perturbed or named)
            ):
                self._starts.append(start)
            start = self._bytes.find(b'\n', start) + 1 or len(self._bytes)

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, place: int) -> ConvFeverExample:
        start = self._starts[place]
        end = self._bytes.find(b'\n', start)
        line = self._bytes[start : end if end >= 0 else None]
        try:
            return ConvFeverExample.from_dict(json.loads(line))
        except (ValueError, TypeError, KeyError) as e:
            raise self._broken(start, f': {e}') from e

    def _broken(self, start: int, why: str = '') -> RecordError:
        # The line in the file, not among the chosen examples.
        return RecordError(
            str(self.path),
            1 + self._bytes[:start].count(b'\n'),
            f'this is not an example of Conv-FEVER{why}. Delete the file to have '
            'it built again',
        )
