"""
How a premise and a hypothesis become one input of a sequence classifier.
"""

from dataclasses import dataclass
from typing import Any, Optional, Sequence

from parlai_q2.errors import ConfigError

PREMISE, HYPOTHESIS = 'premise', 'hypothesis'
ORDER = (PREMISE, HYPOTHESIS)


@dataclass(frozen=True)
class PairInput:
    """
    The form that a classifier reads pairs in.

    :param order: which text comes first: premise and hypothesis, in either order.
    :param separator: what joins the two into one text; None for the tokenizer's own
        pair, with its special tokens and segments.
    :param max_tokens: tokens of an input, special ones included, at most.
    :param lower_case: whether texts are lower-cased before they are tokenized.
    """

    order: tuple[str, ...] = ORDER
    separator: Optional[str] = None
    max_tokens: int = 384
    lower_case: bool = False

    def __post_init__(self):
        object.__setattr__(self, 'order', tuple(self.order))
        if sorted(self.order) != sorted(ORDER):
            raise ConfigError(
                'order must be [premise, hypothesis] or [hypothesis, premise], '
                f'not {list(self.order)}.'
            )
        if self.max_tokens < 8:
            raise ConfigError(
                f'max_tokens is {self.max_tokens}; a pair needs at least 8.'
            )

    def encode(self, tokenizer: Any, pairs: Sequence[tuple[str, str]]) -> Any:
        """
        Tokenize pairs; of one that is too long, the longer text is cut.

        :param tokenizer: a Hugging Face tokenizer.
        :param pairs: B pairs (premise, hypothesis), at least one.
        :return: the tokenizer's output, B rows, not padded. With a separator the end of
            the joined text is cut.
        """
        options = {'truncation': 'longest_first', 'max_length': self.max_tokens}
        return self._tokenize(tokenizer, pairs, **options)

    def count(self, tokenizer: Any, premise: str, hypothesis: str) -> int:
        """
        The tokens of a pair before anything is cut.
        """
        encoded = self._tokenize(tokenizer, [(premise, hypothesis)], verbose=False)
        return len(encoded['input_ids'][0])

    def _tokenize(
        self, tokenizer: Any, pairs: Sequence[tuple[str, str]], **options: Any
    ) -> Any:
        if self.lower_case:
            pairs = [(p.lower(), h.lower()) for p, h in pairs]
        first, second = zip(*pairs)
        if self.order[0] == HYPOTHESIS:
            first, second = second, first
        if self.separator is None:
            return tokenizer(list(first), list(second), **options)
        joined = [self.separator.join(texts) for texts in zip(first, second)]
        return tokenizer(joined, **options)
