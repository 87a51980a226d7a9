"""
Finds the knowledge that the reply to a turn should be grounded in.

The sources are tried in this order:

1. the message itself (``checked_sentence``, ``knowledge``, or marked inside its text);
2. a passage before a delimiter in its text;
3. such a passage from an earlier turn of the episode;
4. what the person typed with ``/knowledge``;
5. the knowledge file;
6. the documents that the generator itself retrieved for the turn, as RAG and FiD do.

Typed knowledge comes before the file, so that ``/knowledge`` has an effect in a chat
that has a file.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Optional

from parlai.core.message import Message

from parlai_q2.errors import ConfigError
from parlai_q2.io.knowledge import TOKEN_KNOWLEDGE, as_text, find_passages, passages_in
from parlai_q2.options import line_ends
from parlai_q2.turns import Passage, joined

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

    passages: tuple[Passage, ...]
    in_fields: bool = False
    in_text: bool = False

    @property
    def text(self) -> str:
        return joined(self.passages)


class KnowledgeSource:
    """
    Where knowledge comes from (``--knowledge-delimiter``, ``--knowledge-file``); made
    once, and shared by an agent's clones.
    """

    def __init__(self, delimiter: Optional[str] = None, file: Optional[str] = None):
        self.delimiter = line_ends(delimiter) if delimiter else None
        self.passages = read_passage(file) if file else ()


class EpisodeKnowledge:
    """The knowledge that one agent has been given in one episode."""

    def __init__(self, source: KnowledgeSource):
        self.source = source
        self.typed: tuple[Passage, ...] = ()
        self._earlier: tuple[Passage, ...] = ()
        self._written: Optional[str] = None

    def find(self, message: Mapping[str, Any]) -> Optional[Found]:
        """The knowledge of a message, or None."""
        own = find_passages(message)
        if own:
            return Found(own, in_fields=True)
        text = as_text(message.get('text'))
        new = find_passages({'text': text}, self.source.delimiter)
        self._earlier = new or self._earlier
        if self._earlier:
            return Found(self._earlier, in_text=True)
        passages = self.typed or self.source.passages
        return Found(passages) if passages else None

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

    @property
    def typed_text(self) -> str:
        """What was typed, as :func:`read_typed` reads it."""
        return '\n\n'.join(
            f'{one.title} {TOKEN_KNOWLEDGE} {one.text}' if one.title else one.text
            for one in self.typed
        )

    def end_episode(self) -> None:
        """Forget a passage from an earlier turn's text; keep what was typed."""
        self._earlier, self._written = (), None

    def reset(self) -> None:
        """Forget everything."""
        self.typed = ()
        self.end_episode()


def read_passage(path: str) -> tuple[Passage, ...]:
    """
    The passage in a text file (``--knowledge-file``).

    :raises ConfigError: when the file cannot be read or is empty.
    """
    try:
        text = Path(path).expanduser().read_text(encoding='utf-8').strip()
    except (OSError, UnicodeDecodeError) as e:
        raise ConfigError(f'Cannot read --knowledge-file {path}: {e}') from e
    if not text:
        raise ConfigError(f'--knowledge-file {path} is empty.')
    return (Passage(text),)


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
