"""A scorer and a relevance reader that count their calls, and pools for them."""

from parlai_q2.claims import Label, Score, not_verifiable
from parlai_q2.rerank import Candidate, Pool
from parlai_q2.scorers.base import Scorer
from parlai_q2.text.normalize import tokens


class ToyScorer(Scorer):
    """
    The share of a response's words that the knowledge has, counting every call.

    A response that has the word ``hello`` cannot be verified.
    """

    name = 'toy'
    has_models = True
    made: list['ToyScorer'] = []

    def __init__(self, threshold: float = 0.5, device: str = 'cpu'):
        self.threshold, self.device = threshold, device
        self.batches: list = []
        self.made.append(self)

    @property
    def settings(self) -> dict:
        return {}

    def score(self, examples):
        self.batches.append(list(examples))
        return super().score(examples)

    def score_texts(self, examples):
        return [self._score(e) for e in examples]

    def _score(self, example):
        words = tokens(example.response)
        if 'hello' in words:
            return not_verifiable(str(self.signature))
        knowledge_words = set(tokens(example.knowledge_text))
        value = sum(word in knowledge_words for word in words) / max(len(words), 1)
        label = Label.CONSISTENT if value > self.threshold else Label.INCONSISTENT
        return Score(value, label, signature=str(self.signature))


class ToyRelevance:
    """The share of the last turn's words that a reply has, counting every call."""

    settings: dict = {}

    def __init__(self) -> None:
        self.relevance_batches: list = []
        self.answer_batches: list = []

    def read_relevance(self, pairs):
        self.relevance_batches.append([reply for _, reply in pairs])
        return [self._share(turn.text, reply) for turn, reply in pairs]

    def read_right_answers(self, pairs):
        self.answer_batches.append([reply for _, reply in pairs])
        return [self._share(turn.text, reply) for turn, reply in pairs]

    def _share(self, text, reply):
        words = set(tokens(text))
        return len(words & set(tokens(reply))) / max(len(words), 1)


def pool(knowledge, *texts):
    """A pool of replies that a beam found, each less likely than the one before."""
    candidates = [Candidate(text, ('beam',), -float(n)) for n, text in enumerate(texts)]
    return Pool(knowledge, tuple(candidates))
