"""
Reads ``--knowledge-file``: knowledge for turns that bring none of their own.

Each line of a ``.jsonl`` file is a record with ``knowledge`` (a text or a list of
passages) and, optionally, ``topic``. Any other file is one passage for every turn.
"""

import json
import re
from pathlib import Path
from typing import Any, Mapping, NamedTuple, Optional, Sequence

from parlai_q2.errors import ConfigError, RecordError
from parlai_q2.io.knowledge import as_text, passages_in
from parlai_q2.records import Passage

# The fields in which ParlAI's tasks name a turn's topic (Wizard of Wikipedia,
# Topical-Chat).
TOPIC_FIELDS = ('topic', 'chosen_topic', 'title')


class Entry(NamedTuple):
    """Knowledge about a topic, in lower case, or about none: then it holds always."""

    topic: Optional[str]
    passages: tuple[Passage, ...]


def read_entries(path: str) -> list[Entry]:
    """
    The entries of a knowledge file, at least one.

    :raises ConfigError: when the file cannot be read or is empty.
    :raises RecordError: when a line of a ``.jsonl`` file is not a valid record.
    """
    try:
        text = Path(path).expanduser().read_text(encoding='utf-8')
    except (OSError, UnicodeDecodeError) as e:
        raise ConfigError(f'Cannot read --knowledge-file {path}: {e}') from e
    if not path.endswith('.jsonl'):
        whole = (Passage(text.strip()),)
        entries = [Entry(None, whole)] if text.strip() else []
    else:
        entries = [
            _entry(path, number, line)
            for number, line in enumerate(text.splitlines(), start=1)
            if line.strip()
        ]
    if not entries:
        raise ConfigError(f'--knowledge-file {path} is empty.')
    return entries


def find_passages_in(
    entries: Sequence[Entry], message: Mapping[str, Any], history: Sequence[str]
) -> tuple[Passage, ...]:
    """
    The passages for one turn: its topic's, else those without a topic.

    :param message: the turn's message; its topic fields decide if they name a topic.
    :param history: the dialogue so far, oldest first, ending with the message's text.
        Without a topic field, the topic mentioned last decides.
    """
    by_topic = {entry.topic: entry.passages for entry in entries if entry.topic}
    for field in TOPIC_FIELDS:
        named = as_text(message.get(field)).lower()
        if named in by_topic:
            return by_topic[named]
    for said in reversed(history):
        places = {topic: _last_mention(topic, said) for topic in by_topic}
        mentioned = [topic for topic, place in places.items() if place >= 0]
        if mentioned:
            # If "Paris" and "Paris Hilton" match at one place, the longer is meant.
            return by_topic[max(mentioned, key=lambda t: (places[t], len(t)))]
    return tuple(p for entry in entries if not entry.topic for p in entry.passages)


def _last_mention(topic: str, text: str) -> int:
    found = re.finditer(rf'(?<!\w){re.escape(topic)}(?!\w)', text.lower())
    return max((match.start() for match in found), default=-1)


def _entry(path: str, number: int, line: str) -> Entry:
    example = '{"topic": "coffee", "knowledge": "Coffee is brewed from beans."}'
    try:
        record = json.loads(line)
    except ValueError:
        raise RecordError(path, number, f'not JSON; write {example}') from None
    if not isinstance(record, dict) or not isinstance(
        record.get('knowledge'), (str, list)
    ):
        raise RecordError(path, number, f'no "knowledge"; write {example}')
    passages, topic = passages_in(record['knowledge']), record.get('topic')
    if not passages:
        raise RecordError(path, number, '"knowledge" is empty')
    if not isinstance(topic, (str, type(None))):
        raise RecordError(path, number, '"topic" must be a string')
    if not topic:
        return Entry(None, passages)
    # Evidence names a passage by its title; its topic will do.
    named = (p if p.title else p._replace(title=topic.strip()) for p in passages)
    return Entry(topic.strip().lower(), tuple(named))
