"""
Finds the knowledge that the reply to a turn should be grounded in.

The sources are tried in this order:

1. the message itself (``checked_sentence``, ``knowledge``, or marked inside its text);
2. a passage before a delimiter in its text;
3. such a passage from an earlier turn of the episode;
4. what the person typed with ``/knowledge``;
5. the knowledge file.

Typed knowledge comes before the file, so that ``/knowledge`` has an effect in a chat
that has a file.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Optional

from parlai.core.message import Message

from parlai_q2.agents.grounded_rerank.knowledge_file import (
    Passage,
    find_passage,
    read_passages,
)
from parlai_q2.io.knowledge import as_text, find_knowledge
from parlai_q2.options import line_ends

NONE_GIVEN = (
    "A turn has no knowledge to rerank by, so the generator's first choice is "
    'used. Give knowledge in the field checked_sentence or knowledge, with '
    '--knowledge-delimiter or --knowledge-file, or type /knowledge <text> in '
    'chat.'
)


class Found(NamedTuple):
    """
    Knowledge and where it was found.

    :param in_fields: whether it came in a field of the message, where a generator that
        reads knowledge finds it too.
    :param in_text: whether it stands in the text of this message or an earlier one.
    """

    text: str
    in_fields: bool = False
    in_text: bool = False


class KnowledgeSource:
    """
    Where knowledge comes from (``--knowledge-delimiter``, ``--knowledge-file``); made
    once, and shared by an agent's clones.
    """

    def __init__(self, delimiter: Optional[str] = None, file: Optional[str] = None):
        self.delimiter = line_ends(delimiter) if delimiter else None
        self.passages: Sequence[Passage] = read_passages(file) if file else ()


class EpisodeKnowledge:
    """The knowledge that one agent has been given in one episode."""

    def __init__(self, source: KnowledgeSource):
        self.source = source
        self.typed: Optional[str] = None
        self._passage: Optional[str] = None
        self._written: Optional[str] = None

    def find(
        self, message: Mapping[str, Any], history: Sequence[str] = ()
    ) -> Optional[Found]:
        """
        The knowledge of a message, or None.

        :param history: the dialogue before it, oldest first.
        """
        own = find_knowledge(message)
        if own:
            return Found(own, in_fields=True)
        text = as_text(message.get('text'))
        new = find_knowledge({'text': text}, self.source.delimiter)
        self._passage = new or self._passage
        if self._passage:
            return Found(self._passage, in_text=True)
        if self.typed:
            return Found(self.typed)
        passage = find_passage(self.source.passages, message, [*history, text])
        return Found(passage) if passage else None

    def give(self, message: Mapping[str, Any], found: Optional[Found]) -> Message:
        """
        A message with the knowledge that it does not carry in its field ``knowledge``.
        If a delimiter is set, a passage that is new in this episode is also put before
        the text.
        """
        given = Message(message)
        if found is None or found.in_fields:
            return given
        given.force_set('knowledge', found.text)
        text = as_text(message.get('text'))
        new = not found.in_text and found.text != self._written
        if self.source.delimiter and new and text:
            self._written = found.text
            given.force_set('text', f'{found.text}{self.source.delimiter}{text}')
        return given

    def end_episode(self) -> None:
        """Forget a passage from an earlier turn's text; keep what was typed."""
        self._passage = self._written = None

    def reset(self) -> None:
        """Forget everything."""
        self.typed = None
        self.end_episode()
