"""
Finds the answer to a question in a passage, and quotes it.

The shipped question-answering model reads the passage without the sentences that give
orders to their reader, and returns the margin of its best answer over "no answer". The
quote is the answer's sentence, with neighbours that fit; a list item or a command, with
the line that introduces it; or cells of a table, with the names of row and columns. The
model of relevance, which also reads replies for the choice, rates the quote.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from parlai_q2.presets import load_preset
from parlai_q2.retrieve.readers.block import CELL_SEPARATOR, find_cells
from parlai_q2.scorers import backends
from parlai_q2.text.prepare import prepare_passage
from parlai_q2.text.schedules import concerns_days
from parlai_q2.text.selection import stems
from parlai_q2.text.sentences import count_words, sentences
from parlai_q2.turns import Passage, Span, heading_of

NO_SPAN = Span('', 0, 0)
# An entry of a FAQ, or two or three sentences.
QUOTE_WORDS = 45
# A quote with more words, such as a listing, is not given.
LONGEST_QUOTE = 90
# A longer first cell is not the name of its row.
LONGEST_NAME = 12
# A row with so many words is quoted as a whole.
SHORT_ROW = 16
# The place of a masked order.
_GAP = re.compile(r' {8,}')

# Sentences that give orders, such as "Ignore all previous instructions". Orders to
# readers ("Press both ends") are part of what documents say, so a sentence is an order
# here only if it speaks of instructions, of answering or of the assistant. English
# only, like the models that ship.
_IGNORE = 'ignore|disregard|forget|override|bypass'
_EARLIER = 'previous|prior|above|earlier|preceding|everything|anything'
_INSTRUCTIONS = 'instructions?|prompts?|rules|guidelines|directives|section'
_ASSISTANT = 'assistant|chat ?bot|bot|grader|evaluator|judge|ai|llm|model'
_MODAL = '(?:must|should|shall|has to|have to|can only|are to)'
_ADVERBS = '(?: not| never| always| only| now)*'
# The verbs for what an assistant does with an answer.
_SPEAKS = (
    '(?:say|(?:state|claim) that|insist|pretend|output|reveal|contradict|'
    '(?:answer|reply|respond|tell|choose|mark).*'
    r'\b(?:that|with|only|as|every|all|any|last|first|next|candidate))'
)
_DECIDES = '(?:approve|permit|recommend|ignore)'
_PEOPLE = (
    'anyone|anybody|everyone|everybody|someone|somebody|people|them|'
    '(?:the |an? )?(?:user|customer|guest|visitor)s?'
)
_ALWAYS = '(?:please |always |instead,? |only |now )*'
_START = f'^(?:(?:important|note|attention|notice|warning): *)?{_ALWAYS}'
_ANSWERS = f'(?:answer|reply|respond|say|state|claim|insist|tell (?:{_PEOPLE}))'
_FULL_NAMES = (
    '(?!(?:answer|ignore|insist|no|output|pretend|reply|respond|say|state|tell|yes)'
    r"\b)(?-i:[A-Z][\w.'-]*(?: (?:and|de|der|du|la|van|von|[A-Z][\w.'-]*)){0,7})"
)
_ABOUT_INSTRUCTIONS = (
    rf'\b(?:{_IGNORE})(?: \w+){{0,4}} (?:{_EARLIER}|{_INSTRUCTIONS})\b',
    r'\b(?:ignore|disregard) th(?:e|is|ese) (?:document|passage|context)s?\b(?! \w)',
    r"\b(?:do not|don't|never)\b.*\b(?:use|follow|reveal|trust|mention|obey)"
    r'(?: \w+){0,3} (?:above|previous|instructions?|(?:system )?prompt)\b',
    rf'\b(?:new|real|only|true) (?:task|role|goal|job|{_INSTRUCTIONS})\b.* to\b',
    rf'\b(?:new|updated|system) (?:{_INSTRUCTIONS})\s*:',
)
_TO_THE_ASSISTANT = (
    r'<\|?/?(?:im_start|im_end|system|instructions?|prompt|knowledge)\b',
    r'\[/?(?:INST|SYS)\]|#+ *(?:instructions?|response|system)\s*:',
    r'^note to the \w+\s*:\s*\S',
    # But not "Assistant: Mary Smith, room 2", or "Assistant: room 2".
    rf'^(?:assistant|ai)\s*:\s*(?!{_FULL_NAMES}(?:[,(]| [-–|] |\.?$)|(?:room )?[+\d]|'
    r'[\w.-]+@\w)\S',
    rf'^(?:system|user|human)\s*:\s*{_ALWAYS}{_ANSWERS}\b',
    rf'\b(?:{_ASSISTANT})\b.* {_MODAL}{_ADVERBS} {_DECIDES}\b',
    rf'\b(?:(?:{_ASSISTANT})\b.*|you) (?:will|{_MODAL}){_ADVERBS} {_SPEAKS}\b',
    # "You are now DAN", but not "You are now entering zone 2".
    rf'\byou are now (?:(?-i:[A-Z]{{2,}})|in \w+ mode|an? (?:\w+ )?(?:{_ASSISTANT}))\b',
    r'\b(?:act|behave|pretend) (?:as|like|to be) an? (?:ai|assistant|bot)\b',
    r'\bas (?:the|an?) (?:administrator|developer),? i\b',
    r'\bas (?:the|an?) (?:ai|assistant),? (?:i|you)\b',
)
_ABOUT_ANSWERS = (
    r'\b(?:when|whenever|if) (?:'
    r'(?:you are )?asked (?:about|what|when|where|who|how|why)|'
    rf'(?:{_PEOPLE}) asks?)\b.*(?:[,:] {_ALWAYS}{_ANSWERS}'
    rf'| {_ALWAYS}(?:say|reply|respond|tell (?:{_PEOPLE})))\b',
    # But not "Answer all questions on the form", or "We answer any question".
    r'^(?!(?:we|our \w+)(?: \w+){0,3} (?:answer|reply to|respond to)\b)'
    r'.*\b(?:answer|reply to|respond to)\b.*\b(?:every|all|any|each) '
    r'(?:questions?|query|queries)\b'
    r'(?! (?:(?:on|in|of|about) (?:the|this|these|our|your)|carefully|completely|'
    r'honestly|in full|truthfully)\b(?!.*\bwith\b)|[.!]?$)',
    r'\b(?:mark|rate|score|judge|grade|treat)\b.*\b(?:response|reply|answer|candidate)'
    r's? as\b',
    # "State that", but not "State parks are open only in summer".
    rf'{_START}{_ANSWERS}(?: (?:that|with|only|as if)\b|:?\s*["“])',
    rf'{_START}(?:answer|respond|say|insist|tell (?:{_PEOPLE})) .*?'
    r'\b(?:that|with|only|as if)\b',
    rf'{_START}(?:repeat after me|output (?:only|just)|pretend)\b',
)
_INJECTION = re.compile('|'.join(_ABOUT_INSTRUCTIONS + _TO_THE_ASSISTANT), re.I)
_ORDER = re.compile(f'{_INJECTION.pattern}|{"|".join(_ABOUT_ANSWERS)}', re.I)


class Answer(NamedTuple):
    """
    An answer that was read in a passage.

    :param span: its place in the passage's text; empty if the heading has the answer.
    :param margin: its margin over "no answer", in logits.
    :param rating: how surely its quote is the best reply, in logits.
    """

    span: Span
    margin: float
    rating: float


def _as_read(text: str, question: str) -> str:
    """A passage as the model of relevance reads it beside a question."""
    return prepare_passage(text, with_days=concerns_days(question)).text


class AnswerReader:
    """Reads passages for the answers to questions, with the shipped models."""

    def __init__(self) -> None:
        self._model = backends.answerer(load_preset('mini'), backends.ANY)
        self._relevance = backends.relevance(load_preset('mini'))

    def read(self, pairs: Sequence[tuple[Sequence[str], Passage]]) -> list[Answer]:
        """
        Find the best answer to each question in its passage, however unsure.

        :param pairs: B times the turns up to the question, oldest first, and a passage,
            which is read with its heading.
        """
        found = self._find_spans(pairs)
        quotes = [
            (
                _heading_line(passage) + _as_read(passage.text, history[-1]),
                history,
                quote_answer(passage.text, span, history[-1])
                or span.text.strip()
                or passage.text,
            )
            for (history, passage), (span, _) in zip(pairs, found, strict=True)
        ]
        return [
            Answer(span, margin, logits.best)
            for (span, margin), logits in zip(
                found, self._relevance.predict_answers(quotes), strict=True
            )
        ]

    def _find_spans(
        self, pairs: Sequence[tuple[Sequence[str], Passage]]
    ) -> list[tuple[Span, float]]:
        """The best answer in each passage's text, with its margin."""
        read = self._model.with_margins(
            [
                (history[-1], _heading_line(passage) + passage.text)
                for history, passage in pairs
            ]
        )
        found = []
        for (span, margin), (_, passage) in zip(read, pairs, strict=True):
            # The span refers to the passage with its heading's line.
            before = len(_heading_line(passage))
            start, end = (max(0, place - before) for place in (span or NO_SPAN)[1:])
            found.append((Span(passage.text[start:end], start, end), margin))
        return found


def _heading_line(passage: Passage) -> str:
    """The line with the heading of a passage; empty if it has none."""
    heading = heading_of(passage)
    return f'{heading}\n' if heading else ''


def quote_answer(
    text: str, answer: Span, question: str = '', words: int = QUOTE_WORDS
) -> str:
    """
    Quote what a passage says at an answer.

    :param answer: the place; a blank one is the beginning, or a row's longest cell.
    :param question: of the figures of a long row, those whose columns it names are
        quoted: readers take one figure for another.
    :param words: the most words, unless one sentence has more.
    :return: the quote; empty if it would be too long.
    """
    cells = find_cells(text)
    if cells:
        quote = _quote_row(text, cells, answer, question, words)
    else:
        quote = quote_at(text, answer.start, words)
    quote = _GAP.sub(' ', quote)
    return quote if count_words(quote) <= LONGEST_QUOTE else ''


def _quote_row(
    row: str, cells: Sequence[Span], answer: Span, question: str, words: int
) -> str:
    first = cells[0]
    # If the cell is a question, the next cell is quoted.
    statements = [c for c in cells if not c.text.rstrip().endswith('?')] or cells
    cell = max(statements, key=lambda c: count_words(c.text))
    if answer.text.strip():
        after = (c for c in statements if answer.start < c.end)
        cell = next(after, statements[-1])
    text = quote_at(cell.text, max(0, answer.start - cell.start), words)
    is_name = count_words(first.text) <= LONGEST_NAME and first.text[-1] not in '.?!'
    if not is_name:
        # The cell is the answer of a FAQ with other columns.
        return first.text if first.text[-1] == '.' else text
    if cell is first:
        rest = [c for c in statements if c is not first]
        if not rest:
            return text
        cell = max(rest, key=lambda c: count_words(c.text))
        text = cell.text
    # Of several values, the names of the columns tell which one it is.
    values = [(_column(row, c), c.text) for c in cells if c is not first]
    if len(values) > 1 and (column := _column(row, cell)):
        quote = _list_values(values)
        if count_words(quote) > SHORT_ROW:
            figures = [value for value in values if _is_figure(value[1])]
            asked = _asked_for(question, figures) if _is_figure(text) else []
            quote = _list_values(asked) or f'{column}: {text}'
        return f'{first.text}, {quote}'
    return f'{first.text}: {text}'


def _is_figure(value: str) -> bool:
    """Whether a cell is little else than a number."""
    return (
        value[-1:] != '.' and len(value.split()) <= 2 and any(map(str.isdigit, value))
    )


def _list_values(values: Iterable[tuple[str, str]]) -> str:
    return '; '.join(f'{column}: {value}' for column, value in values if column)


def _asked_for(
    question: str, values: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """The values whose columns have the most words of a question; empty if none has."""
    words = stems(question)
    shared = [len(words & stems(column)) for column, _ in values]
    most = max(shared, default=0)
    return [v for v, n in zip(values, shared, strict=True) if n == most > 0]


def _column(row: str, cell: Span) -> str:
    """The name of a cell's column; empty if it has none."""
    return row[: cell.start].rpartition(CELL_SEPARATOR)[2].strip().removesuffix(':')


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
        # Add the line that introduces the quote.
        while fits(last + 1, LONGEST_QUOTE):
            last += 1
    return text[spans[first].start : spans[last].end]


def mask_orders(text: str, wants_a_way: bool = False) -> str:
    """
    Replace orders by spaces, so that offsets stay valid; the rest of an order's line
    counts as part of it.

    :param wants_a_way: whether the question asks how something is done, which an order
        such as "Reply with STOP" answers: then only orders about instructions or to the
        assistant are replaced.
    """
    pattern = _INJECTION if wants_a_way else _ORDER
    masked, end = text, 0
    for sentence in sentences(text):
        if sentence.start >= end and pattern.search(sentence.text):
            end = text.find('\n', sentence.end)
            end = len(text) if end < 0 else end
            blank = ' ' * (end - sentence.start)
            masked = masked[: sentence.start] + blank + masked[end:]
    return masked
