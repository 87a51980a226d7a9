"""
Finds the knowledge of a turn in a ParlAI message.

Tasks put it in different places. These are tried in order: the fields
``checked_sentence`` (what the wizard chose) and ``knowledge`` (all that was shown);
both in ``x_turn``, where ParlAI's ``jsonfile`` teacher keeps a turn's fields; Wizard of
the Internet's selected sentences, or else the documents that were retrieved; a passage
inside ``text``, between Wizard of Wikipedia's markers or before a delimiter.
"""

from collections.abc import Mapping
from itertools import chain, zip_longest
from typing import Any

from parlai_q2.turns import Passage, joined, passages_of

# From parlai/tasks/wizard_of_wikipedia: the placeholder for "no sentence was used", the
# mark between a passage's title and its text (which also opens knowledge inside a
# message's text), and the mark that closes it.
TOKEN_NOCHOSEN = 'no_passages_used'
TOKEN_KNOWLEDGE = '__knowledge__'
TOKEN_END_KNOWLEDGE = '__endknowledge__'

FIELDS = ('checked_sentence', 'knowledge')
# From parlai/tasks/wizard_of_internet/constants.py: lists of texts, and what stands in
# them for nothing.
SELECTED_SENTENCES = '__selected-sentences__'
RETRIEVED_DOCS = '__retrieved-docs__'
RETRIEVED_TITLES = '__retrieved-docs-titles__'
NOTHING_FOUND = ('__no_passages_used__', '__noretrieved-docs__')


def find_knowledge(
    message: Mapping[str, Any], delimiter: str | None = None
) -> str | None:
    """
    The knowledge of one turn as one text: :func:`find_passages`, joined by line breaks.
    None if there is none.
    """
    return joined(find_passages(message, delimiter)) or None


def find_passages(
    message: Mapping[str, Any], delimiter: str | None = None
) -> tuple[Passage, ...]:
    """
    The knowledge of one turn. Lines that WoW gives the same title are one passage; each
    text of a list is one or more; other text is one.

    :param message: a teacher's message.
    :param delimiter: if given, and there is no knowledge elsewhere, everything before
        its last occurrence in ``text`` is the knowledge.
    :return: the passages; empty if there is none.

    >>> passages = find_passages({'knowledge': 'Bee __knowledge__ Bees.'})
    >>> passages[0].title, passages[0].text
    ('Bee', 'Bees.')
    """
    for name in FIELDS:
        passages = passages_in(message.get(name))
        if joined(passages):
            return passages
    if isinstance(message.get('x_turn'), Mapping):
        passages = find_passages({**message['x_turn'], 'text': None})
        if passages:
            return passages
    passages = _retrieved(message)
    if passages:
        return passages
    text, inside = as_text(message.get('text')), ''
    if TOKEN_KNOWLEDGE in text:
        inside = text.partition(TOKEN_KNOWLEDGE)[2].partition(TOKEN_END_KNOWLEDGE)[0]
    elif delimiter and delimiter in text:
        inside = text.rpartition(delimiter)[0]
    return (Passage(inside.strip()),) if inside.strip() else ()


def _retrieved(message: Mapping[str, Any]) -> tuple[Passage, ...]:
    """What was selected of the documents that a search found, or all of them."""
    selected = [
        text
        for text in _texts(message.get(SELECTED_SENTENCES))
        if text not in NOTHING_FOUND
    ]
    texts = _texts(message.get(RETRIEVED_DOCS))
    titles = _texts(message.get(RETRIEVED_TITLES))
    documents = (
        Passage(text.strip(), title)
        for text, title in zip_longest(texts, titles, fillvalue='')
    )
    return passages_in(selected) or tuple(
        document
        for document in documents
        if document.text and document.text not in NOTHING_FOUND
    )


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, (list, tuple)) else [value] if value else []
    return [str(text) for text in values]


def as_text(value: Any) -> str:
    """
    A field's value as one text: lists are joined by line breaks, markers are removed.
    """
    return joined(passages_in(value))


def passages_in(value: Any) -> tuple[Passage, ...]:
    """The passages in a field's value, without markers; none of them is empty."""
    if value is None:
        return ()
    if isinstance(value, Passage):
        return (value,) if value.text.strip() else ()
    if isinstance(value, (list, tuple)):
        return tuple(chain.from_iterable(map(passages_in, value)))
    if isinstance(value, Mapping) and isinstance(value.get('text'), str):
        return passages_in(passages_of([value])[0])
    if not isinstance(value, str):
        return (Passage(str(value)),)
    groups: list[tuple[str, list[str]]] = []
    for line in value.splitlines():
        if line.lstrip().startswith(TOKEN_NOCHOSEN):
            continue
        # WoW lists the sentences that were shown as "title __knowledge__ sentence".
        title, marked, sentence = line.partition(f' {TOKEN_KNOWLEDGE} ')
        if not (marked and title):
            title, sentence = '', line
        if groups and (title == groups[-1][0] or not line.strip()):
            groups[-1][1].append(sentence)
        else:
            groups.append((title, [sentence]))
    passages = [Passage('\n'.join(lines), title) for title, lines in groups]
    while passages and not passages[0].text.strip():
        del passages[0]
    while passages and not passages[-1].text.strip():
        del passages[-1]
    if passages:
        passages[0] = passages[0]._replace(text=passages[0].text.lstrip())
        passages[-1] = passages[-1]._replace(text=passages[-1].text.rstrip())
    return tuple(passages)


def stripped(passages: tuple[Passage, ...]) -> tuple[Passage, ...]:
    """A single passage without white space around it; nothing if all are blank."""
    if len(passages) == 1:
        passages = (passages[0]._replace(text=passages[0].text.strip()),)
    return passages if joined(passages).strip() else ()


def as_field(passages: tuple[Passage, ...]) -> Any:
    """
    Passages as the ``knowledge`` of a record: a text if there is one that has neither a
    title nor a source.
    """
    rows = [_as_row(passage) for passage in passages]
    if len(rows) < 2 and all(isinstance(row, str) for row in rows):
        return joined(passages)
    return rows


def _as_row(passage: Passage) -> Any:
    row: dict[str, Any] = {'title': passage.title} if passage.title else {}
    if passage.source is not None:
        source = passage.source._asdict()
        row['source'] = {name: text for name, text in source.items() if text}
    return {**row, 'text': passage.text} if row else passage.text
