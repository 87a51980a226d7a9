"""
Reads records as sentences: JSON, ``key: value`` lines, Markdown tables and CSV. "R-12 /
owner: Bea Okoye" becomes "The owner of R-12 is Bea Okoye.", which a detector reads as
it reads any sentence.

All values stay where they are. What stands between two of them is replaced.
"""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile
from typing import NamedTuple

from parlai_q2.turns import Span

# Longer values and names are prose.
MAX_VALUE_WORDS, MAX_NAME_WORDS, MAX_CELL_WORDS, MAX_KEY_WORDS = 25, 6, 10, 5
_PAIR = re.compile(
    r'^[ \t]*(?:[-*+•][ \t]+)?(?:\*\*)?(?P<key>[A-Za-z][^:|\n*]{0,40}?)[ \t]*(?:\*\*)?:'
    r'(?:\*\*)?[ \t]+(?P<value>\S[^\n]*?)[ \t\r]*$',
    re.MULTILINE,
)
_PARAGRAPH = re.compile(r'\S[^\n]*(?:\n[^\n]*\S[^\n]*)*')
_LINE = re.compile(r'[^\r\n]+')
_RULE = re.compile(r'[ \t|:]*-[- \t|:]*')
_HEADING = re.compile(r'[ \t]{0,3}(?P<mark>#{1,6}[ \t]+)?(?P<name>\S.*?)[ \t]*:?')
_CAMEL = re.compile(r'(?<=[a-z])(?=[A-Z])|[_]+')
# The keys and the single values of a JSON text, in order.
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[-\w.+]+')
_SENTENCE = re.compile(r'^The [^\n]{1,164} is [^\n]{1,200}\.$', re.MULTILINE)
_SEPARATORS = ('\t', ';', ',')


class Value(NamedTuple):
    """
    A value of a record.

    :param span: its text, and where it stands.
    :param key: what it is.
    :param name: what has it; empty if the record has no name.
    :param start: where its sentence begins: at its key, or at the value.
    """

    span: Span
    key: str
    name: str
    start: int

    @property
    def head(self) -> str:
        """What its sentence says before it."""
        key = _CAMEL.sub(' ', self.key).strip().lower()
        return f'The {key} of {self.name} is ' if self.name else f'The {key} is '


class _Block(NamedTuple):
    """The values of records that stand together, and where these begin and end."""

    start: int
    end: int
    values: Sequence[Value]


def has_records(text: str) -> bool:
    """Whether a text is mostly what :func:`read_records` writes."""
    # The second one is on a line of its own.
    if '\nThe ' not in text:
        return False
    count = len(_SENTENCE.findall(text))
    return count > 1 and 2 * count >= text.count('\n') + 1


def read_records(text: str) -> list[tuple[int, int, str]]:
    """
    The edits that make the records of a text sentences, one a line: the start and the
    end of each piece to replace, and what replaces it, in order.
    """
    if text.lstrip().startswith(('{', '[')) and (values := _read_json(text)):
        return _write(text, _Block(0, len(text), values))
    if '\n' not in text:
        return []
    edits: list[tuple[int, int, str]] = []
    end = 0
    for block in sorted([*_read_tables(text), *_read_pairs(text)]):
        if block.start >= end:
            edits += _write(text, block)
            end = block.end
    return edits


def _write(text: str, block: _Block) -> list[tuple[int, int, str]]:
    edits: list[tuple[int, int, str]] = []
    last, mark = block.start, ''
    for value in block.values:
        span = value.span
        edits += [(last, value.start, mark), (value.start, span.start, value.head)]
        if span.text != text[span.start : span.end]:
            edits.append((span.start, span.end, span.text))
        last, mark = span.end, '.\n'
    return [*edits, (last, block.end, '.')]


def _is_short(text: str, most_words: int) -> bool:
    """Whether a text has at most so many words, and no end of a sentence."""
    return not text.endswith(('.', '!', '?')) and len(text.split()) <= most_words


def _read_pairs(text: str) -> Iterator[_Block]:
    """
    Lines of ``key: value``. The first key begins another record where it is repeated,
    and its value names the record; a single record is named by the line before it.
    """
    pairs: list[re.Match[str]] = []
    for pair in _PAIR.finditer(text):
        is_prose = len(pair['key'].split()) > MAX_KEY_WORDS
        if is_prose or not _is_short(pair['value'], MAX_VALUE_WORDS):
            continue
        if pairs and text[pairs[-1].end() : pair.start()].strip(' \t\r\n-'):
            yield from _name_pairs(text, pairs)
            pairs = []
        pairs.append(pair)
    yield from _name_pairs(text, pairs)


def _name_pairs(text: str, pairs: Sequence[re.Match[str]]) -> Iterator[_Block]:
    if len(pairs) < 2:
        return
    first_key = pairs[0]['key'].lower()
    starts = [n for n, pair in enumerate(pairs) if pair['key'].lower() == first_key]
    has_several = len(starts) > 1 and all(
        end - start > 1 for start, end in pairwise([*starts, len(pairs)])
    )
    name = '' if has_several else _find_name(text, pairs[0].start())
    start = text.rfind(name, 0, pairs[0].start()) if name else pairs[0].start()
    values = []
    for n, pair in enumerate(pairs):
        is_name = has_several and n in starts
        if is_name:
            name = pair['value']
        span = Span(pair['value'], *pair.span('value'))
        owner = '' if is_name else name
        values.append(Value(span, pair['key'], owner, pair.start('key')))
    yield _Block(start, pairs[-1].end('value'), values)


def _find_name(text: str, end: int) -> str:
    """The name that the line before a place gives to what follows; empty if none."""
    before = text[:end].rstrip()
    heading = _HEADING.fullmatch(before[before.rfind('\n') + 1 :])
    if heading is None or '|' in heading['name']:
        return ''
    is_next = text[len(before) : end].count('\n') == 1
    if not heading['mark'] and (heading['name'].endswith((';', ',')) or not is_next):
        return ''
    name = heading['name']
    return name if heading['mark'] or _is_short(name, MAX_NAME_WORDS) else ''


def _read_tables(text: str) -> Iterator[_Block]:
    """Markdown tables, and CSV: a header without digits and at least two rows."""
    for paragraph in _PARAGRAPH.finditer(text):
        lines = [
            Span(line[0], line.start(), line.end())
            for line in _LINE.finditer(text, *paragraph.span())
        ]
        rule = next((n for n, line in enumerate(lines) if _is_rule(line.text)), 0)
        if rule and '|' in lines[rule - 1].text:
            rows = [*takewhile(lambda line: '|' in line.text, lines[rule - 1 :])]
            header, _, *cells = [_split(row, '|') for row in rows]
        else:
            rows, (header, *cells) = lines, _split_csv(lines)
        if values := [value for row in cells for value in _read_row(header, row)]:
            yield _Block(rows[0].start, rows[-1].end, values)


def _is_rule(line: str) -> bool:
    """Whether a line is the one under the header of a Markdown table."""
    return '|' in line and _RULE.fullmatch(line) is not None


def _split_csv(lines: Sequence[Span]) -> list[list[Span]]:
    """The cells of lines; only an empty header if they are none of CSV."""
    for mark in _SEPARATORS:
        if len(lines) < 3 or mark not in lines[0].text:
            continue
        rows = [_split(line, mark) for line in lines]
        cells = [cell.text for row in rows for cell in row]
        if (
            len({len(row) for row in rows}) == 1
            and all(_is_short(cell, MAX_CELL_WORDS) for cell in cells)
            and all(cells[: len(rows[0])])
            and not any(character.isdigit() for character in lines[0].text)
        ):
            return rows
    return [[]]


def _split(line: Span, mark: str) -> list[Span]:
    """The cells of a line."""
    text, start = line.text, line.start
    if mark == '|':
        text = text.strip().removesuffix('|')
        start += line.text.index(text)
        start, text = start + text.startswith('|'), text.removeprefix('|')
    cells = []
    for piece in text.split(mark):
        cell = piece.strip().strip('"')
        place = start + piece.index(cell)
        cells.append(Span(cell, place, place + len(cell)))
        start += len(piece) + len(mark)
    return cells


def _read_row(header: Sequence[Span], row: Sequence[Span]) -> list[Value]:
    """The values of a row, which its first cell names."""
    return [
        Value(cell, key.text, row[0].text, cell.start)
        for key, cell in zip(header[1:], row[1:], strict=False)
        if key.text and cell.text
    ]


def _read_json(text: str) -> list[Value]:
    try:
        return [*_Json(text).read(json.loads(text))]
    except (ValueError, RecursionError):
        return []


class _Json:
    """Reads a JSON text, token by token beside its value."""

    def __init__(self, text: str):
        self.tokens = _JSON_TOKEN.finditer(text)

    def read(
        self, value: object, path: tuple[str, ...] = (), name: str = ''
    ) -> Iterator[Value]:
        """The values inside a value, whose keys are a path."""
        if isinstance(value, dict):
            are_records = all(isinstance(inner, dict) for inner in value.values())
            for key, inner in value.items():
                next(self.tokens)
                if are_records and len(value) > 1:
                    yield from self.read(inner, (), key)
                else:
                    yield from self.read(inner, (*path, key), name)
        elif isinstance(value, list) and any(isinstance(v, dict | list) for v in value):
            naming = _find_naming_key(value)
            for inner in value:
                if naming:
                    yield from self.read(inner, (), str(inner[naming]))
                else:
                    yield from self.read(inner, path[-1:], name)
        else:
            items = value if isinstance(value, list) else [value]
            tokens = [next(self.tokens) for _ in items]
            if path and tokens:
                yield self._make_value(items, tokens, path, name)

    @staticmethod
    def _make_value(
        items: Sequence[object],
        tokens: Sequence[re.Match[str]],
        path: Sequence[str],
        name: str,
    ) -> Value:
        start, end = tokens[0].start(), tokens[-1].end()
        start += tokens[0][0].startswith('"')
        end -= tokens[-1][0].startswith('"')
        text = ', '.join(map(_show_json, items))
        owner = '' if name == text else name
        return Value(Span(text, start, end), ' '.join(path), owner, start)


def _find_naming_key(records: Sequence[object]) -> str:
    """The first key whose values are texts that tell records apart; empty if none."""
    rows = [record for record in records if isinstance(record, dict)]
    if len(rows) < max(2, len(records)):
        return ''
    for key in rows[0]:
        names = [row.get(key) for row in rows]
        if all(isinstance(name, str) for name in names) and len({*names}) == len(rows):
            return str(key)
    return ''


def _show_json(value: object) -> str:
    if value is None:
        return 'none'
    if isinstance(value, bool):
        return 'yes' if value else 'no'
    return ' '.join(str(value).split())
