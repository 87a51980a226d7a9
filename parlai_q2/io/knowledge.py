"""
Finds the knowledge of a turn in a ParlAI message.

Tasks put knowledge in different places. These are tried in order: the field
``checked_sentence`` (the sentence that the wizard chose), the field ``knowledge``
(everything that was shown), both of these in ``x_turn``, where ParlAI's ``jsonfile``
teacher keeps the fields of a turn, and last a passage inside ``text``, either between
Wizard of Wikipedia's markers or before a delimiter. The markers are removed.
"""

from typing import Any, Mapping, Optional

# From parlai/tasks/wizard_of_wikipedia: the placeholder for "no sentence was used", the
# mark between a passage's title and its text (which also opens knowledge inside a
# message's text), and the mark that closes it.
TOKEN_NOCHOSEN = 'no_passages_used'
TOKEN_KNOWLEDGE = '__knowledge__'
TOKEN_END_KNOWLEDGE = '__endknowledge__'

FIELDS = ('checked_sentence', 'knowledge')


def find_knowledge(
    message: Mapping[str, Any], delimiter: Optional[str] = None
) -> Optional[str]:
    """
    The knowledge of one turn.

    :param message: a teacher's message.
    :param delimiter: if given, and there is no knowledge elsewhere, everything before
        its last occurrence in ``text`` is the knowledge.
    :return: the knowledge, or None if there is none.
    """
    for name in FIELDS:
        found = as_text(message.get(name))
        if found:
            return found
    if isinstance(message.get('x_turn'), Mapping):
        found_inside = find_knowledge({**message['x_turn'], 'text': None})
        if found_inside:
            return found_inside
    text = as_text(message.get('text'))
    if TOKEN_KNOWLEDGE in text:
        inside = text.partition(TOKEN_KNOWLEDGE)[2].partition(TOKEN_END_KNOWLEDGE)[0]
        return inside.strip() or None
    if delimiter and delimiter in text:
        return text.rpartition(delimiter)[0].strip() or None
    return None


def as_text(value: Any) -> str:
    """
    A field's value as one text: lists are joined by line breaks, markers are removed.
    """
    if value is None:
        return ''
    if isinstance(value, (list, tuple)):
        return '\n'.join(filter(None, map(as_text, value)))
    if not isinstance(value, str):
        return str(value)
    lines = []
    for line in value.splitlines():
        if line.lstrip().startswith(TOKEN_NOCHOSEN):
            continue
        # WoW lists the sentences that were shown as "title __knowledge__ sentence".
        title, marked, sentence = line.partition(f' {TOKEN_KNOWLEDGE} ')
        lines.append(sentence if marked and title else line)
    return '\n'.join(lines).strip()
