"""
Measures a retriever: recall@k and mean reciprocal rank of the passage that a reply
rests on, with 95 % intervals.

Passages that differ in case, spaces and punctuation only are the same one.
"""

import gzip
import hashlib
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from parlai_q2.errors import InputError, RecordError
from parlai_q2.intervals import Interval, mean_interval
from parlai_q2.io.formats import READERS, infer_format, open_text
from parlai_q2.io.read import read_history
from parlai_q2.text.normalize import passage_key
from parlai_q2.turns import joined, passages_of

CUTS = (1, 5, 10)
# The share of passages whose turns are held out, in 256ths.
HELD_OUT = 51
# The names of fields in training files, and in BEGIN's.
_SHORT_NAMES = {'h': 'history', 'message': 'history', 'k': 'knowledge'}
_OPENERS: dict[str, Callable[..., TextIO]] = {'.gz': gzip.open, '.xz': lzma.open}


class GoldTurn(NamedTuple):
    """The turns before a reply, and the passage that it rests on; empty if unknown."""

    history: tuple[str, ...]
    gold: str = ''

    @property
    def is_held_out(self) -> bool:
        """Whether the turn is held out from fitting: a fifth, chosen by the passage."""
        digest = hashlib.sha256(self.gold.encode()).digest()
        return bool(self.gold) and digest[0] < HELD_OUT


@dataclass(frozen=True)
class Recall:
    """
    Measures of how well a retriever finds passages.

    :param recall: for each k, the share of turns whose passage is among the first k.
    :param mrr: the mean of 1 / rank, with 0 for a passage that was not found.
    """

    count: int
    recall: dict[int, Interval]
    mrr: Interval


def measure_recall(ranks: Sequence[int]) -> Recall:
    """
    Measure recall.

    :param ranks: for each turn the rank of its passage, from 1; 0 if it was not found.
    """
    recall = {}
    for cut in CUTS:
        recall[cut] = mean_interval([float(0 < rank <= cut) for rank in ranks])
    mrr = mean_interval([1 / rank if rank else 0.0 for rank in ranks])
    return Recall(len(ranks), recall, mrr)


def find_rank(gold: str, texts: Sequence[str]) -> int:
    """
    The rank of a passage among those found, from 1; equal passages count once. 0 if it
    was not found.
    """
    keys = list(dict.fromkeys(map(passage_key, texts)))
    key = passage_key(gold)
    return keys.index(key) + 1 if key in keys else 0


def read_gold_turns(path: Path) -> Iterator[GoldTurn]:
    """
    Read the turns of a file that have a history: JSON lines, csv or tsv, which may be
    packed with gzip or xz, with ``history`` and, where it is known what the reply rests
    on, ``knowledge`` (or ``h`` and ``k``).

    :raises InputError: if the file cannot be read.
    """
    packed = path.suffix in _OPENERS
    format = infer_format(path.with_suffix('') if packed else path)
    try:
        with _open(path) as stream:
            for number, fields, problem, *_ in READERS[format](stream):
                turn = _read_turn(path, number, fields, problem)
                if any(text.strip() for text in turn.history):
                    yield turn
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as e:
        raise InputError(f'{path} is damaged ({e}). Copy it again.') from e


def _read_turn(
    path: Path, number: int, fields: Mapping[str, Any], problem: str | None
) -> GoldTurn:
    """A record as a turn; a RecordError if it has a problem."""
    values = {_SHORT_NAMES.get(name, name): v for name, v in fields.items()}
    try:
        history = read_history({'history': values.get('history')})
        gold = joined(passages_of(values.get('knowledge') or ''))
    except InputError as e:
        problem = problem or str(e)
    if problem:
        raise RecordError(str(path), number, problem)
    return GoldTurn(history, gold if gold.strip() else '')


def _open(path: Path) -> TextIO:
    if path.suffix not in _OPENERS:
        return open_text(path)
    opener = _OPENERS[path.suffix]
    try:
        return opener(path, 'rt', encoding='utf-8', errors='surrogateescape')
    except OSError as e:
        raise InputError(f'Cannot read {path}: {e.strerror}.') from e
