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
from parlai_q2.text.sentences import count_words, sentences
from parlai_q2.turns import Passage, Span

# An entry of a FAQ, or two or three sentences.
QUOTE_WORDS = 45
# What is longer (a listing) is not said.
LONGEST_QUOTE = 90
# Of two answers, that in the passage that was found first may be less sure by so many
# logits for each rank. Fitted, roughly, to 40 questions of ours.
PER_RANK = 0.5
# What is less sure than the surest answer by more logits is not one.
LESS_SURE = 4.0


class Grounding(NamedTuple):
    """
    What a reply should rest on.

    :param passages: best first; of a question, only those that answer it, that with the
        surest answer first, or, if none does, all that were found.
    :param question: the last turn, if it is a question that a passage answers.
    :param sentences: those of the passages that answer it.
    :param declined: whether the turn is a question that nothing found answers.
    """

    passages: tuple[Passage, ...]
    declined: bool = False
    question: str = ''
    sentences: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    quote: str = ''


class Grounder:
    """
    Finds passages for turns.

    :param reader: reads passages for answers; None: all that is found is kept.
    :param k: the most passages of a turn.
    :param few: all passages, where they are few: for a question, those that were not
        found are read, too, so that it need not have their words.
    :param made_of: what queries are made of, see
        :func:`~parlai_q2.retrieve.queries.query_of`.
    """

    def __init__(
        self,
        retriever: Retriever,
        reader: Optional[AnswerReader] = None,
        k: int = DEFAULT_PASSAGES,
        made_of: str = DEFAULT_QUERY,
        few: Sequence[Passage] = (),
    ):
        self.retriever, self.reader, self.k = retriever, reader, k
        self.made_of, self.few = made_of, tuple(few)

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
        found = [
            tuple(dict.fromkeys((*some, *self.few)))[: self.k] if question else some
            for question, some in zip(asked, found, strict=True)
        ]
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
            sure = {p: a.margin - PER_RANK * n for n, (p, a) in enumerate(read) if a}
            least = max(sure.values()) - LESS_SURE
            kept = [one for one in kept if sure[one[0]] >= least]
            kept.sort(key=lambda one: -sure[one[0]])
            texts = [(p.text, answer.span) for p, answer in kept]
            grounded.append(
                Grounding(
                    tuple(passage for passage, _ in kept),
                    False,
                    question,
                    tuple(dict.fromkeys(sentence_at(t, s.start) for t, s in texts)),
                    tuple(span.text for _, span in texts if span.text.strip()),
                    _short(quote_at(texts[0][0], texts[0][1].start)),
                )
            )
        return grounded


def sentence_at(text: str, place: int) -> str:
    """
    The sentence at a place of a text; the first if there is none.

    >>> sentence_at('It is red. It hums.', 12)
    'It hums.'
    """
    return quote_at(text, place, 0)


def quote_at(text: str, place: int, words: int = QUOTE_WORDS) -> str:
    """
    The sentence at a place of a text, with those after and before it that fit.

    :param words: the most words, unless the sentence alone has more.

    >>> quote_at('It is blue. It is red. It hums. It is old.', 13, 6)
    'It is red. It hums.'
    """
    every = sentences(text)
    if not every:
        return text
    first = last = next(
        (n for n, one in enumerate(every) if one.start <= place < one.end), 0
    )
    while True:
        if last + 1 < len(every) and _words(text, every, first, last + 1) <= words:
            last += 1
        elif first and _words(text, every, first - 1, last) <= words:
            first -= 1
        else:
            return text[every[first].start : every[last].end]


def _short(quote: str) -> str:
    return quote if count_words(quote) <= LONGEST_QUOTE else ''


def _words(text: str, every: Sequence[Span], first: int, last: int) -> int:
    return count_words(text[every[first].start : every[last].end])
