"""
Finds the passages that the reply to a turn should rest on.

The last two turns are searched for, with names of earlier ones, or a question with
those that it leans on. What is found for a question is ordered by how near it is
(:mod:`~parlai_q2.retrieve.nearness`), and the nearest passages are read for its answer.
How likely one answers is a logistic of the reader's margin and the nearness. Those that
do are kept: a reply that rests on another passage would be true, and no answer.
"""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple, Optional

from parlai_q2.io.turn_knowledge import TurnKnowledge
from parlai_q2.retrieve.answers import Answer, AnswerReader, asks, wants_a_way
from parlai_q2.retrieve.courtesy import courtesy
from parlai_q2.retrieve.found import Found, Retriever
from parlai_q2.retrieve.nearness import Nearness
from parlai_q2.retrieve.presets import DEFAULT_PASSAGES
from parlai_q2.retrieve.queries import DEFAULT_QUERY, Query, asked_in, query_of
from parlai_q2.retrieve.quotes import QUOTE_WORDS, quoted
from parlai_q2.retrieve.readers.block import find_cells
from parlai_q2.retrieve.store import named
from parlai_q2.text.selection import stems
from parlai_q2.text.sentences import count_words
from parlai_q2.turns import Passage, heading_of

# So many passages are found for a question, and the nearest read.
DEEP, READ = 50, 8
# How likely a passage answers: the logistic of these, of the reader's margin in logits
# (within bounds) and the nearness.
PER_LOGIT, PER_NEARNESS, CONSTANT = 0.187, 6.3, -6.18
# The same of a table's row: it is no sentence, and the reader finds less in it.
PER_LOGIT_OF_ROW, PER_NEARNESS_OF_ROW, CONSTANT_OF_ROW = 0.14, 8.0, -6.0
BOUNDS = (-10.0, 20.0)
# How something is done often stands under a heading that says so: of such questions the
# heading's nearness decides, too, which of the passages is said.
PER_HEADING = 2.0
# What is less likely does not answer.
LEAST = 0.2
# What is as likely as the likeliest, less so many logits, is kept, too.
LESS_SURE = 0.8
# Of a passage that is mostly figures, less than this share of its tokens are words.
PROSE = 0.4
_PROSE = re.compile(r'[^\W\d_]{2}')
_WHY = frozenset({'why'})


class Read(NamedTuple):
    """
    A passage that was read for the answer to a question.

    :param near: how near it is to the question.
    :param a_way: whether the question asks how something is done, which a row tells as
        seldom as it seems.
    """

    passage: Passage
    answer: Answer
    near: float
    a_way: bool = False

    @property
    def logit(self) -> float:
        """How likely it answers, as the argument of a logistic."""
        margin = min(max(self.answer.margin, BOUNDS[0]), BOUNDS[1])
        if find_cells(self.passage.text) and not self.a_way:
            return (
                PER_LOGIT_OF_ROW * margin
                + PER_NEARNESS_OF_ROW * self.near
                + CONSTANT_OF_ROW
            )
        return PER_LOGIT * margin + PER_NEARNESS * self.near + CONSTANT


class Grounder:
    """
    Finds passages for turns.

    :param reader: reads passages for answers; None: all that is found is kept.
    :param k: the most passages of a turn.
    :param of_questions: finds passages for questions, where that is another: what is
        no question is to find nothing that has none of its words.
    :param made_of: what queries are made of, see
        :func:`~parlai_q2.retrieve.queries.query_of`.
    """

    def __init__(
        self,
        retriever: Retriever,
        reader: Optional[AnswerReader] = None,
        k: int = DEFAULT_PASSAGES,
        made_of: Query = DEFAULT_QUERY,
        of_questions: Optional[Retriever] = None,
    ):
        self.retriever, self.reader, self.k = retriever, reader, k
        self.made_of, self.of_questions = made_of, of_questions or retriever
        self._nearness = Nearness()

    def search(self, text: str) -> list[Found]:
        """What is found for a text."""
        return self.retriever.search([text], self.k)[0]

    def ground(self, histories: Sequence[Sequence[str]]) -> list[TurnKnowledge]:
        """
        What the reply to each conversation should rest on.

        :param histories: for each the turns before the reply, oldest first.
        """
        if self.reader is None:
            return [
                TurnKnowledge(passages, searched=True)
                for passages in self._found(histories)
            ]
        grounded: list[Optional[TurnKnowledge]] = [None] * len(histories)
        asked, others = list[int](), list[int]()
        for n, history in enumerate(histories):
            said = history[-1] if history else ''
            if reply := courtesy(said):
                grounded[n] = TurnKnowledge((), searched=True, courtesy=reply)
            else:
                (asked if asks(said) else others).append(n)
        found = self._found([histories[n] for n in others])
        some = [TurnKnowledge(passages, searched=True) for passages in found]
        some += self._read([histories[n] for n in asked])
        for n, one in zip([*others, *asked], some, strict=True):
            grounded[n] = one
        return [one for one in grounded if one is not None]

    def _found(self, histories: Sequence[Sequence[str]]) -> list[tuple[Passage, ...]]:
        queries = [query_of(history, self.made_of) for history in histories]
        found = self.retriever.search(queries, self.k)
        return [tuple(one.passage for one in some) for some in found]

    def _read(self, histories: Sequence[Sequence[str]]) -> list[TurnKnowledge]:
        """What answers the question that each history ends with."""
        assert self.reader is not None
        questions = [history[-1] for history in histories]
        asked = [asked_in(history) for history in histories]
        queries = asked
        if self.made_of != DEFAULT_QUERY:
            queries = [query_of(history, self.made_of) for history in histories]
        found = self.of_questions.search(queries, DEEP)
        nearest = [
            self._nearest(one, some) for one, some in zip(asked, found, strict=True)
        ]
        pairs = [
            (question, passage)
            for question, some in zip(questions, nearest, strict=True)
            for passage, _ in some
        ]
        answers = iter(self.reader.read(pairs))
        grounded = []
        for question, some in zip(questions, nearest, strict=True):
            a_way = wants_a_way(question)
            read = [Read(passage, next(answers), near, a_way) for passage, near in some]
            grounded.append(self._grounded(question, read))
        return grounded

    def _nearest(
        self, question: str, found: Sequence[Found]
    ) -> list[tuple[Passage, float]]:
        """The passages nearest to a question, those of figures after the others."""
        near = zip(found, self._nearness.of(question, found), strict=True)
        ranked = sorted(
            ((one.passage, value) for one, value in near),
            key=lambda one: (is_figures(one[0].text), -one[1]),
        )
        return ranked[:READ]

    def _grounded(self, question: str, read: Sequence[Read]) -> TurnKnowledge:
        ranked = sorted(read, key=lambda one: -one.logit)
        least = math.log(LEAST / (1 - LEAST))
        a_way = wants_a_way(question)
        called = [one for one in ranked if a_way and is_named(question, one.passage)]
        if not called and (not ranked or ranked[0].logit < least):
            nearest = tuple(one.passage for one in read[: self.k])
            return TurnKnowledge(nearest, searched=True, declined=True)
        floor = max(least, ranked[0].logit - LESS_SURE)
        if a_way:
            ranked = self._by_heading(question, ranked)
            ranked = [*called, *(one for one in ranked if one not in called)]
        kept = [ranked[0], *(one for one in ranked[1:] if one.logit >= floor)][: self.k]
        passages = tuple(one.passage for one in kept)
        quote = _quote_of(kept)
        if a_way:
            # No span says how something is done.
            return TurnKnowledge(
                passages,
                searched=True,
                question=question,
                sentences=(quote,) if quote else (),
                quote=quote,
            )
        said = [quoted(one.passage.text, one.answer.span, 0) for one in kept]
        spans = [one.answer.span.text for one in kept]
        return TurnKnowledge(
            passages,
            searched=True,
            question=question,
            sentences=tuple(dict.fromkeys(filter(None, said))),
            answers=tuple(text for text in spans if text.strip()),
            quote=quote,
        )

    def _by_heading(self, question: str, read: Sequence[Read]) -> list[Read]:
        headings = [heading_of(one.passage) for one in read]
        cosines = self._nearness.cosines(question, headings)
        order = sorted(
            zip(read, cosines, strict=True),
            key=lambda one: -(one[0].logit + PER_HEADING * one[1]),
        )
        return [one for one, _ in order]


def _quote_of(kept: Sequence[Read]) -> str:
    """
    What the document says with the likeliest answer; of a table, with the row that is
    nearly as likely, since rows side by side are often alike.
    """
    first, *others = kept
    quote = quoted(first.passage.text, first.answer.span)
    if not find_cells(first.passage.text):
        return quote
    for one in others:
        if _table_of(one.passage) == _table_of(first.passage):
            both = f'{quote}\n{quoted(one.passage.text, one.answer.span)}'.strip()
            return both if count_words(both) <= QUOTE_WORDS else quote
    return quote


def _table_of(passage: Passage) -> Optional[tuple[str, str]]:
    """The file and heading of a table's row; None if it is none."""
    if passage.source is None or not find_cells(passage.text):
        return None
    return passage.source.file, passage.source.heading


def is_figures(text: str) -> bool:
    """
    Whether a text is mostly figures, as the rows of a table are.

    >>> is_figures('q2 0.84 [.80, .87] 600'), is_figures('It opened in 1969.')
    (True, False)
    """
    tokens = text.split()
    words = sum(1 for token in tokens if _PROSE.search(token))
    return words < PROSE * len(tokens)


def is_named(question: str, passage: Passage) -> bool:
    """
    Whether a passage's headings and title, or its file's name, have all telling words
    of a question of how something is done. The reader of spans may not see that it
    answers.

    >>> is_named('How do I index files?', Passage('Run it.', 'Indexing your files'))
    True
    """
    wanted = stems(question) - _WHY
    return bool(wanted) and wanted <= stems(named(passage))
