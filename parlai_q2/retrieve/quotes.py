"""
What a document says at an answer: the sentence that holds it, with those beside it that
fit; of a list or a command, with the line that introduces it; of a table's row, the
cell, with what the row is about.
"""

from collections.abc import Sequence

from parlai_q2.retrieve.readers.block import find_cells
from parlai_q2.text.sentences import count_words, sentences
from parlai_q2.turns import Span

# An entry of a FAQ, or two or three sentences.
QUOTE_WORDS = 45
# What is longer (a listing) is not said.
LONGEST_QUOTE = 90
# Of a cell that is longer, others do not say what the row is about.
LONGEST_NAME = 12


def quoted(text: str, answer: Span, words: int = QUOTE_WORDS) -> str:
    """
    What a passage says at an answer.

    :param answer: where; a blank one is at the beginning, or in a row's longest cell.
    :param words: the most words, unless one sentence has more.
    :return: empty for what is too long.

    >>> quoted('mark: red cross | line: wavy', Span('wavy', 24, 28))
    'red cross: wavy'
    """
    cells = find_cells(text)
    quote = (
        _of_row(cells, answer, words) if cells else quote_at(text, answer.start, words)
    )
    return quote if count_words(quote) <= LONGEST_QUOTE else ''


def _of_row(cells: Sequence[Span], answer: Span, words: int) -> str:
    first = cells[0]
    # Of a question, the cell after it is meant.
    said = [one for one in cells if not one.text.rstrip().endswith('?')] or cells
    longest = max(said, key=lambda one: count_words(one.text))
    cell = longest
    if answer.text.strip():
        cell = next((one for one in said if answer.start < one.end), said[-1])
    text = quote_at(cell.text, max(0, answer.start - cell.start), words)
    named = count_words(first.text) <= LONGEST_NAME and first.text[-1] not in '.?!'
    if not named:
        # As the answer of a FAQ, beside which other columns stand.
        return first.text if first.text[-1] == '.' else text
    if cell is first:
        others = [one for one in said if one is not first]
        if not others:
            return text
        text = max(others, key=lambda one: count_words(one.text)).text
    return f'{first.text}: {text}'


def quote_at(text: str, place: int, words: int = QUOTE_WORDS) -> str:
    """
    The sentence at a place of a text, with those after and before it that fit.

    :param words: the most words, unless the sentence alone has more. Questions, as
        those of a FAQ, are left out.

    >>> quote_at('Is it blue? It is red. It hums. It is old.', 13, 9)
    'It is red. It hums. It is old.'
    """
    every = sentences(text)
    if not every:
        return text
    first = last = next(
        (n for n, one in enumerate(every) if one.start <= place < one.end), 0
    )

    def fits(added: int, most: int = words) -> bool:
        return (
            0 <= added < len(every)
            and not every[added].text.rstrip().endswith('?')
            and _words(text, every, min(first, added), max(last, added)) <= most
        )

    while True:
        if fits(last + 1):
            last += 1
        elif fits(first - 1):
            first -= 1
        else:
            break
    if words and every[last].text.endswith(':'):
        # What a line introduces goes with it.
        while fits(last + 1, LONGEST_QUOTE):
            last += 1
    return text[every[first].start : every[last].end]


def _words(text: str, every: Sequence[Span], first: int, last: int) -> int:
    return count_words(text[every[first].start : every[last].end])
