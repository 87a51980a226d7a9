"""
The knowledge of an agent's turns: what :mod:`~parlai_q2.io.turn_knowledge` finds, what
a person typed, and the documents that the generator itself retrieved for the turn, as
RAG and FiD do.
"""

import re
from collections.abc import Mapping
from typing import Any, Optional

from parlai.core.message import Message

from parlai_q2.io.knowledge import FIELDS, TOKEN_KNOWLEDGE, as_text, passages_in
from parlai_q2.io.turn_knowledge import EpisodeKnowledge, KnowledgeSource, TurnKnowledge
from parlai_q2.turns import Passage

# Of the sentences that answer a question, the generator is shown so many.
MOST_SENTENCES = 2
NONE_GIVEN = (
    "A turn has no knowledge to rerank by, so the generator's first choice is "
    'used. Give knowledge in the field checked_sentence or knowledge, with '
    '--knowledge-delimiter, --knowledge-file or --knowledge-index, or type '
    '/knowledge <text> in chat.'
)
NONE_FOUND = (
    "Nothing in the documents fits a turn that asks nothing, so the generator's first "
    'choice is used.'
)


class AgentKnowledge(EpisodeKnowledge):
    """The knowledge that one agent has been given in one episode."""

    def __init__(self, source: KnowledgeSource):
        super().__init__(source)
        self._written: Optional[str] = None

    def give(self, message: Mapping[str, Any], found: TurnKnowledge) -> Message:
        """
        A message with the knowledge that it does not carry in its field ``knowledge``.
        If a delimiter is set, a passage that is new in this episode is also put before
        the text. With an index, what it found takes the place of the message's own.
        """
        given = Message(message)
        if self.source.index is not None:
            for name in (*FIELDS, 'x_turn'):
                given.pop(name, None)
        if not found.passages or found.in_fields:
            return given
        # Small generators say whatever a passage has first.
        shown = '\n'.join(found.sentences[:MOST_SENTENCES]) or found.text
        given.force_set('knowledge', shown)
        text = as_text(message.get('text'))
        new = not found.in_text and shown != self._written
        if self.source.delimiter and new and text:
            self._written = shown
            given.force_set('text', f'{shown}{self.source.delimiter}{text}')
        return given

    @property
    def typed_text(self) -> str:
        """What was typed, as :func:`read_typed` reads it."""
        return '\n\n'.join(
            f'{one.title} {TOKEN_KNOWLEDGE} {one.text}' if one.title else one.text
            for one in self.typed
        )

    def end_episode(self) -> None:
        super().end_episode()
        self._written = None


def read_typed(text: str) -> tuple[Passage, ...]:
    """The passages that a person typed, with blank lines between them."""
    blocks = re.split(r'\n\s*\n', text)
    return tuple(passage for block in blocks for passage in passages_in(block))


def retrieves(model: Any) -> bool:
    """Whether a model looks for documents itself (ParlAI's RAG, FiD and the like)."""
    return hasattr(model, 'retriever')


def retrieved(model: Any, count: int) -> list[tuple[Passage, ...]]:
    """
    The documents that a model retrieved last, for each of ``count`` examples. ParlAI
    keeps each as "title | text" (``RagRetriever.top_docs``), and pads with empty ones.
    """

    def passage(document: str) -> Passage:
        title, _, text = document.partition(' | ')
        return Passage(text.strip(), title.strip())

    # As ParlAI asks: there are none before the first retrieval.
    documents = getattr(model.retriever, 'top_docs', [()] * count)
    return [
        tuple(one for one in map(passage, found) if one.text) for found in documents
    ]
