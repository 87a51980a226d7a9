"""
What question answering and end-to-end NLI read of knowledge of any length.

Short knowledge is read whole, its passages one after the other. Of long knowledge,
which departs from the paper, the few sentences are read that match a question or a
sentence of the response best, in the order of the text; if they do not answer a
question, the knowledge does not. An answer lies in one passage: what goes on in the
next one is cut.
"""

from collections.abc import Sequence
from itertools import chain

from parlai_q2.claims import Evidence, Stance
from parlai_q2.models.protocols import QuestionAnswerer
from parlai_q2.text.selection import SentenceIndex, index_of, pieces
from parlai_q2.turns import Example, Turn

# Sentences read for a question and, in end-to-end NLI, for each sentence of a response.
# Chosen on development data.
SENTENCES_PER_QUESTION, SENTENCES_PER_CLAIM = 3, 2


class Excerpts:
    """
    What to read of each turn's passages; they are split into sentences once.

    :param knowledge_words: knowledge of more words is long; 0 if none is.
    :param lower: whether answers are in lower case.
    """

    def __init__(self, knowledge_words: int, lower: bool = False):
        self._longest, self._lower = knowledge_words, lower
        self._indices: dict[tuple[str, ...], SentenceIndex] = {}

    def index(self, turn: Turn) -> SentenceIndex:
        """The sentences of a turn's passages."""
        if turn.texts not in self._indices:
            self._indices[turn.texts] = index_of(*turn.texts)
        return self._indices[turn.texts]

    def _is_long(self, index: SentenceIndex) -> bool:
        return 0 < self._longest < index.words

    def of_question(self, question: str, turn: Turn) -> list[int]:
        """The sentences to read for a question; none if all are read."""
        index = self.index(turn)
        if not self._is_long(index):
            return []
        return sorted(index.best(question, SENTENCES_PER_QUESTION))

    def of_response(self, example: Example) -> str:
        """What end-to-end NLI reads for a response."""
        index = self.index(example)
        if not self._is_long(index):
            return index.text
        best = (
            index.best(p.text, SENTENCES_PER_CLAIM) for p in pieces(example.response)
        )
        return index.joined(sorted(set(chain.from_iterable(best))))

    def answers(
        self, questions: Sequence[tuple[str, Turn]], answerer: QuestionAnswerer
    ) -> list[Evidence | None]:
        """
        Where the knowledge answers each of Q questions, each of a turn; None if it does
        not.
        """
        selections = [self.of_question(question, turn) for question, turn in questions]
        indices = [self.index(turn) for _, turn in questions]
        spans = answerer.answer(
            [
                (question, index.joined(sentence_places))
                for (question, _), index, sentence_places in zip(
                    questions, indices, selections, strict=True
                )
            ]
        )
        answers: list[Evidence | None] = []
        for answer, index, sentence_places in zip(
            spans, indices, selections, strict=True
        ):
            if answer is None:
                answers.append(None)
                continue
            passage, span = index.located(sentence_places, answer.start, answer.end)
            if self._lower:
                span = span._replace(text=span.text.lower())
            answers.append(Evidence(passage, span, Stance.NEITHER))
        return answers
