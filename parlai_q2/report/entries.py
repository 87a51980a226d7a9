"""
Converts scored records, as ``parlai_q2 score`` writes them, to the data of the page.

A record has ``response``, ``score`` and ``label``. The fields ``knowledge`` (a text or
a list of passages), ``history``, ``id``, ``fallback``, ``verdicts``, ``statements``,
``parts``, ``signature``, ``q2_label`` (a human label) and ``rerank`` (the candidates it
was chosen from) may be missing. Texts are cut at their spans here, because spans count
characters, which a browser counts differently.
"""

from typing import Any, Callable, Mapping, Optional, Sequence

from parlai_q2.claims import Statement, Verdict, explained_row
from parlai_q2.errors import InputError
from parlai_q2.io.strict_json import is_number
from parlai_q2.report.spans import (
    Piece,
    evidence_of,
    knowledge_pieces,
    response_pieces,
    status_of,
    title_of,
)
from parlai_q2.text.visible import one_line, visible
from parlai_q2.turns import Passage, Span, passages_of

Entry = dict[str, Any]

# What evidence of the wrong shape raises.
UNREADABLE = (KeyError, TypeError, AttributeError)


def read_entry(record: Mapping[str, Any], place: int = 1) -> Entry:
    """
    Convert one scored record to the page's data.

    :param record: the record, with the fields listed above. Others are ignored.
    :param place: its place among the records, from 1; replaces a missing id.
    :return: JSON-safe values without NaN; control characters are shown as escapes.
    :raises InputError: when a field, which is named, cannot be shown.
    """
    if not isinstance(record, Mapping):
        raise InputError(
            f'a scored record is a JSON object, not {type(record).__name__}'
        )
    response, passages = _text(record, 'response'), _passages(record.get('knowledge'))
    verdicts = _verdicts(record.get('verdicts'))
    statements = _statements(record.get('statements'))
    history = record.get('history') or []
    history = _list([history] if isinstance(history, str) else history, 'history')
    name = record.get('id')
    return {
        'id': one_line(str(place if name is None or name == '' else name)),
        'score': _unit(record, 'score'),
        'label': one_line(_text(record, 'label')),
        'class': one_line(str(record.get('q2_label') or '')),
        'fallback': bool(record.get('fallback')),
        'response': _pieces(response_pieces(response, verdicts)),
        'knowledge': _pieces(knowledge_pieces(passages, verdicts, statements)),
        'history': [visible(str(turn)) for turn in history],
        'verdicts': [_verdict(verdict, passages) for verdict in verdicts],
        'statements': [_statement(one, passages) for one in statements],
        'parts': _parts(record.get('parts')),
        'signature': one_line(str(record.get('signature') or '')),
        'rerank': read_candidates(record.get('rerank'), passages),
    }


def read_knowledge(knowledge: Any, candidate: Mapping[str, Any]) -> list[list[Any]]:
    """
    Convert a turn's knowledge to the page's data, cut at the evidence of a candidate,
    which may be empty.

    :raises InputError: when one of both cannot be read.
    """
    candidate = explained_row(candidate)
    verdicts = _verdicts(candidate.get('verdicts'))
    statements = _statements(candidate.get('statements'))
    return _pieces(knowledge_pieces(_passages(knowledge), verdicts, statements))


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        found = 'missing' if name not in fields else f'a {type(value).__name__}'
        raise InputError(f'{name!r} must be a string and is {found}')
    return value


def _list(values: Any, name: str) -> Sequence[Any]:
    if values is not None and not isinstance(values, (list, tuple)):
        raise InputError(f'{name!r} must be a list, not {type(values).__name__}')
    return values or ()


def _number(value: Any) -> Optional[float]:
    """A finite number, rounded for display; None for anything else."""
    return round(float(value), 4) if is_number(value) else None


def _unit(fields: Mapping[str, Any], name: str) -> float:
    number = _number(fields.get(name))
    if number is None or not 0 <= number <= 1:
        raise InputError(f'{name!r} must be in [0, 1] and is {fields.get(name)!r}')
    return number


def _verdicts(values: Any) -> list[Verdict]:
    def contents(verdict: Verdict) -> tuple[list[Span], list[int], list[str]]:
        answers = verdict.response_answer, verdict.knowledge_answer
        spans = [answer for answer in answers if answer is not None]
        return spans, [], [verdict.question, verdict.comparison]

    return _evidence(values, 'verdict', Verdict, contents)


def _statements(values: Any) -> list[Statement]:
    def contents(statement: Statement) -> tuple[list[Span], list[int], list[str]]:
        spans = [statement.span, *(e.sentence for e in statement.evidence)]
        return spans, [e.passage for e in statement.evidence], [statement.label]

    return _evidence(values, 'statement', Statement, contents)


def _evidence(values: Any, name: str, kind: Any, contents: Callable) -> list[Any]:
    """
    Read verdicts or statements, and check their types.

    :param contents: gives the spans of one, and its other whole numbers and texts.
    """
    found = []
    for place, value in enumerate(_list(values, f'{name}s'), start=1):
        what = f'{name} {place}'
        try:
            one = kind.from_dict(value)
            spans, numbers, texts = contents(one)
        except UNREADABLE as e:
            problem = f'field {e} is missing' if isinstance(e, KeyError) else str(e)
            raise InputError(f'{what} cannot be read: {problem}') from e
        numbers += [offset for span in spans for offset in span[1:]]
        if not all(type(number) is int for number in numbers):
            raise InputError(f'{what} has offsets that are not whole numbers')
        if not all(isinstance(t, str) for t in (*texts, *(s.text for s in spans))):
            raise InputError(f'{what} has a text that is not a string')
        _unit({'score': one.score}, 'score')
        found.append(one)
    return found


def _verdict(verdict: Verdict, passages: Sequence[Passage]) -> dict[str, Any]:
    answer = verdict.knowledge_answer
    # What was marked without a question is told apart by its place.
    more: dict[str, Any] = {}
    if not verdict.question:
        more['at'] = list(verdict.response_answer[1:])
    title = title_of(verdict.passage, passages)
    if answer and title:
        more['title'] = one_line(title)
    return {
        **more,
        'question': visible(verdict.question),
        'response': visible(verdict.response_answer.text),
        'knowledge': visible(answer.text) if answer else None,
        'comparison': one_line(verdict.comparison),
        'score': _number(verdict.score),
        'status': status_of(verdict),
    }


def _passages(knowledge: Any) -> tuple[Passage, ...]:
    if knowledge is not None and not isinstance(knowledge, (str, list, tuple)):
        raise InputError(
            "'knowledge' must be a string or a list of passages, not a "
            f'{type(knowledge).__name__}'
        )
    return passages_of(knowledge or '')


def _statement(statement: Statement, passages: Sequence[Passage]) -> dict[str, Any]:
    return {
        'text': visible(statement.span.text),
        'score': _number(statement.score),
        'label': one_line(statement.label),
        'evidence': [
            [one_line(title), visible(text)]
            for title, text in evidence_of(statement, passages)
        ],
    }


def _pieces(pieces: Sequence[Piece]) -> list[list[Any]]:
    """Pieces as ``[text]`` or ``[text, status, indices of its verdicts]``."""
    return [
        [visible(p.text), p.status, list(p.verdicts)] if p.status else [visible(p.text)]
        for p in pieces
    ]


def _parts(values: Any) -> dict[str, float]:
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise InputError(f"'parts' must be an object, not {type(values).__name__}")
    numbers = {one_line(str(name)): _number(value) for name, value in values.items()}
    return {name: n for name, n in sorted(numbers.items()) if n is not None}


def read_candidates(
    values: Any, passages: Sequence[Passage] = ()
) -> list[dict[str, Any]]:
    """
    Convert the candidates of one turn to the page's data.

    :param values: rows as the reranking agent's evidence has them, or None.
    :param passages: the turn's knowledge, whose titles are shown.
    :return: values as in :func:`read_entry`.
    :raises InputError: when a candidate, which is named, cannot be shown.
    """
    found = []
    for place, value in enumerate(_list(values, 'rerank'), start=1):
        try:
            found.append(_candidate(value, passages))
        except (InputError, AttributeError, TypeError, ValueError) as e:
            raise InputError(f'candidate {place} cannot be read: {e}') from e
    return found


def _candidate(value: Mapping[str, Any], passages: Sequence[Passage]) -> dict[str, Any]:
    value = explained_row(value)
    text, verdicts = _text(value, 'text'), _verdicts(value.get('verdicts'))
    score = value.get('score')
    return {
        'response': _pieces(response_pieces(text, verdicts)),
        'verdicts': [_verdict(verdict, passages) for verdict in verdicts],
        'statements': [
            _statement(one, passages) for one in _statements(value.get('statements'))
        ],
        'score': None if score is None else _unit(value, 'score'),
        'label': one_line(str(value.get('label') or '')),
        'fallback': bool(value.get('fallback')),
        'parts': _parts(value.get('parts')),
        'generator': _number(value.get('generator_score')),
        'strategies': [one_line(str(name)) for name in value.get('strategies') or ()],
        # Evidence may have been looked for and be none.
        'explained': bool(value.get('evidence')),
        'chosen': bool(value.get('chosen')),
        'first': bool(value.get('first')),
        'note': '; '.join(notes_of(value)),
    }


def notes_of(row: Mapping[str, Any]) -> list[str]:
    """Short notes, usually none or one, on why a reranked candidate has its place."""
    notes = []
    if row.get('reason'):
        notes.append(one_line(str(row['reason'])))
    guards, counted = row.get('guards') or (), row.get('guarded_score')
    if guards and counted is not None and counted != row.get('score'):
        names = ' and '.join(one_line(str(guard)) for guard in guards)
        notes.append(f'counted as {counted:.2f}, as a {names}')
    parts = row.get('parts')
    unread = parts.get('unread') if isinstance(parts, Mapping) else None
    if is_number(unread) and unread:
        notes.append(f'{unread:.0%} of a text not read')
    if row.get('q2_label'):
        notes.append(f'annotation {one_line(str(row["q2_label"]))}')
    return notes


def before_and_after(
    candidates: Sequence[Mapping[str, Any]],
) -> tuple[Optional[Mapping[str, Any]], Optional[Mapping[str, Any]]]:
    """The generator's first candidate and the chosen one, perhaps the same; or None."""
    first = next((c for c in candidates if c.get('first')), None)
    chosen = next((c for c in candidates if c.get('chosen')), None)
    return first, chosen
