"""
Limits how much of a long response a scorer reads, to the sentences that its knowledge
covers least: unsupported content is most likely among them.
"""

from dataclasses import dataclass, replace
from functools import cached_property

from parlai_q2.claims import Score
from parlai_q2.text.selection import SentenceIndex, index_of
from parlai_q2.text.sentences import is_short
from parlai_q2.turns import Example

# About 50 sentences, so that a response of any length is scored within two seconds by
# the shipped detector; replies of chatbots are far shorter.
MAX_RESPONSE_WORDS = 800
# The part of a score that is the share of a text that was not read.
UNREAD = 'unread'


@dataclass(frozen=True)
class Excerpt:
    """
    What is read of an example.

    :param max_words: the limit for the response; 0 if there is none.
    """

    whole: Example
    max_words: int

    @cached_property
    def _response(self) -> SentenceIndex:
        return SentenceIndex(self.whole.response)

    @cached_property
    def _chosen(self) -> list[int]:
        if not self.max_words or is_short(self.whole.response, self.max_words):
            return []
        return self._response.least_covered(index_of(*self.whole.texts), self.max_words)

    @cached_property
    def example(self) -> Example:
        """The example with the part of its response that is read."""
        if not self._chosen:
            return self.whole
        return Example(self.whole.knowledge, self._response.joined(self._chosen))

    def restore(self, score: Score) -> Score:
        """The score of the part as one of the whole: with offsets in it."""
        if not self._chosen:
            return score
        claims = []
        for claim in score.claims:
            start, end = claim.span.start, claim.span.end
            _, span = self._response.located(self._chosen, start, end)
            claims.append(replace(claim, span=span))
        share = 1 - len(self.example.response) / len(self.whole.response)
        parts = {**score.parts, UNREAD: share}
        return replace(score, claims=tuple(claims), parts=parts)
