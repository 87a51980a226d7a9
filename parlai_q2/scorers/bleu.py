"""
BLEU of a response against its knowledge, one of the Q2 paper's baselines.
"""

from collections.abc import Sequence
from typing import Any

from parlai_q2.claims import Score
from parlai_q2.models.lazy import Lazy
from parlai_q2.packages import check_package, import_package
from parlai_q2.scorers.base import Scorer, label_of
from parlai_q2.turns import Example

_PACKAGE = ('sacrebleu', 'sacrebleu', 'bleu', 'The scorer "bleu"')


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
        check_package(*_PACKAGE)
        super().__init__(threshold)
        self._metric = Lazy(self._load)

    @property
    def settings(self) -> dict[str, Any]:
        signature = str(self._metric().get_signature())
        return {'sacrebleu': signature.replace('|', ',')}

    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        return [self._score(example) for example in examples]

    def _load(self) -> Any:
        package = import_package(*_PACKAGE)
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
