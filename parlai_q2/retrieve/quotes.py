"""
Quotes the answer in a document: its sentence, with neighbours that fit; a list item or
a command, with the line that introduces it; or a cell of a table, with the name of its
row.
"""

import re
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
# Where an order was masked.
_GAP = re.compile(r' {8,}')


def quote_answer(text: str, answer: Span, words: int = QUOTE_WORDS) -> str:
    """
    Quote what a passage says at an answer.

    :param answer: where; a blank one is at the beginning, or in a row's longest cell.
    :param words: the most words, unless one sentence has more.
    :return: empty for what is too long.

    >>> quote_answer('mark: red cross | line: wavy', Span('wavy', 24, 28))
    'red cross: wavy'
    """
    cells = find_cells(text)
    if cells:
        quote = _quote_row(cells, answer, words)
    else:
        quote = quote_at(text, answer.start, words)
    quote = _GAP.sub(' ', quote)
    return quote if count_words(quote) <= LONGEST_QUOTE else ''


def _quote_row(cells: Sequence[Span], answer: Span, words: int) -> str:
    first = cells[0]
    # Of a question, the cell after it is meant.
    statements = [c for c in cells if not c.text.rstrip().endswith('?')] or cells
    cell = max(statements, key=lambda c: count_words(c.text))
    if answer.text.strip():
        after = (c for c in statements if answer.start < c.end)
        cell = next(after, statements[-1])
    text = quote_at(cell.text, max(0, answer.start - cell.start), words)
    is_name = count_words(first.text) <= LONGEST_NAME and first.text[-1] not in '.?!'
    if not is_name:
        # As the answer of a FAQ, beside which other columns stand.
        return first.text if first.text[-1] == '.' else text
    if cell is first:
        rest = [c for c in statements if c is not first]
        if not rest:
            return text
        text = max(rest, key=lambda c: count_words(c.text)).text
    return f'{first.text}: {text}'


def quote_at(text: str, place: int, words: int = QUOTE_WORDS) -> str:
    """
    Quote the sentence at a place of a text, with those after and before it that fit.

    :param words: the most words, unless the sentence alone has more. Questions, as
        those of a FAQ, are left out.

    >>> quote_at('Is it blue? It is red. It hums. It is old.', 13, 9)
    'It is red. It hums. It is old.'
    """
    spans = sentences(text)
    if not spans:
        return text.strip()
    first = last = next(
        (n for n, span in enumerate(spans) if span.start <= place < span.end), 0
    )

    def fits(added: int, limit: int = words) -> bool:
        if not 0 <= added < len(spans) or spans[added].text.rstrip().endswith('?'):
            return False
        start, end = spans[min(first, added)].start, spans[max(last, added)].end
        return count_words(text[start:end]) <= limit

    while fits(last + 1) or fits(first - 1):
        if fits(last + 1):
            last += 1
        else:
            first -= 1
    if words and spans[last].text.endswith(':'):
        # What a line introduces goes with it.
        while fits(last + 1, LONGEST_QUOTE):
            last += 1
    return text[spans[first].start : spans[last].end]
