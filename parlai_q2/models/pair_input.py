"""
Turns a premise and a hypothesis into one input of a sequence classifier.
"""

from dataclasses import dataclass
from typing import Any, Optional, Sequence

from parlai_q2.errors import ConfigError

PREMISE, HYPOTHESIS = 'premise', 'hypothesis'
ORDER = (PREMISE, HYPOTHESIS)


@dataclass(frozen=True)
class PairInput:
    """
    The form in which a classifier reads pairs.

    :param order: premise and hypothesis, in the order in which they are read.
    :param separator: a string that joins the two into one text; None for the
        tokenizer's own way to encode a pair, with special tokens and segments.
    :param max_tokens: the maximum number of tokens of an input, including special ones.
    :param lower_case: whether to lower-case texts before tokenizing them.
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
        Tokenize pairs. If a pair is too long, its longer text is truncated or, with a
        separator, the end of the joined text.

        :param tokenizer: a Hugging Face tokenizer.
        :param pairs: B pairs (premise, hypothesis), at least one.
        :return: the tokenizer's output, B rows, not padded.
        """
        options = {'truncation': 'longest_first', 'max_length': self.max_tokens}
        return self._tokenize(tokenizer, pairs, **options)

    def count(self, tokenizer: Any, premise: str, hypothesis: str) -> int:
        """
        The number of tokens of a pair before truncation.
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
