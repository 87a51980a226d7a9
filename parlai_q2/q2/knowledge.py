"""
What question answering and end-to-end NLI read of knowledge of any length.

Short knowledge is read whole. Of long knowledge, which departs from the paper, the few
sentences are read that match a question or a sentence of the response best, in the
order of the text; if they do not answer a question, the knowledge does not.
"""

from typing import Optional, Sequence

from parlai_q2.models.protocols import QuestionAnswerer
from parlai_q2.text.selection import SentenceIndex, index_of, pieces
from parlai_q2.text.sentences import is_short
from parlai_q2.turns import Span

# Sentences read for a question and, in end-to-end NLI, for each sentence of a response.
# Chosen on development data.
FOR_A_QUESTION, FOR_A_SENTENCE = 3, 2


class Excerpts:
    """
    What to read of each knowledge text; each is split into sentences once.

    :param knowledge_words: knowledge of more words is long; 0 if none is.
    :param lower: whether answers are in lower case.
    """

    def __init__(self, knowledge_words: int, lower: bool = False):
        self._longest, self._lower = knowledge_words, lower
        self._indices: dict[str, Optional[SentenceIndex]] = {}

    def index(self, knowledge: str) -> Optional[SentenceIndex]:
        """The sentences of long knowledge; None if the knowledge is read whole."""
        if knowledge not in self._indices:
            long = self._longest > 0 and not is_short(knowledge, self._longest)
            self._indices[knowledge] = index_of(knowledge) if long else None
        return self._indices[knowledge]

    def of_question(self, question: str, knowledge: str) -> str:
        """What to read for a question."""
        index = self.index(knowledge)
        return index.joined(_chosen(index, question)) if index else knowledge

    def of_response(self, response: str, knowledge: str) -> str:
        """What end-to-end NLI reads for a response."""
        index = self.index(knowledge)
        if index is None:
            return knowledge
        best = (index.best(p.text, FOR_A_SENTENCE) for p in pieces(response))
        return index.joined(sorted({i for of_piece in best for i in of_piece}))

    def answers(
        self, pairs: Sequence[tuple[str, str]], answerer: QuestionAnswerer
    ) -> list[Optional[Span]]:
        """
        The answers to Q pairs (question, knowledge), with offsets in the whole
        knowledge; None if it has no answer.
        """
        found = answerer.answer([(q, self.of_question(q, k)) for q, k in pairs])
        for i, (answer, (question, knowledge)) in enumerate(
            zip(found, pairs, strict=True)
        ):
            index = self.index(knowledge)
            if answer and index:
                chosen = _chosen(index, question)
                found[i] = index.located(chosen, answer.start, answer.end)
        if self._lower:
            return [a and a._replace(text=a.text.lower()) for a in found]
        return found


def _chosen(index: SentenceIndex, question: str) -> list[int]:
    return sorted(index.best(question, FOR_A_QUESTION))
