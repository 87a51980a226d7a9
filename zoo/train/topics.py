"""
Finds another text about the same thing, near enough to mislead a careless reader, that
does not hold the answer.

A text's nearness to a question is the share of the question's words that it has, each
weighted by its inverse document frequency (Sparck Jones 1972).
"""

import math
from collections import Counter
from typing import Optional, Sequence

from parlai_q2.text.content_words import content_words
from parlai_q2.text.vague import QUESTION_NOUNS

# The share of the question's weight that another text may have. With less it is about
# something else; with more it may say the same in other words.
LEAST_SHARED, MOST_SHARED = 0.25, 0.6
# The share of words that two texts may share; with more, one is likely a part of the
# other.
MOST_ALIKE = 0.3
# The least number of content words in a question: "What is it?" fits any text.
LEAST_ASKED = 2
# Words that occur in more than this share of the texts are not searched for.
COMMON = 0.02


class TopicIndex:
    """
    Indexes texts by their content words.

    :param texts: distinct texts.
    """

    def __init__(self, texts: Sequence[str]):
        self.texts = list(texts)
        self._words = [frozenset(content_words(text)) for text in self.texts]
        counts = Counter(word for known in self._words for word in known)
        most = max(2, COMMON * len(self.texts))
        self._weight = {w: math.log(len(self.texts) / n) for w, n in counts.items()}
        self._unknown = math.log(max(2, len(self.texts)))
        self._having: dict[str, list[int]] = {}
        for i, known in enumerate(self._words):
            for word in known:
                if counts[word] <= most:
                    self._having.setdefault(word, []).append(i)

    def near(self, question: str, text: str, answer: str) -> Optional[str]:
        """
        The text that has most of a question's weight, within the limits.

        :param question: the question.
        :param text: the text that answers it; texts much like it are not taken.
        :param answer: the answer; texts with one of its content words are not taken.
        :return: the text; None where no text is near enough.
        """
        asked = frozenset(content_words(question)) - QUESTION_NOUNS
        own, told = frozenset(content_words(text)), frozenset(content_words(answer))
        whole = sum(self._of(word) for word in asked)
        if not told or len(asked) < LEAST_ASKED:
            return None
        best, most = None, LEAST_SHARED
        for i in dict.fromkeys(
            i for word in sorted(asked) for i in self._having.get(word, ())
        ):
            known = self._words[i]
            shared = sum(self._of(word) for word in asked & known) / whole
            alike = len(known & own) / (len(known | own) or 1)
            if told & known or alike > MOST_ALIKE or not most < shared <= MOST_SHARED:
                continue
            best, most = self.texts[i], shared
        return best

    def _of(self, word: str) -> float:
        return self._weight.get(word, self._unknown)
