"""
Finds the passages that the reply to a turn should rest on.

The last two turns are searched for, with names of earlier ones. If the last one is a
question, the passages that were found are read for its answer, and those that have one
are kept: a reply that rests on another passage would be true, and no answer.
"""

from collections.abc import Sequence
from typing import NamedTuple, Optional

from parlai_q2.retrieve.answers import Answer, AnswerReader, asks, wants_a_way
from parlai_q2.retrieve.courtesy import courtesy
from parlai_q2.retrieve.found import Found, Retriever
from parlai_q2.retrieve.presets import DEFAULT_PASSAGES
from parlai_q2.retrieve.queries import DEFAULT_QUERY, Query, query_of
from parlai_q2.retrieve.readers.block import cell_at
from parlai_q2.retrieve.store import named
from parlai_q2.text.selection import stems
from parlai_q2.text.sentences import count_words, sentences
from parlai_q2.turns import Passage, Span

# An entry of a FAQ, or two or three sentences.
QUOTE_WORDS = 45
# What is longer (a listing) is not said.
LONGEST_QUOTE = 90
# Of two answers, that in the passage that was found first may be less sure by so many
# logits for each rank. On half of 1,380 questions of the model's development data, five
# passages each, 5 puts the right one first for .339 and 0.5 for .291; on the other half
# for .319 and .288.
PER_RANK = 5.0
# What is less sure than the surest answer by more logits is not one.
LESS_SURE = 4.0
_WHY = frozenset({'why'})


class Grounding(NamedTuple):
    """
    What a reply should rest on.

    :param passages: best first; of a question, only those that answer it, that with the
        surest answer first, or, if none does, all that were found.
    :param question: the last turn, if it is a question that a passage answers.
    :param sentences: those of the passages that answer it.
    :param courtesy: the reply, if the turn is only small talk.
    :param declined: whether the turn is a question that nothing found answers.
    """

    passages: tuple[Passage, ...]
    declined: bool = False
    question: str = ''
    sentences: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    quote: str = ''
    courtesy: str = ''


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

    def search(self, text: str) -> list[Found]:
        """What is found for a text."""
        return self.retriever.search([text], self.k)[0]

    def ground(self, histories: Sequence[Sequence[str]]) -> list[Grounding]:
        """
        What the reply to each conversation should rest on.

        :param histories: for each the turns before the reply, oldest first.
        """
        if self.reader is not None:
            polite = [courtesy(h[-1]) if h else None for h in histories]
            if any(polite):
                others = [
                    h for h, one in zip(histories, polite, strict=True) if not one
                ]
                found = iter(self._ground(others))
                return [
                    Grounding((), courtesy=one) if one else next(found)
                    for one in polite
                ]
        return self._ground(histories)

    def _ground(self, histories: Sequence[Sequence[str]]) -> list[Grounding]:
        asked = [h[-1] if h and asks(h[-1]) else '' for h in histories]
        found = self._found(histories, asked)
        if self.reader is None:
            return [Grounding(some) for some in found]
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
            a_way = wants_a_way(question)
            called = {p for p in some if a_way and is_named(question, p)}
            # A stable sort: what is called so comes first, else what was found so.
            read.sort(key=lambda one: one[0] not in called)
            if not called and not any(answer for _, answer in read):
                grounded.append(Grounding(some, declined=True))
            elif a_way:
                grounded.append(_way(question, read))
            else:
                grounded.append(_answered(question, read))
        return grounded

    def _found(
        self, histories: Sequence[Sequence[str]], asked: Sequence[str]
    ) -> list[tuple[Passage, ...]]:
        queries = [query_of(history, self.made_of) for history in histories]
        asks_for = [self.of_questions if one else self.retriever for one in asked]
        found: list[tuple[Passage, ...]] = [()] * len(queries)
        for retriever in {id(one): one for one in asks_for}.values():
            places = [n for n, one in enumerate(asks_for) if one is retriever]
            some = retriever.search([queries[n] for n in places], self.k)
            for n, passages in zip(places, some, strict=True):
                found[n] = tuple(one.passage for one in passages)
        return found


Read = Sequence[tuple[Passage, Optional[Answer]]]


def _answered(question: str, read: Read) -> Grounding:
    """The passages whose answers are the surest."""
    sure = [
        (answer.margin - PER_RANK * rank, passage, answer.span)
        for rank, (passage, answer) in enumerate(read)
        if answer is not None
    ]
    sure.sort(key=lambda one: -one[0])
    kept = [(p, span) for margin, p, span in sure if margin >= sure[0][0] - LESS_SURE]
    texts = [(p.text, span) for p, span in kept]
    return Grounding(
        tuple(passage for passage, _ in kept),
        False,
        question,
        tuple(dict.fromkeys(_quote(t, s, 0) for t, s in texts)),
        tuple(span.text for _, span in texts if span.text.strip()),
        _short(_quote(*texts[0])),
    )


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


def _way(question: str, read: Read) -> Grounding:
    """
    The passage that fits best, with others that answer: of how something is done, the
    reader of spans can tell that the documents say it, and not so well where.
    """
    (first, answer), *others = read
    quote = _short(_quote(first.text, answer.span if answer else None))
    kept = (first, *(passage for passage, one in others if one is not None))
    return Grounding(kept, False, question, (quote,) if quote else (), (), quote)


def _quote(text: str, answer: Optional[Span], words: int = QUOTE_WORDS) -> str:
    """What a passage says at an answer; of a table's row, the cell."""
    place = answer.start if answer and answer.text.strip() else None
    cell = cell_at(text, place)
    if cell is None:
        return quote_at(text, place or 0, words)
    return quote_at(cell.text, max(0, (place or 0) - cell.start), words)


def quote_at(text: str, place: int, words: int = QUOTE_WORDS) -> str:
    """
    The sentence at a place of a text, with those after and before it that fit.

    :param words: the most words, unless the sentence alone has more. Questions, as
        those of a FAQ, are left out.

    >>> quote_at('Is it blue? It is red. It hums. It is old.', 13, 9)
    'It is red. It hums. It is old.'
    """
    every = sentences(text)
    if not every:
        return text
    first = last = next(
        (n for n, one in enumerate(every) if one.start <= place < one.end), 0
    )

    def fits(added: int) -> bool:
        return (
            0 <= added < len(every)
            and not every[added].text.rstrip().endswith('?')
            and _words(text, every, min(first, added), max(last, added)) <= words
        )

    while True:
        if fits(last + 1):
            last += 1
        elif fits(first - 1):
            first -= 1
        else:
            return text[every[first].start : every[last].end]


def _short(quote: str) -> str:
    return quote if count_words(quote) <= LONGEST_QUOTE else ''


def _words(text: str, every: Sequence[Span], first: int, last: int) -> int:
    return count_words(text[every[first].start : every[last].end])
