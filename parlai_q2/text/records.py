"""
Reads records as sentences: JSON, ``key: value`` lines, Markdown tables, CSV rows, and
headings with short lines below them. "R-12 / owner: Bea Okoye" becomes "The owner of
R-12 is Bea Okoye.", which a detector reads as it reads any sentence.
"""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from parlai_q2.json_values import JsonObject
from parlai_q2.text.schedules import OF_A_DAY

# The keys whose value names a record, the best first.
NAME_KEYS = ('name', 'title', 'id', 'product', 'item', 'category', 'code', 'label')
# A longer list without a structure is a text.
MAX_LIST_LINES = 30
# Longer values and lines are prose.
MAX_VALUE_WORDS, MAX_NAME_WORDS, MAX_LINE_WORDS, MAX_KEY_WORDS = 25, 6, 10, 5
_PAIR = re.compile(
    r'^[ \t]*(?:[-*+•][ \t]+)?(?:\*\*)?(?P<key>[A-Za-z][^:|\n*]{0,40}?)[ \t]*(?:\*\*)?:'
    r'(?:\*\*)?[ \t]+(?P<value>\S[^\n]*?)[ \t]*$'
)
_RULE = re.compile(r'^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*:?-*:?[ \t]*\|?[ \t]*$')
_HEADING = re.compile(r'^[ \t]{0,3}(?P<mark>#{1,6}[ \t]+)?(?P<text>\S[^\n]*?)[ \t]*:?$')
_ENDS = ('.', '!', '?', ':', ';', ',')
# Keys that are days: "Mon to Fri".
_DAY = re.compile(
    r'(?:mon|tue|wed|thu|fri|sat|sun)(?:\w*day)?s?\b|weekdays?\b|weekends?\b', re.I
)
_CAMEL = re.compile(r'(?<=[a-z])(?=[A-Z])|[_]+')
_STATEMENT = re.compile(
    r'^The [^\n]{1,80} (?:of [^\n]{1,80} )?is [^\n]{1,200}\.$', re.M
)


_NUMBER = re.compile(r'\W*\d')
# A cell of a row, by the mark between cells; one in quotes may have the mark in it.
_CELL = {
    mark: re.compile(
        rf'(?:^|{re.escape(mark)})([ ]*"[^"\n]*"[ ]*(?=$|{re.escape(mark)})|[^{mark}]*)'
    )
    for mark in '|\t;,'
}


class Cell(NamedTuple):
    """A line of a text, or a piece of it, and where it starts."""

    text: str
    start: int

    @property
    def places(self) -> list[int]:
        """Where each of its characters stands."""
        return list(range(self.start, self.start + len(self.text)))


class Statement(NamedTuple):
    """A value of a record, with its key and the record's name."""

    key: Cell
    value: Cell
    name: Cell | None = None

    def write(self) -> tuple[str, list[int]]:
        """The sentence, and where each of its characters stands."""
        key = _CAMEL.sub(' ', self.key.text).strip() if self.key.text else ''
        name = self.name.text if self.name else ''
        if name and _DAY.match(key):
            head = f'The time of {name} ({key}) is '
        else:
            owner = f' of {name}' if name else ''
            head = f'The {key.lower()}{owner} is ' if key else f'{name}: '
        value = self.value
        end = value.start + max(0, len(value.text) - 1)
        places = [*[self.key.start] * len(head), *value.places, end]
        return f'{head}{value.text}.', places


def has_records(text: str) -> bool:
    """Whether a text is mostly what :func:`read_records` writes."""
    # The second one is on a line of its own.
    if '\nThe ' not in text:
        return False
    statements = len(_STATEMENT.findall(text))
    lines = text.count('\n') + 1 - len(OF_A_DAY.findall(text))
    return statements > 1 and 2 * statements >= lines


def read_records(text: str) -> tuple[str, list[int]] | None:
    """
    A text with its records as sentences, one a line; other lines are kept.

    :return: the new text, and for each of its characters the place in the old one that
        it was made of; None if there are no records.
    """
    if '\n' not in text and not text.lstrip().startswith(('{', '[')):
        return None
    parts: list[Statement | Cell] = [*_read_json_statements(text)]
    if not parts:
        parts = list(_read_lines(_split_lines(text)))
        if not any(isinstance(part, Statement) for part in parts):
            return None
    sentences: list[str] = []
    places: list[int] = []
    for part in parts:
        if isinstance(part, Statement):
            sentence, origins = part.write()
        else:
            sentence, origins = part.text, part.places
        sentences.append(sentence)
        places += [min(place, len(text) - 1) for place in origins]
        places.append(places[-1] if places else 0)
    return '\n'.join(sentences), places[:-1]


def _split_lines(text: str) -> list[Cell]:
    lines, start = [], 0
    for line in text.splitlines(keepends=True):
        lines.append(Cell(line.rstrip('\r\n'), start))
        start += len(line)
    return lines


def _read_lines(lines: Sequence[Cell]) -> Iterator[Statement | Cell]:
    place = 0
    while place < len(lines):
        for read in (_read_table, _read_pairs, _read_rows, _read_list):
            statements, count = read(lines, place)
            if count:
                yield from statements
                place += count
                break
        else:
            yield lines[place]
            place += 1


def _read_pairs(lines: Sequence[Cell], place: int) -> tuple[list[Statement], int]:
    """
    Lines of ``key: value``, and a line before them that names the record. The first key
    begins another record where it is repeated.
    """
    name, first = _read_name(lines, place)
    pairs: list[tuple[Cell, Cell]] = []
    for line in islice(lines, place + first, None):
        m = _PAIR.match(line.text)
        if m is None or not _is_short(m['value'], MAX_VALUE_WORDS):
            break
        if len(m['key'].split()) > MAX_KEY_WORDS:
            break
        key, value = m['key'], m['value']
        pairs.append(
            (
                Cell(key, line.start + m.start('key')),
                Cell(value, line.start + m.start('value')),
            )
        )
    if len(pairs) < 2:
        return [], 0
    records = _split_records(pairs)
    if len(records) == 1:
        return _name_pairs(pairs, name), first + len(pairs)
    statements: list[Statement] = []
    for record in records:
        statements += _name_pairs(record, _find_name(record) or record[0][1])
    return statements, first + len(pairs)


def _split_records(
    pairs: Sequence[tuple[Cell, Cell]],
) -> list[Sequence[tuple[Cell, Cell]]]:
    """Pairs cut before each repetition of the first key; not if one is left alone."""
    first_key = pairs[0][0].text.lower()
    starts = [n for n, (key, _) in enumerate(pairs) if key.text.lower() == first_key]
    ends = [*starts[1:], len(pairs)]
    records = [pairs[start:end] for start, end in zip(starts, ends, strict=True)]
    return [pairs] if min(map(len, records)) < 2 else records


def _is_short(text: str, most_words: int) -> bool:
    """Whether a text has at most so many words, and no end of a sentence."""
    return not text.endswith(('.', '!', '?')) and len(text.split()) <= most_words


def _read_name(lines: Sequence[Cell], place: int) -> tuple[Cell | None, int]:
    """The name that a line gives what follows it, and whether there is such a line."""
    m = _HEADING.match(lines[place].text)
    if m is None or _PAIR.match(lines[place].text):
        return None, 0
    text = m['text']
    if not m['mark'] and text.endswith(_ENDS) and not lines[place].text.endswith(':'):
        return None, 0
    if len(text.split()) > MAX_NAME_WORDS or '|' in text:
        return None, 0
    skipped = 1
    while place + skipped < len(lines) and not lines[place + skipped].text.strip():
        skipped += 1
    if skipped > 1 and not m['mark']:
        return None, 0
    return Cell(text, lines[place].start + m.start('text')), skipped


def _find_name(pairs: Sequence[tuple[Cell, Cell]]) -> Cell | None:
    keys = {key.text.lower(): value for key, value in pairs}
    return next((keys[key] for key in NAME_KEYS if key in keys), None)


def _name_pairs(
    pairs: Sequence[tuple[Cell, Cell]], name: Cell | None
) -> list[Statement]:
    name = name or _find_name(pairs)
    return [
        Statement(key, value, None if value is name else name) for key, value in pairs
    ]


def _read_table(lines: Sequence[Cell], place: int) -> tuple[list[Statement], int]:
    """A Markdown table: a header, a rule, and rows."""
    if len(lines) - place < 3 or '|' not in lines[place].text:
        return [], 0
    if not _RULE.match(lines[place + 1].text):
        return [], 0
    header = _cells(lines[place], '|')
    rows = 2
    statements: list[Statement] = []
    while place + rows < len(lines) and '|' in lines[place + rows].text:
        statements += _read_row(header, _cells(lines[place + rows], '|'))
        rows += 1
    return statements, rows if statements else 0


def _read_rows(
    lines: Sequence[Cell], place: int, marks: Sequence[str] = '|\t;,'
) -> tuple[list[Statement], int]:
    """
    CSV, or a table without a rule: a header, and at least two rows of as many short
    cells.
    """
    if len(lines) - place < 3:
        return [], 0
    for mark in marks:
        header = _cells(lines[place], mark)
        if not _may_be_header(header, mark):
            continue
        statements: list[Statement] = []
        rows, has_values, has_digits = 1, False, False
        for line in islice(lines, place + 1, None):
            cells = _cells(line, mark)
            if len(cells) != len(header) or not _are_cells(cells):
                break
            statements += _read_row(header, cells)
            # Without values, lines that end with commas would be a table.
            has_values = has_values or any(cell.text for cell in cells[1:])
            has_digits = has_digits or _has_digit(line.text)
            rows += 1
        # Without a digit, lines with bars may be links.
        is_table = has_values and (has_digits or mark != '|')
        if rows > 2 and is_table and _are_cells(header):
            return statements, rows
    return [], 0


def _may_be_header(cells: Sequence[Cell], mark: str) -> bool:
    """Whether cells may be the names of columns; "Under 18" only in a table."""
    if len(cells) < (3 if mark == '|' else 2) or not all(cell.text for cell in cells):
        return False
    if mark == '|':
        return not any(_NUMBER.match(cell.text) for cell in cells)
    return not any(_has_digit(cell.text) for cell in cells)


def _are_cells(cells: Sequence[Cell]) -> bool:
    return all(_is_short(cell.text, MAX_LINE_WORDS) for cell in cells)


def _has_digit(text: str) -> bool:
    return any(character.isdigit() for character in text)


def _cells(line: Cell, mark: str) -> list[Cell]:
    text, start = line.text, line.start
    if mark == '|':
        inside = text.strip().removeprefix('|').removesuffix('|')
        start += text.index(inside) if inside else 0
        text = inside
    cells = []
    for match in _CELL[mark].finditer(text):
        piece = match[1]
        stripped = piece.strip().strip('"')
        offset = piece.index(stripped) if stripped else 0
        cells.append(Cell(stripped, start + match.start(1) + offset))
    return cells


def _read_row(header: Sequence[Cell], cells: Sequence[Cell]) -> list[Statement]:
    name = cells[0] if cells and cells[0].text else None
    values = [
        Statement(Cell(key.text, value.start), value, name)
        for key, value in zip(header[1:], cells[1:], strict=False)
        if value.text.strip('-–—') and key.text
    ]
    if not values and name and header[0].text:
        # Nothing else would name it.
        return [Statement(Cell(header[0].text, name.start), name)]
    return values


def _read_list(lines: Sequence[Cell], place: int) -> tuple[list[Statement], int]:
    """A heading with at least two short lines below it."""
    name, first = _read_name(lines, place)
    below = place + first
    if name is None or _read_table(lines, below)[1] or _read_rows(lines, below, '|')[1]:
        return [], 0
    heading = lines[place].text
    is_marked = heading.lstrip().startswith('#') or heading.endswith(':')
    rows = []
    for line in islice(lines, below, None):
        text = line.text.strip().lstrip('-*+• ')
        is_item = text and not text.endswith(':') and text.count('|') < 2
        if not is_item or not _is_short(text, MAX_LINE_WORDS):
            break
        rows.append(Cell(text, line.start + line.text.index(text)))
        if len(rows) > MAX_LIST_LINES:
            return [], 0
    if len(rows) < 2 or not (is_marked or any(_has_digit(row.text) for row in rows)):
        return [], 0
    days = [_DAY.match(row.text) is not None for row in rows]
    if _DAY.match(heading) or (any(days) and not all(days)):
        return [], 0  # a day above its hours, or a second heading
    statements = [Statement(Cell('', row.start), row, name) for row in rows]
    return statements, first + len(rows)


def _read_json_statements(text: str) -> list[Statement]:
    if not text.lstrip().startswith(('{', '[')):
        return []
    try:
        return list(_Leaves(text).read(json.loads(text), (), None))
    except (ValueError, RecursionError):
        return []


def _find_naming_key(records: Sequence[object]) -> str:
    """The first key whose values are texts that tell records apart; empty if none."""
    rows = [record for record in records if isinstance(record, dict)]
    for key in rows[0] if len(rows) > 1 else ():
        names = [row.get(key) for row in rows]
        if all(isinstance(name, str) for name in names) and len({*names}) == len(rows):
            return str(key)
    return ''


class _Leaves:
    """The leaves of a JSON value, each with where it stands in the text."""

    def __init__(self, text: str):
        self.text, self.place = text, 0

    def read(
        self, value: object, path: tuple[str, ...], name: Cell | None, naming: str = ''
    ) -> Iterator[Statement]:
        if isinstance(value, dict):
            if named := self._find_name(value, naming):
                name = named
            for key, inner in value.items():
                self._seek(json.dumps(key, ensure_ascii=False), key)
                yield from self.read(inner, (*path, key), name)
        elif isinstance(value, list) and any(isinstance(v, dict | list) for v in value):
            own_naming = _find_naming_key(value)
            for inner in value:
                # "The amount of groceries" needs no "categories".
                has_name = isinstance(inner, dict) and self._find_name(
                    inner, own_naming
                )
                path_of_inner = () if has_name else path[-1:]
                yield from self.read(inner, path_of_inner, name, own_naming)
        elif path:
            yield self._write(value, path, name)

    def _write(
        self, value: object, path: tuple[str, ...], name: Cell | None
    ) -> Statement:
        key = Cell(' '.join(path), self.place)
        items = value if isinstance(value, list) else [value]
        # An empty list says that there are none.
        text = ', '.join(map(_show_json, items)) or 'none'
        start = self._seek(_dump(items[0]) if items else '[]', text[:1])
        cell = Cell(text, start)
        is_name = name is not None and name.text == text
        return Statement(key, cell, None if is_name else name)

    def _seek(self, dumped: str, text: str) -> int:
        at = self.text.find(dumped, self.place)
        if at >= 0:
            self.place = at
        return min(self.place + (dumped[:1] == '"'), max(0, len(self.text) - 1))

    def _find_name(self, value: JsonObject, naming: str) -> Cell | None:
        keys = {str(key).lower(): v for key, v in value.items()}
        for key in (*NAME_KEYS, naming.lower()):
            if isinstance(named := keys.get(key), str | int) and str(named).strip():
                return Cell(str(named), self.place)
        return None


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _show_json(value: object) -> str:
    if value is None:
        return 'none'
    if isinstance(value, bool):
        return 'yes' if value else 'no'
    return ' '.join(str(value).split())
