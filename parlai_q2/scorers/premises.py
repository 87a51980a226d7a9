"""What a detector reads of the knowledge, for each piece of a response."""

from dataclasses import dataclass
from typing import NamedTuple

from parlai_q2.text.selection import SentenceIndex, pieces
from parlai_q2.text.sentences import is_short
from parlai_q2.turns import Span

# What is read of short knowledge, as signatures print it.
SHORT_READ = 'all+best'
# What is read of statements that one sentence joins, likewise.
JOINED_READ = 'least'
# Chosen on development data.
DEFAULT_KNOWLEDGE_WORDS = 60
# A longer response is never read as a whole.
RESPONSE_WORDS = 60
# Sentences of long knowledge that are read alone, and at most so many together.
ALONE, TOGETHER = 3, 2
# The most values of a record that are read with one statement.
TOGETHER_OF_RECORD = 5


class Premise(NamedTuple):
    """
    What to read of the knowledge: the indices of sentences (none: all) and their text.
    """

    chosen: tuple[int, ...]
    text: str


@dataclass(frozen=True)
class SplitRule:
    """
    When to split knowledge and response into sentences.

    :param knowledge_words: split knowledge of more words than this; 0 reads all of it
        at once, and nothing else.
    :param split_response: split every response; otherwise those of more than
        :data:`RESPONSE_WORDS` words.
    """

    knowledge_words: int = DEFAULT_KNOWLEDGE_WORDS
    split_response: bool = True

    def is_long(self, index: SentenceIndex) -> bool:
        """Whether the knowledge is split."""
        return 0 < self.knowledge_words < index.words or index.has_records

    def hypotheses(self, response: str) -> list[Span]:
        """The pieces of a response, at least one."""
        whole = [Span(response, 0, len(response))]
        if not self.split_response and is_short(response, RESPONSE_WORDS):
            return whole
        return pieces(response) or whole

    def premises(self, index: SentenceIndex, statement: str) -> list[Premise]:
        """
        What to read of the knowledge for a piece of a response: all of it, and its
        sentence that matches best; if it is long, the sentences that match best, alone
        and together.
        """
        chosen: list[tuple[int, ...]] = [()]
        if self.is_long(index):
            chosen = [(i,) for i in index.best(statement, ALONE)]
            most = TOGETHER_OF_RECORD if index.has_records else TOGETHER
            together = tuple(index.together(statement, most))
            chosen += [together] if len(together) > 1 else []
        elif (
            self.knowledge_words
            and len(index.sentences) > 1
            and index.shares_word(statement)
        ):
            chosen += [(i,) for i in index.best(statement, 1)]
        return [Premise(c, index.joined(c)) for c in chosen]


SENTENCES, WHOLE = SplitRule(), SplitRule(split_response=False)
