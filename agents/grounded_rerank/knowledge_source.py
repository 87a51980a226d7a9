"""
The knowledge of an agent's turns: from the message or options
(:mod:`~parlai_q2.io.knowledge`), or typed by a person.
"""

import re
from collections.abc import Mapping, Sequence

from parlai.core.message import Message

from parlai_q2.io.knowledge import (
    FIELDS,
    TOKEN_KNOWLEDGE,
    EpisodeKnowledge,
    KnowledgeSource,
    TurnKnowledge,
    as_text,
    passages_in,
)
from parlai_q2.json_values import JsonMapping
from parlai_q2.turns import Passage

# The number of sentences with an answer that the generator reads.
MAX_SENTENCES = 2
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
    """The knowledge of one agent in one episode."""

    def __init__(self, source: KnowledgeSource):
        super().__init__(source)
        self._last_inserted: str | None = None

    def find(self, message: JsonMapping, earlier: Sequence[str] = ()) -> TurnKnowledge:
        """
        Find a message's knowledge; add a courtesy to typed knowledge if the turn wants
        one.
        """
        found = super().find(message, earlier)
        if not found.passages or found.in_fields or found.in_text or found.searched:
            return found
        from parlai_q2.retrieve.grounding import courtesy

        reply = courtesy(as_text(message.get('text')))
        return found._replace(courtesy=reply or '')

    def attach(
        self, message: Mapping[str, object], turn_knowledge: TurnKnowledge
    ) -> Message:
        """
        Copy a message, with the knowledge of its turn in the field ``knowledge``.

        If a delimiter is set, a passage that is new in this episode is also inserted
        before the text. With an index, the passages found there replace the knowledge
        in the message.
        """
        copy = Message(message)
        if self.source.grounder is not None:
            for name in (*FIELDS, 'x_turn'):
                copy.pop(name, None)
        if not turn_knowledge.passages or turn_knowledge.in_fields:
            return copy
        # Small generators repeat whatever a passage begins with.
        sentences = turn_knowledge.sentences[:MAX_SENTENCES]
        knowledge = '\n'.join(sentences) or turn_knowledge.text
        copy.force_set('knowledge', knowledge)
        text = as_text(message.get('text'))
        is_new = not turn_knowledge.in_text and knowledge != self._last_inserted
        if self.source.delimiter and is_new and text:
            self._last_inserted = knowledge
            copy.force_set('text', f'{knowledge}{self.source.delimiter}{text}')
        return copy

    @property
    def typed_text(self) -> str:
        """The typed knowledge, in the form that :func:`read_typed` reads."""
        return '\n\n'.join(
            '\n'.join(
                f'{passage.title} {TOKEN_KNOWLEDGE} {line}' if passage.title else line
                for line in passage.text.split('\n')
            )
            for passage in self.typed
        )

    def end_episode(self) -> None:
        super().end_episode()
        self._last_inserted = None


def read_typed(text: str) -> tuple[Passage, ...]:
    """Read passages that a person typed, with blank lines between them."""
    passages: list[Passage] = []
    for block in re.split(r'\n\s*\n', text):
        passages += passages_in(block)
    return tuple(passages)
