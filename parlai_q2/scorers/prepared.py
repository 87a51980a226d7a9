"""An example whose texts are prepared (:mod:`parlai_q2.text.prepare`) for a scorer."""

from dataclasses import dataclass, replace
from functools import cached_property

from parlai_q2.claims import Claim, Score
from parlai_q2.text.prepare import has_words, prepare, prepare_passage
from parlai_q2.text.prepared import PreparedText
from parlai_q2.turns import Example

# As signatures print it; another number for another way to prepare texts.
VERSION = 1


@dataclass(frozen=True)
class PreparedExample:
    """
    What a scorer reads of an example.

    :param whole: the example as it was given.
    :param prepares: whether it is prepared at all.
    """

    whole: Example
    prepares: bool = True

    @cached_property
    def _passages(self) -> list[PreparedText]:
        return list(map(prepare_passage, self.whole.texts))

    @cached_property
    def _response(self) -> PreparedText:
        return prepare(self.whole.response)

    @cached_property
    def _is_changed(self) -> bool:
        if not self.prepares or not has_words(self._response.text):
            return False  # a heading, or an enumeration of nothing
        return any(
            text.places is not None for text in (*self._passages, self._response)
        )

    @cached_property
    def example(self) -> Example:
        """The example with prepared texts."""
        if not self._is_changed:
            return self.whole
        return Example([text.text for text in self._passages], self._response.text)

    def restore(self, score: Score) -> Score:
        """The score with offsets in the texts as they were given."""
        if not self._is_changed:
            return score
        return replace(score, claims=tuple(map(self._restore, score.claims)))

    def _restore(self, claim: Claim) -> Claim:
        evidence = (
            place._replace(span=self._passages[place.passage].locate(place.span))
            for place in claim.evidence
        )
        span = self._response.locate(claim.span)
        return replace(claim, span=span, evidence=tuple(evidence))
