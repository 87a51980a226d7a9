"""
Finds the passages that the reply to a turn should rest on.

The last two turns are searched for. If the last one is a question, the passages that
were found are read for its answer, and those that have one are kept: a reply that rests
on another passage would be true, and no answer.
"""

from collections.abc import Sequence
from typing import NamedTuple, Optional

from parlai_q2.retrieve.answers import AnswerReader, asks
from parlai_q2.retrieve.found import Found, Retriever
from parlai_q2.retrieve.presets import DEFAULT_PASSAGES
from parlai_q2.retrieve.queries import DEFAULT_QUERY, query_of
from parlai_q2.text.sentences import sentences
from parlai_q2.turns import Passage


class Grounding(NamedTuple):
    """
    What a reply should rest on.

    :param passages: best first; of a question, only those that answer it, or, if none
        does, all that were found.
    :param question: the last turn, if it is a question that a passage answers.
    :param sentences: those of the passages that answer it.
    :param declined: whether the turn is a question that nothing found answers.
    """

    passages: tuple[Passage, ...]
    declined: bool = False
    question: str = ''
    sentences: tuple[str, ...] = ()


class Grounder:
    """
    Finds passages for turns.

    :param reader: reads passages for answers; None: all that is found is kept.
    :param k: the most passages of a turn.
    :param made_of: what queries are made of, see
        :func:`~parlai_q2.retrieve.queries.query_of`.
    """

    def __init__(
        self,
        retriever: Retriever,
        reader: Optional[AnswerReader] = None,
        k: int = DEFAULT_PASSAGES,
        made_of: str = DEFAULT_QUERY,
    ):
        self.retriever, self.reader, self.k = retriever, reader, k
        self.made_of = made_of

    def search(self, text: str) -> list[Found]:
        """What is found for a text."""
        return self.retriever.search([text], self.k)[0]

    def ground(self, histories: Sequence[Sequence[str]]) -> list[Grounding]:
        """
        What the reply to each conversation should rest on.

        :param histories: for each the turns before the reply, oldest first.
        """
        queries = [query_of(history, self.made_of) for history in histories]
        found = [
            tuple(one.passage for one in some)
            for some in self.retriever.search(queries, self.k)
        ]
        if self.reader is None:
            return [Grounding(some) for some in found]
        asked = [h[-1] if h and asks(h[-1]) else '' for h in histories]
        pairs = [
            (question, passage)
            for question, some in zip(asked, found, strict=True)
            for passage in some
            if question
        ]
        answers = iter(self.reader.answers(pairs))
        grounded = []
        for question, some in zip(asked, found, strict=True):
            if not question:
                grounded.append(Grounding(some))
                continue
            read = [(passage, next(answers)) for passage in some]
            kept = [(p, answer) for p, answer in read if answer is not None]
            if not kept:
                grounded.append(Grounding(some, declined=True))
                continue
            passages = tuple(passage for passage, _ in kept)
            said = dict.fromkeys(sentence_at(p.text, a.start) for p, a in kept)
            grounded.append(Grounding(passages, False, question, tuple(said)))
        return grounded


def sentence_at(text: str, place: int) -> str:
    """
    The sentence at a place of a text; the first if there is none.

    >>> sentence_at('It is red. It hums.', 12)
    'It hums.'
    """
    every = sentences(text)
    at = next((one for one in every if one.start <= place < one.end), None)
    return at.text if at else every[0].text if every else text
