"""
Finds the passages that the reply to a turn should rest on.

A turn is searched for together with earlier turns that it depends on. Passages are
ordered by nearness (:class:`~parlai_q2.retrieve.ranking.Nearness`), and the nearest are
read for an answer, without the orders in them. The probability that a passage answers
is a logistic of the reader's margin, the nearness, and how surely the model of
relevance takes its quote for the best reply. Only answering passages are kept: a reply
from another one would be true, but no answer. If a turn asks nothing, and no passage
answers it, the last two turns are searched for, with names of earlier ones.

Small talk gets one of the replies in ``small_talk.yaml``: no document says how to reply
to "thanks!". A generator that is shown a document quotes it, and without one it makes
something up.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import yaml

from parlai_q2.io.knowledge import TurnKnowledge
from parlai_q2.log_odds import logit
from parlai_q2.retrieve.answers import (
    QUOTE_WORDS,
    Answer,
    AnswerReader,
    mask_orders,
    quote_answer,
)
from parlai_q2.retrieve.ranking import Nearness
from parlai_q2.retrieve.readers.block import find_cells
from parlai_q2.retrieve.retriever import Hit, Retriever
from parlai_q2.retrieve.search import (
    DEFAULT_PASSAGES,
    DEFAULT_QUERY,
    QueryFrom,
    find_question,
    make_query,
)
from parlai_q2.retrieve.store import passage_name
from parlai_q2.retrieve.words import chat_weight, split_words
from parlai_q2.text.questions import asks_how_or_why, asks_to_be_told, is_question
from parlai_q2.text.selection import stems
from parlai_q2.text.sentences import count_words
from parlai_q2.turns import Passage, heading_of, without_surrogates

# The number of passages to find for a question, and of the nearest ones to read.
DEPTH, MAX_READ = 50, 8
# A passage is mostly figures if less than this share of its tokens are words.
PROSE = 0.4
_TWO_LETTERS = re.compile(r'[^\W\d_]{2}')
_WHY = frozenset({'why'})
# Words that a sentence has, but a list of search words has not; and words that express
# a wish.
_STATES = re.compile(
    r'\b(?:i|you|he|she|it|we|they|this|that|these|those|my|your|his|her|its|our|their'
    r'|am|is|are|was|were|has|have|had|do|does|did|will|would|can|could)\b'
)
_WANTS = re.compile(r"\b(?:i|we)(?: need|'d like| would like|'m looking for| want)\b")
# What a question beside small talk has, and what it may have if it has its mark:
# "thanks, but why", "Thanks. And?".
_QUESTION_WORD = re.compile(r'\b(?:how|what|when|where|which|who|why)\b')
_ASKS_MORE = re.compile(r'\b(?:and|it|more|one|that|they|them|this)\b')
# A word of at most this weight carries no information in conversation.
LITTLE = 0.3


@lru_cache(maxsize=1)
def _load_small_talk() -> tuple[list[tuple[re.Pattern[str], str]], set[str]]:
    """
    Load patterns with the replies to their matches, the most specific first; and
    stemmed words that may stand beside a match.
    """
    text = files('parlai_q2.retrieve').joinpath('small_talk.yaml').read_text('utf-8')
    fields = yaml.safe_load(text)
    replies = [
        (re.compile(rf'\b(?:{row["says"]})\b'), row['reply'])
        for row in fields['replies']
    ]
    return replies, set(split_words(fields['beside']))


def courtesy(text: str) -> str | None:
    """
    The reply to a turn of only small talk; None if the turn says or asks something.

    >>> courtesy('Thanks a lot!'), courtesy('Thanks. How do I pay?')
    ("You're welcome!", None)
    """
    replies, beside = _load_small_talk()
    rest, reply = ' '.join(text.lower().replace('’', "'").split()), None
    for pattern, answer in replies:
        rest, count = pattern.subn(' ', rest)
        if count and reply is None:
            reply = answer
    # "Good?" asks about something.
    if reply == replies[-1][1] and '?' in text:
        return None
    if _QUESTION_WORD.search(rest) or ('?' in text and _ASKS_MORE.search(rest)):
        return None
    words = set(split_words(rest)) - beside
    return reply if all(chat_weight(word) <= LITTLE for word in words) else None


def may_ask(turn: str) -> bool:
    """
    Whether a turn is a question or a request, expresses a wish, or is not a sentence.
    Statements do not ask for a quote from documents.

    >>> may_ask('Tell me how I park'), may_ask('I hate these opening hours!')
    (True, False)
    """
    text = turn.lower()
    if _asks(text) or _WANTS.search(text):
        return True
    return bool(text.strip()) and not _STATES.search(text)


def _asks(turn: str) -> bool:
    """Whether a turn is a question, or a request to be told something."""
    return is_question(turn) or asks_to_be_told(turn)


# The log odds that a passage answers have these weights of the reader's margin in
# logits, within the bounds, of the passage's nearness to the question, and of the
# rating of its quote in logits, and a constant. Fitted by `python -m
# benchmarks.find_answers --fit` to the questions that it names.
MARGIN_WEIGHT, NEARNESS_WEIGHT, RATING_WEIGHT, CONSTANT = 0.064, 10.8, 0.51, -8.18
MARGIN_BOUNDS = (-10.0, 20.0)
# Instructions often stand under a heading that names them: for questions about how
# something is done, this weight times the heading's nearness is added.
HEADING_WEIGHT = 2.0
# A less likely passage does not answer; a passage within this many logits of the
# likeliest is kept, too.
LEAST_CHANCE, TOLERANCE = 0.25, 0.8


@dataclass(frozen=True)
class PassageReading:
    """
    A passage that was read for the answer to a question.

    :param text: the passage's text as read: without orders.
    :param nearness: the passage's nearness to the question.
    """

    passage: Passage
    text: str
    answer: Answer
    nearness: float
    question: str = ''

    @property
    def is_row(self) -> bool:
        """Whether the passage is a table's row."""
        return bool(find_cells(self.text))

    @property
    def logit(self) -> float:
        """The log odds that it answers."""
        least, most = MARGIN_BOUNDS
        margin = min(max(self.answer.margin, least), most)
        log_odds = MARGIN_WEIGHT * margin + NEARNESS_WEIGHT * self.nearness
        return log_odds + RATING_WEIGHT * self.answer.rating + CONSTANT

    @property
    def table(self) -> tuple[str, str] | None:
        """The file and heading of a table's row; None if it is none."""
        source = self.passage.source
        if source is None or not self.is_row:
            return None
        return source.file, source.heading

    def quote(self, words: int = QUOTE_WORDS) -> str:
        """The document's words at the answer."""
        return quote_answer(self.text, self.answer.span, self.question, words)


class Grounder:
    """
    Finds passages for turns.

    :param reader: reads passages for answers; None: all found passages are kept.
    :param k: the maximum number of passages of a turn.
    :param query: what queries are made of, see
        :func:`~parlai_q2.retrieve.search.make_query`.
    :param question_retriever: finds passages for questions, if this is another one:
        turns that are no questions should find only passages with some of their words.
    """

    def __init__(
        self,
        retriever: Retriever,
        reader: AnswerReader | None = None,
        k: int = DEFAULT_PASSAGES,
        query: QueryFrom = DEFAULT_QUERY,
        question_retriever: Retriever | None = None,
    ):
        self.retriever, self.reader, self.k, self.query = retriever, reader, k, query
        self.question_retriever = question_retriever or retriever
        self._nearness = Nearness()
        # The reply to a turn that neither asks something nor is small talk.
        offer = courtesy('Can you help me?') if reader is not None else None
        self._offer = offer or ''

    def search(self, text: str) -> list[Hit]:
        """Find passages for a text."""
        return self.retriever.search([text], self.k)[0]

    def ground(self, histories: Sequence[Sequence[str]]) -> list[TurnKnowledge]:
        """
        Find the passages that the reply to each conversation should rest on.

        :param histories: the turns before each reply, oldest first.
        :return: for each conversation, only the passages that answer the last turn, the
            one with the likeliest answer first, or, if none does, all that were found.
            Only questions and requests are declined.
        """
        histories = [list(map(without_surrogates, turns)) for turns in histories]
        grounded: dict[int, TurnKnowledge] = {}
        asking, other = list[int](), list[int]()
        for place, history in enumerate(histories):
            turn = history[-1] if history else ''
            if self.reader is not None and (reply := courtesy(turn)):
                grounded[place] = TurnKnowledge((), searched=True, courtesy=reply)
            elif self.reader is not None and may_ask(turn):
                asking.append(place)
            else:
                other.append(place)
        if asking:
            knowledge = self._answer([histories[place] for place in asking])
            grounded |= dict(zip(asking, knowledge, strict=True))
            other += [
                place
                for place in asking
                if grounded[place].declined and not _asks(histories[place][-1])
            ]
        if other:
            knowledge = self._find([histories[place] for place in other])
            grounded |= dict(zip(other, knowledge, strict=True))
        return [grounded[place] for place in range(len(histories))]

    def _find(self, histories: Sequence[Sequence[str]]) -> list[TurnKnowledge]:
        queries = [make_query(history, self.query) for history in histories]
        knowledge = []
        for hits in self.retriever.search(queries, self.k):
            passages = tuple(hit.passage for hit in hits)
            knowledge.append(
                TurnKnowledge(passages, searched=True, courtesy=self._offer)
            )
        return knowledge

    def _answer(self, histories: Sequence[Sequence[str]]) -> list[TurnKnowledge]:
        """Find passages that answer the question at the end of each history."""
        questions = [find_question(history) for history in histories]
        queries = questions
        if self.query != DEFAULT_QUERY:
            queries = [make_query(history, self.query) for history in histories]
        results = self.question_retriever.search(queries, DEPTH)
        nearest = list(map(self._find_nearest, questions, histories, results))
        pairs = list[tuple[Sequence[str], Passage]]()
        for history, question, candidates in zip(
            histories, questions, nearest, strict=True
        ):
            # Earlier turns mislead the rating of what answers a question of its own.
            turns = history[-1:] if question == history[-1] else history
            pairs += [(turns, p._replace(text=text)) for p, text, _ in candidates]
        answers = iter(self.reader.read(pairs) if self.reader else ())
        grounded = []
        for history, question, candidates in zip(
            histories, questions, nearest, strict=True
        ):
            readings = [
                PassageReading(passage, text, next(answers), nearness, question)
                for passage, text, nearness in candidates
            ]
            grounded.append(self.choose(history[-1], readings))
        return grounded

    def _find_nearest(
        self, question: str, history: Sequence[str], hits: Sequence[Hit]
    ) -> list[tuple[Passage, str, float]]:
        """
        Find the passages nearest to a question, those of figures last, with their texts
        without orders. Passages that are only orders are left out.
        """
        nearness = self._nearness.measure(question, hits)
        ranked = sorted(
            zip((hit.passage for hit in hits), nearness, strict=True),
            key=lambda pair: (is_figures(pair[0].text), -pair[1]),
        )
        is_how_or_why = asks_how_or_why(history[-1])
        masked = (
            (passage, mask_orders(passage.text, is_how_or_why), near)
            for passage, near in ranked[:MAX_READ]
        )
        return [triple for triple in masked if triple[1].strip()]

    def choose(
        self, question: str, readings: Sequence[PassageReading]
    ) -> TurnKnowledge:
        """
        Choose the readings that answer a question.

        :param readings: the nearest first.
        """
        is_how_or_why = asks_how_or_why(question)
        ranked = sorted(readings, key=lambda reading: -reading.logit)
        least = logit(LEAST_CHANCE)
        called = [r for r in ranked if is_how_or_why and is_named(question, r.passage)]
        if not called and (not ranked or ranked[0].logit < least):
            nearest = tuple(reading.passage for reading in readings[: self.k])
            return TurnKnowledge(nearest, searched=True, declined=True)
        floor = max(least, ranked[0].logit - TOLERANCE)
        if is_how_or_why:
            ranked = self._order_by_heading(question, ranked)
            ranked = [*called, *(r for r in ranked if r not in called)]
        chosen = [ranked[0], *(r for r in ranked[1:] if r.logit >= floor)][: self.k]
        quote = _quote_best(chosen)
        if is_how_or_why:
            # No short span explains how something is done.
            sentences, answers = [quote], list[str]()
        else:
            sentences = [reading.quote(0) for reading in chosen]
            answers = [reading.answer.span.text for reading in chosen]
        return TurnKnowledge(
            tuple(reading.passage for reading in chosen),
            searched=True,
            question=question,
            sentences=tuple(dict.fromkeys(filter(None, sentences))),
            answers=tuple(answer for answer in answers if answer.strip()),
            quote=quote,
        )

    def _order_by_heading(
        self, question: str, readings: Sequence[PassageReading]
    ) -> list[PassageReading]:
        headings = [heading_of(reading.passage) for reading in readings]
        cosines = self._nearness.cosines(question, headings)
        order = sorted(
            zip(readings, cosines, strict=True),
            key=lambda pair: -(pair[0].logit + HEADING_WEIGHT * pair[1]),
        )
        return [reading for reading, _ in order]


def _quote_best(readings: Sequence[PassageReading]) -> str:
    """
    Quote the document at the likeliest answer; in a table, also the row that is nearly
    as likely, since neighbouring rows are often similar.
    """
    first, *rest = readings
    quote = first.quote()
    for other in rest:
        if first.table is not None and other.table == first.table:
            two_rows = f'{quote}\n{other.quote()}'.strip()
            return two_rows if count_words(two_rows) <= QUOTE_WORDS else quote
    return quote


def is_figures(text: str) -> bool:
    """
    Whether a text is mostly figures, like the rows of a table.

    >>> is_figures('q2 0.84 [.80, .87] 600'), is_figures('It opened in 1969.')
    (True, False)
    """
    tokens = text.split()
    words = sum(1 for token in tokens if _TWO_LETTERS.search(token))
    return words < PROSE * len(tokens)


def is_named(question: str, passage: Passage) -> bool:
    """
    Whether a passage's headings and title, or its file's name, have all content words
    of a question about how something is done. The reader of spans may overlook such an
    answer.

    >>> is_named('How do I index files?', Passage('Run it.', 'Indexing your files'))
    True
    """
    words = stems(question) - _WHY
    return bool(words) and words <= stems(passage_name(passage))
