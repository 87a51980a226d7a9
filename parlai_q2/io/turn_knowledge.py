"""
Finds the knowledge that the reply to a turn should rest on, in the same way for agents,
clients of servers, teachers, mutators and commands.

With an index, what a person typed or what the index finds is the knowledge, and a
message's own is ignored. Without one, the sources are tried in this order:

1. the message itself (``checked_sentence``, ``knowledge``, or marked inside its text);
2. a passage before a delimiter in its text;
3. such a passage from an earlier turn of the episode;
4. what a person typed with ``/knowledge``;
5. the knowledge file; if it has several passages, agents get those that fit the turn,
   and teachers all of them.

Typed knowledge comes before the file, so that ``/knowledge`` has an effect in a chat
that has a file.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from parlai_q2.errors import ConfigError
from parlai_q2.io.knowledge import as_text, find_passages
from parlai_q2.options import line_ends
from parlai_q2.turns import Passage, Turn, joined


class TurnKnowledge(NamedTuple):
    """
    The knowledge of a turn, and where it was found.

    :param passages: best first; empty if there are none.
    :param in_fields: whether it came in a field of the message, where a generator that
        reads knowledge finds it, too.
    :param in_text: whether it is in the text of this message or an earlier one.
    :param searched: whether documents were searched for it.
    :param declined: whether the turn is a question that nothing in them answers.
    :param question: the turn, if it is one that something answers.
    :param sentences: what answers it, the surest first.
    :param answers: the answers in them.
    :param quote: the surest answer with the text around it.
    :param courtesy: the reply, if the turn is only small talk.
    :param history: the turns before the reply, oldest first.
    """

    passages: tuple[Passage, ...]
    in_fields: bool = False
    in_text: bool = False
    searched: bool = False
    declined: bool = False
    question: str = ''
    sentences: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    quote: str = ''
    courtesy: str = ''
    history: tuple[str, ...] = ()

    @property
    def turn(self) -> Turn:
        """The turn."""
        return Turn(self.passages, self.history)

    @property
    def text(self) -> str:
        """The passages as one text."""
        return joined(self.passages)


NOTHING = TurnKnowledge(())


class KnowledgeIndex(Protocol):
    """
    Documents that are searched for the knowledge of a turn.

    :param reader: reads texts for answers; None if nothing is declined.
    """

    reader: Any

    def ground(self, histories: Sequence[Sequence[str]]) -> Sequence[TurnKnowledge]: ...

    def search(self, text: str) -> Sequence[Any]: ...


class KnowledgeSource:
    """
    Where knowledge comes from besides messages; made once, and shared by clones.

    :param delimiter: what separates a passage from the message inside a text.
    :param file: a text file, the knowledge for turns that bring none.
    :param index: documents that are searched, instead of all other knowledge.
    :ivar file_index: searches the file, where it has several passages.
    """

    def __init__(
        self,
        delimiter: str | None = None,
        file: str | None = None,
        index: KnowledgeIndex | None = None,
    ):
        self.delimiter = line_ends(delimiter) if delimiter else None
        self.passages = read_passage(file) if file else ()
        self.index = index
        self.file_index: KnowledgeIndex | None = None

    @property
    def searched(self) -> KnowledgeIndex | None:
        """What is searched for knowledge; None if nothing is."""
        return self.index or self.file_index

    def of_episode(
        self, episode: Iterable[Mapping[str, Any]]
    ) -> list[tuple[Passage, ...]]:
        """The knowledge of each turn of an episode; empty where there is none."""
        knowledge = EpisodeKnowledge(self)
        return [knowledge.find(message).passages for message in episode]


class EpisodeKnowledge:
    """The knowledge that is given in one episode."""

    def __init__(self, source: KnowledgeSource):
        self.source = source
        self.typed: tuple[Passage, ...] = ()
        self._in_text: tuple[Passage, ...] = ()

    def find(
        self, message: Mapping[str, Any], earlier: Sequence[str] = ()
    ) -> TurnKnowledge:
        """
        The knowledge of the next message; empty if there is none.

        :param earlier: the turns before it, oldest first; only a search asks.
        """
        text = as_text(message.get('text'))
        if self.source.index is not None:
            if self.typed:
                return TurnKnowledge(self.typed)
            return self._searched(self.source.index, [*earlier, text])
        in_fields = find_passages(message)
        if in_fields:
            return TurnKnowledge(in_fields, in_fields=True)
        in_text = find_passages({'text': text}, self.source.delimiter)
        self._in_text = in_text or self._in_text
        if self._in_text:
            return TurnKnowledge(self._in_text, in_text=True)
        if self.source.file_index is not None and not self.typed:
            return self._searched(self.source.file_index, [*earlier, text])
        passages = self.typed or self.source.passages
        return TurnKnowledge(passages) if passages else NOTHING

    def _searched(self, index: KnowledgeIndex, history: Sequence[str]) -> TurnKnowledge:
        if self.source.delimiter:
            # The generator was shown what was found for earlier turns before them.
            history = [turn.rpartition(self.source.delimiter)[2] for turn in history]
        (knowledge,) = index.ground([history])
        return knowledge

    def end_episode(self) -> None:
        """Forget a passage from an earlier turn's text; keep what was typed."""
        self._in_text = ()

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
    except OSError as e:
        raise ConfigError(f'Cannot read --knowledge-file {path}: {e}') from e
    except ValueError as e:
        raise ConfigError(
            f'--knowledge-file {path} is not UTF-8 text ({e}). Index other '
            f'documents: parlai_q2 index {path} --outdir INDEX'
        ) from e
    if not text:
        raise ConfigError(f'--knowledge-file {path} is empty.')
    return (Passage(text),)
