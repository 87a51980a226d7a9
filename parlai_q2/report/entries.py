"""
Converts scored records, as ``parlai_q2 score`` writes them, to the data of the page.

A record has ``response``, ``score`` and ``label``. The fields ``knowledge``,
``history``, ``id``, ``fallback``, ``verdicts``, ``parts``, ``signature``, ``q2_label``
(a human label) and ``rerank`` (the candidates it was chosen from) may be missing. Texts
are cut at their spans here, because spans count characters, which a browser counts
differently.
"""

from typing import Any, Mapping, Optional, Sequence

from parlai_q2.errors import InputError
from parlai_q2.io.strict_json import is_number
from parlai_q2.records import Verdict
from parlai_q2.report.candidates import notes_of
from parlai_q2.report.spans import (
    Piece,
    knowledge_pieces,
    response_pieces,
    status_of,
)
from parlai_q2.text.visible import one_line, visible

Entry = dict[str, Any]


def read_entry(record: Mapping[str, Any], place: int = 1) -> Entry:
    """
    Convert one scored record to the page's data.

    :param record: the record, with the fields listed above. Others are ignored.
    :param place: its place among the records, from 1; replaces a missing id.
    :return: JSON-safe values without NaN; control characters are shown as escapes.
    :raises InputError: when the record cannot be shown; the message says which field
        and why.
    """
    if not isinstance(record, Mapping):
        raise InputError(
            f'a scored record is a JSON object, not {type(record).__name__}'
        )
    response, knowledge = _text(record, 'response'), _text(record, 'knowledge', '')
    verdicts = _verdicts(record.get('verdicts'))
    history = record.get('history') or []
    if isinstance(history, str):
        history = [history]
    if not isinstance(history, (list, tuple)):
        raise InputError(f"'history' must be a list, not {type(history).__name__}")
    name = record.get('id')
    entry = {
        'id': one_line(str(place if name is None or name == '' else name)),
        'score': _unit(record, 'score'),
        'label': one_line(_text(record, 'label')),
        'class': one_line(str(record.get('q2_label') or '')),
        'fallback': bool(record.get('fallback')),
        'response': _pieces(response_pieces(response, verdicts)),
        'knowledge': _pieces(knowledge_pieces(knowledge, verdicts)),
        'history': [visible(str(turn)) for turn in history],
        'verdicts': [_verdict(verdict) for verdict in verdicts],
        'parts': _parts(record.get('parts')),
        'signature': one_line(str(record.get('signature') or '')),
        'rerank': read_candidates(record.get('rerank')),
    }
    return entry


def read_knowledge(text: str, verdicts: Any) -> list[list[Any]]:
    """
    Convert a turn's knowledge to the page's data, cut at the spans that answered.

    :param text: the knowledge.
    :param verdicts: the verdicts of one candidate, or None.
    :raises InputError: when a verdict cannot be read.
    """
    return _pieces(knowledge_pieces(text, _verdicts(verdicts)))


def _text(fields: Mapping[str, Any], name: str, default: Optional[str] = None) -> str:
    value = fields.get(name, default)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        found = 'missing' if name not in fields else f'a {type(value).__name__}'
        raise InputError(f'{name!r} must be a string and is {found}')
    return value


def _number(value: Any) -> Optional[float]:
    """
    A finite number, rounded for display; None for anything else.
    """
    return round(float(value), 4) if is_number(value) else None


def _unit(fields: Mapping[str, Any], name: str) -> float:
    number = _number(fields.get(name))
    if number is None or not 0 <= number <= 1:
        raise InputError(f'{name!r} must be in [0, 1] and is {fields.get(name)!r}')
    return number


def _verdicts(values: Any) -> list[Verdict]:
    if values is None:
        return []
    if not isinstance(values, (list, tuple)):
        raise InputError(f"'verdicts' must be a list, not {type(values).__name__}")
    return [_read_verdict(value, place) for place, value in enumerate(values, start=1)]


def _read_verdict(value: Any, place: int) -> Verdict:
    try:
        verdict = Verdict.from_dict(value)
        offsets = [*verdict.response_answer[1:]]
        texts = [verdict.question, verdict.response_answer.text, verdict.comparison]
        if verdict.knowledge_answer is not None:
            offsets += verdict.knowledge_answer[1:]
            texts.append(verdict.knowledge_answer.text)
    except (KeyError, TypeError, AttributeError) as e:
        problem = f'field {e} is missing' if isinstance(e, KeyError) else str(e)
        raise InputError(f'verdict {place} cannot be read: {problem}') from e
    if not all(type(offset) is int for offset in offsets):
        raise InputError(f'verdict {place} has offsets that are not whole numbers')
    if not all(isinstance(text, str) for text in texts):
        raise InputError(f'verdict {place} has an answer that is not a string')
    _unit({'score': verdict.score}, 'score')
    return verdict


def _verdict(verdict: Verdict) -> dict[str, Any]:
    answer = verdict.knowledge_answer
    return {
        'question': visible(verdict.question),
        'response': visible(verdict.response_answer.text),
        'knowledge': visible(answer.text) if answer else None,
        'comparison': one_line(verdict.comparison),
        'score': _number(verdict.score),
        'status': status_of(verdict),
    }


def _pieces(pieces: Sequence[Piece]) -> list[list[Any]]:
    """
    Pieces as ``[text]`` or ``[text, status, indices of its verdicts]``.
    """
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


def read_candidates(values: Any) -> list[dict[str, Any]]:
    """
    Convert the candidates of one turn to the page's data.

    :param values: rows as the reranking agent's evidence has them, or None.
    :return: JSON-safe values without NaN; control characters are shown as escapes.
    :raises InputError: when a candidate cannot be shown; the message says which and
        why.
    """
    if values is None:
        return []
    if not isinstance(values, (list, tuple)):
        raise InputError(f"'rerank' must be a list, not {type(values).__name__}")
    found = []
    for place, value in enumerate(values, start=1):
        try:
            found.append(_candidate(value))
        except (InputError, AttributeError, TypeError, ValueError) as e:
            raise InputError(f'candidate {place} cannot be read: {e}') from e
    return found


def _candidate(value: Mapping[str, Any]) -> dict[str, Any]:
    text, verdicts = _text(value, 'text'), _verdicts(value.get('verdicts'))
    score = value.get('score')
    return {
        'response': _pieces(response_pieces(text, verdicts)),
        'verdicts': [_verdict(verdict) for verdict in verdicts],
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
