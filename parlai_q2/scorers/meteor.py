"""
METEOR of a response against its knowledge (Banerjee and Lavie 2005), by NLTK; the Q2
paper has it as a baseline of Topical-Chat (Honovich et al. 2021, Table 5).

Words match if they are equal, have the same stem (Porter), or are synonyms in WordNet;
NLTK looks for the last among stems, so that it misses some ("larg" is no word).
The tool of that paper's row, most likely Java's METEOR 1.5, also matches paraphrases,
weighs function words less, and has other parameters; its reference is the human reply.
"""

import re
from collections.abc import Sequence
from typing import Any

from parlai_q2.claims import Score
from parlai_q2.models.lazy import Lazy
from parlai_q2.packages import check_package
from parlai_q2.perturb.wordnet import wordnet
from parlai_q2.scorers.base import Scorer, label_of
from parlai_q2.scorers.excerpt import MAX_RESPONSE_WORDS
from parlai_q2.turns import Example

_PACKAGE = ('nltk', 'nltk', 'wordnet', 'The scorer "meteor"')
# NLTK's defaults, those of the paper of 2005 in today's notation.
ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5
_WORD = re.compile(r"\w+(?:['’]\w+)?")


class MeteorScorer(Scorer):
    """
    METEOR, in [0, 1], with the knowledge as the only reference.

    :param threshold: a value of at most this, in [0, 1], is inconsistent.
    :raises MissingPackageError: if NLTK is not installed; an InputError when it first
        scores without WordNet.
    """

    name = 'meteor'
    max_response_words = MAX_RESPONSE_WORDS

    def __init__(self, threshold: float = Scorer.threshold):
        check_package(*_PACKAGE)
        super().__init__(threshold)
        self._metric = Lazy(self._load)

    @property
    def settings(self) -> dict[str, Any]:
        import nltk

        return {
            'nltk': nltk.__version__,
            'wordnet': wordnet().get_version(),
            'alpha': f'{ALPHA:g}',
            'beta': f'{BETA:g}',
            'gamma': f'{GAMMA:g}',
            'tokens': 'words',
        }

    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        scores = []
        for example in examples:
            value = self._metric()(example.knowledge_text, example.response)
            label = label_of(value, self.threshold)
            scores.append(Score(value, label))
        return scores

    def _load(self) -> Any:
        from nltk.translate.meteor_score import single_meteor_score

        synonyms = wordnet()

        def meteor(reference: str, response: str) -> float:
            texts = [words(reference), words(response)]
            if not all(texts):
                return 0.0
            value = single_meteor_score(
                *texts, wordnet=synonyms, alpha=ALPHA, beta=BETA, gamma=GAMMA
            )
            return min(1.0, max(0.0, float(value)))

        return meteor


def words(text: str) -> list[str]:
    """The words of a text, in lower case, without punctuation."""
    return _WORD.findall(text.lower())
