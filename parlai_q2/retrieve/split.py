"""
Splits the blocks of a document into passages: whole sentences under one heading, of a
stated length, with a stated overlap.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby, zip_longest
from typing import NamedTuple

from parlai_q2.retrieve.readers.block import Block
from parlai_q2.text.sentences import count_words, cut_sentence, is_short, sentences
from parlai_q2.turns import Passage, Source

DEFAULT_WORDS = 100
DEFAULT_OVERLAP = 20
# Code of more words gets passages of its own, with the line that introduces it: it
# would obscure the prose beside it.
LONG_CODE = 25


class _Sentence(NamedTuple):
    """A sentence, and whether it ends its line."""

    text: str
    words: int
    block: Block
    ends: bool


def split(
    file: str,
    blocks: Iterable[Block],
    words: int = DEFAULT_WORDS,
    overlap: int = DEFAULT_OVERLAP,
    most_sentences: int = 0,
) -> Iterator[Passage]:
    """
    Split a document into passages, in order.

    :param file: the document's name, for the passages' source.
    :param words: the most words of a passage.
    :param overlap: the most words that a passage repeats of the one before, in whole
        sentences.
    :param most_sentences: the most sentences of a passage, which then repeats none of
        the one before; 0 for as many as fit.

    >>> [p.text for p in split('a.txt', [Block('It rains. It pours.')])]
    ['It rains. It pours.']
    """
    numbered = enumerate(block for block in blocks if block.text.strip())
    for _, group in groupby(numbered, _section):
        section = [block for _, block in group]
        for buffer in _pack(section, words, overlap, most_sentences):
            yield _passage(file, buffer)


def _section(numbered: tuple[int, Block]) -> tuple[str, str, int]:
    """The key of blocks that may share a passage."""
    number, block = numbered
    return block.title, block.heading, number if block.alone else -1


def _pack(
    blocks: list[Block], most_words: int, overlap: int, most: int
) -> Iterator[list[_Sentence]]:
    """Pack a section's sentences into passages."""
    if len(blocks) == 1 and is_short(blocks[0].text, most_words) and not most:
        # Most rows are like this: there is nothing to split.
        yield [_Sentence(blocks[0].text.strip(), 0, blocks[0], True)]
        return
    buffer: list[_Sentence] = []
    fresh = words = 0
    for sentence in _sentences(blocks, most_words):
        full = most and fresh == most
        apart = buffer and _is_apart(buffer[-1].block, sentence.block)
        if buffer and (full or apart or words + sentence.words > most_words):
            yield buffer
            fitting = min(overlap, most_words - sentence.words)
            alone = most or (apart and not sentence.block.code)
            buffer = [] if alone else _repeat(buffer, fitting)
            fresh, words = 0, sum(repeated.words for repeated in buffer)
        buffer.append(sentence)
        words += sentence.words
        fresh += 1
    if fresh:
        yield buffer


def _is_apart(before: Block, after: Block) -> bool:
    """Whether one of two blocks is long code, so that they share no passage."""
    return before is not after and any(
        block.code and not is_short(block.text, LONG_CODE) for block in (before, after)
    )


def _sentences(blocks: list[Block], most: int) -> Iterator[_Sentence]:
    for block in blocks:
        spans = sentences(block.text)
        for sentence, after in zip_longest(spans, spans[1:]):
            # Lines, such as those of code, are kept.
            ends = after is None or '\n' in block.text[sentence.end : after.start]
            pieces = cut_sentence(sentence, most)
            for place, piece in enumerate(pieces, 1):
                last = ends and place == len(pieces)
                yield _Sentence(piece.text, count_words(piece.text), block, last)


def _repeat(buffer: list[_Sentence], most: int) -> list[_Sentence]:
    """The last sentences of a passage that fit, but never all of it."""
    start, words = len(buffer), 0
    while start > 1 and words + buffer[start - 1].words <= most:
        start -= 1
        words += buffer[start].words
    return buffer[start:]


def _passage(file: str, buffer: list[_Sentence]) -> Passage:
    parts = []
    for sentence in buffer:
        parts += [sentence.text, '\n' if sentence.ends else ' ']
    first, last = buffer[0].block, buffer[-1].block
    source = Source(file, first.heading, place(first.unit, first.first, last.last))
    return Passage(''.join(parts[:-1]), first.title, source)


def place(unit: str, first: int, last: int) -> str:
    """A place in words: "page 3", "lines 4-9"."""
    if not first:
        return unit
    return f'{unit} {first}' if last <= first else f'{unit}s {first}-{last}'
