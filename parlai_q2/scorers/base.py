"""
What every scorer offers.
"""

from abc import ABC, abstractmethod
from typing import Iterable, Sequence

from parlai_q2.errors import InputError
from parlai_q2.records import Example, Label, Score, not_verifiable
from parlai_q2.signature import Signature

# Honovich et al. 2021, section 4.2: a score of at most 0.5 means inconsistent.
DEFAULT_THRESHOLD = 0.5


def label_of(value: float, threshold: float) -> str:
    """
    The label of a value that something could be verified by.

    :param value: a score's.
    :param threshold: a value of at most this is inconsistent.
    """
    return Label.CONSISTENT if value > threshold else Label.INCONSISTENT


class Scorer(ABC):
    """
    Scores responses against their knowledge.

    A subclass sets ``name``, gives its ``settings`` and fills :meth:`score_texts`. It
    is to go by knowledge and response alone: examples that have both in common are
    scored once, whatever their history.

    >>> from parlai_q2 import Label, Score
    >>> class Longer(Scorer):
    ...     name = 'longer'
    ...     settings = {'unit': 'characters'}
    ...
    ...     def score_texts(self, examples):
    ...         return [self.one(len(e.response) <= len(e.knowledge)) for e in examples]
    ...
    ...     def one(self, fits):
    ...         label = Label.CONSISTENT if fits else Label.INCONSISTENT
    ...         return Score(float(fits), label, signature=str(self.signature))
    >>> scores = Longer().score([Example('Bees have five eyes.', 'Five.')])
    >>> scores[0].value, str(scores[0].signature).split('|')[:2]
    (1.0, ['longer', 'threshold:0.5'])
    """

    name: str
    threshold: float = DEFAULT_THRESHOLD

    @property
    @abstractmethod
    def settings(self) -> dict:
        """
        Everything that decides the numbers: models, decoding, filters, comparison.
        """

    @abstractmethod
    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        """
        Score examples that all have knowledge and a response.

        :param examples: B examples, no two with the same knowledge and response.
        :return: B scores, in order.
        """

    @property
    def signature(self) -> Signature:
        """
        How to get this scorer's numbers again; printed with every number.
        """
        return Signature(self.name, {'threshold': self.threshold, **self.settings})

    def score(self, examples: Iterable[Example]) -> list[Score]:
        """
        Score a batch of any size in a few large model calls; identical texts once.

        :param examples: B examples. One with an empty response or knowledge gets the
            label ``not_verifiable``.
        :return: B scores, in order; the same as if each had been scored alone (to the
            last bit by models that compute in int8, to about 1e-7 in fp32).
        :raises InputError: when something else than an Example is among them.
        """
        if isinstance(examples, Example) or not isinstance(examples, Iterable):
            raise InputError(
                'score() takes a list of Example, not '
                f'{type(examples).__name__}. Write score([example]).'
            )
        examples = list(examples)
        for example in examples:
            if not isinstance(example, Example):
                raise InputError(
                    'score() takes a list of Example, but there is a '
                    f'{type(example).__name__} in it. Write '
                    'Example(knowledge="...", response="...").'
                )
        nothing = not_verifiable(str(self.signature))
        by_text: dict[tuple[str, str], Example] = {}
        for example in examples:
            if example.knowledge.strip() and example.response.strip():
                by_text.setdefault((example.knowledge, example.response), example)
        scores = dict(
            zip(by_text, self.score_texts(list(by_text.values())), strict=True)
        )
        return [scores.get((e.knowledge, e.response), nothing) for e in examples]
