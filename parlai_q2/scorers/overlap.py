"""
Scorers that compare words: overlap, ROUGE-L, BLEU and METEOR. They need no model.

METEOR (Banerjee and Lavie 2005) is NLTK's; the Q2 paper has it as a baseline of
Topical-Chat (Honovich et al. 2021, Table 5). Words match if they are equal, have the
same stem (Porter), or are synonyms in WordNet; NLTK looks for the last among stems, so
that it misses some ("larg" is no word). The tool of that paper's row, most likely
Java's METEOR 1.5, also matches paraphrases, weighs function words less, and has other
parameters; its reference is the human reply.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from parlai_q2.claims import Score
from parlai_q2.models.lazy import Lazy
from parlai_q2.packages import check_package, import_package
from parlai_q2.scorers.base import Scorer, label_of
from parlai_q2.scorers.shell import MAX_RESPONSE_WORDS
from parlai_q2.text.normalize import content_words, content_words_name
from parlai_q2.text.overlap import Overlap, compare_tokens, rouge_l, token_overlap
from parlai_q2.turns import Example

_SACREBLEU = ('sacrebleu', 'sacrebleu', 'bleu', 'The scorer "bleu"')
_NLTK = ('nltk', 'nltk', 'wordnet', 'The scorer "meteor"')
# NLTK's defaults, those of the paper of 2005 in today's notation.
ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5
_WORD = re.compile(r"\w+(?:['’]\w+)?")


class SharedWordsScorer(Scorer):
    """
    Base class of scorers whose value is an overlap. A subclass sets :attr:`overlap`,
    the function of knowledge and response, and may set which number of it is the value.
    """

    overlap: Callable[[str, str], Overlap]
    measure = 'f1'

    @property
    def settings(self) -> dict[str, object]:
        return {'measure': self.measure}

    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        scores = []
        for example in examples:
            overlap = self.overlap(example.knowledge_text, example.response)
            value = getattr(overlap, self.measure)
            label = label_of(value, self.threshold)
            parts = {'precision': overlap.precision, 'f1': overlap.f1}
            scores.append(Score(value, label, parts=parts))
        return scores


class OverlapScorer(SharedWordsScorer):
    """
    Token overlap of response and knowledge, with Q2's normalisation of answers.

    It is similar to the paper's "Overlap" baseline, whose code counts other words; use
    :class:`ContentOverlapScorer` to get that baseline's numbers.
    """

    name = 'overlap'
    overlap = staticmethod(token_overlap)


class PrecisionScorer(OverlapScorer):
    """The share of the response's words that occur in the knowledge."""

    name = measure = 'precision'


class ContentOverlapScorer(SharedWordsScorer):
    """
    F1 of the content words of response and knowledge: the "Overlap" baseline of
    Honovich et al. 2021, as their released code computes it.
    """

    name = 'content_overlap'

    @property
    def settings(self) -> dict[str, object]:
        return {**super().settings, 'tokens': content_words_name()}

    def overlap(self, knowledge: str, response: str) -> Overlap:
        # Lower-case first, as in their code: some of spaCy's rules depend on case.
        return compare_tokens(content_words(knowledge.lower()), content_words(response))


class RougeLScorer(SharedWordsScorer):
    """The F-measure of ROUGE-L; ``Score.parts`` also has its precision."""

    name = 'rouge_l'
    # Up to this length the time hardly depends on the response.
    max_response_words = 5_000
    overlap = staticmethod(rouge_l)

    @property
    def settings(self) -> dict[str, object]:
        return {**super().settings, 'tokens': 'letters_digits', 'stemmer': 'no'}


class BleuScorer(Scorer):
    """
    sacreBLEU's sentence BLEU with the knowledge as the only reference (Post 2018, arXiv
    1804.08771).

    The value is BLEU / 100; ``Score.parts`` has BLEU itself, in [0, 100], as
    ``bleu_100``. The signature includes sacreBLEU's own. Even faithful responses rarely
    exceed the default threshold: choose one on development data, or compare the values.

    Texts are compared in lower case, as in the paper's code; n-gram orders for which
    the response is too short are ignored, as sacreBLEU recommends for sentences.

    :param threshold: a value of at most this, in [0, 1], is inconsistent.
    :raises MissingPackageError: if sacrebleu is not installed.
    """

    name = 'bleu'

    def __init__(self, threshold: float = Scorer.threshold):
        check_package(*_SACREBLEU)
        super().__init__(threshold)
        self._metric = Lazy(self._load)

    @property
    def settings(self) -> dict[str, object]:
        signature = str(self._metric().get_signature())
        return {'sacrebleu': signature.replace('|', ',')}

    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        return [self._score(example) for example in examples]

    def _load(self) -> Any:
        package = import_package(*_SACREBLEU)
        metric = package.BLEU(lowercase=True, effective_order=True)
        # sacreBLEU has no signature until it has seen a reference.
        metric.sentence_score('word', ['word'])
        return metric

    def _score(self, example: Example) -> Score:
        bleu = self._metric().sentence_score(example.response, [example.knowledge_text])
        # sacreBLEU computes exp(log(100)), which is slightly more than 100.
        hundred = min(100.0, bleu.score)
        value = hundred / 100
        label = label_of(value, self.threshold)
        return Score(value, label, parts={'bleu_100': hundred})


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
        check_package(*_NLTK)
        super().__init__(threshold)

    @property
    def settings(self) -> dict[str, object]:
        import nltk

        from parlai_q2.perturb.wordnet import wordnet

        return {
            'nltk': nltk.__version__,
            'wordnet': wordnet().get_version(),
            'alpha': f'{ALPHA:g}',
            'beta': f'{BETA:g}',
            'gamma': f'{GAMMA:g}',
            'tokens': 'words',
        }

    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        from nltk.translate.meteor_score import single_meteor_score

        from parlai_q2.perturb.wordnet import wordnet

        scores = []
        for example in examples:
            value = 0.0
            texts = [words(example.knowledge_text), words(example.response)]
            if all(texts):
                meteor = single_meteor_score(
                    *texts, wordnet=wordnet(), alpha=ALPHA, beta=BETA, gamma=GAMMA
                )
                value = min(1.0, max(0.0, float(meteor)))
            scores.append(Score(value, label_of(value, self.threshold)))
        return scores


def words(text: str) -> list[str]:
    """The words of a text, in lower case, without punctuation."""
    return _WORD.findall(text.lower())
