"""
Finds the sentences of a long text that could support a statement or answer a question,
and those of a long response that its knowledge covers least.

Sentences are matched by their words, cut to their first five letters and weighted by
their inverse document frequency in the text, as in BM25 (Robertson and Zaragoza
2009). Function words do not count.
"""

import math
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence, Set
from functools import cached_property, lru_cache
from itertools import accumulate, islice

from parlai_q2.text.normalize import composed, copy_key
from parlai_q2.text.records import has_records
from parlai_q2.text.sentences import count_words, pieces
from parlai_q2.turns import PASSAGE_END, Span

STEM = 5
# A further sentence must add this share of the weight that the text can give at all.
NEW_SHARE = 0.3
# How much a sentence's length counts against it, by different word.
PER_WORD = 0.02
FUNCTION_WORDS = frozenset(
    'a about all also an and any are as at be been being but by can could did do '
    'does down for from had has have he her his how i if in into is it its just me '
    'more most my no not of on one only or other our out over she so some such than '
    'that the their them then there these they this those to too up us very was we '
    'were what when where which who will with would you your'.split()
)
_WORD = re.compile(r'\w+')
# What answers alone say, less those that tell how many or where.
_EMPTY = FUNCTION_WORDS.union('yes yeah yep nope indeed sure'.split()) - frozenset(
    'about all down more most one out over up'.split()
)


def has_no_content(text: str) -> bool:
    """
    Whether a text has words, but none that says what it is about.

    >>> has_no_content('Yes, it is.'), has_no_content('Yes, all of it.')
    (True, False)
    """
    words = _WORD.findall(text.lower())
    return bool(words) and _EMPTY.issuperset(words)


@lru_cache(maxsize=1024)
def stems(text: str) -> frozenset[str]:
    """
    The first :data:`STEM` letters of each word of a text, except function words. They
    stand for its stem; no stemmer is used. Apostrophes separate words.

    >>> sorted(stems('The Angara flows out of it.'))
    ['angar', 'flows']
    """
    words = set(_WORD.findall(composed(text).lower())) - FUNCTION_WORDS
    return frozenset({word[:STEM] for word in words})


class SentenceIndex:
    """
    The sentences of some passages, to find some of them by their words.

    :ivar text: the passages as one text, which models read.
    :ivar sentences: spans of their passages, in order.
    :ivar passages: the index of each sentence's passage.
    """

    def __init__(self, *passages: str):
        self.text = PASSAGE_END.join(passages)
        split = [(n, span) for n, text in enumerate(passages) for span in pieces(text)]
        self.passages = [n for n, _ in split]
        self.sentences = [sentence for _, sentence in split]
        self._texts = passages

    @cached_property
    def words(self) -> int:
        """The number of words of all passages."""
        return count_words(self.text)

    @cached_property
    def has_records(self) -> bool:
        """Whether most sentences were made of records; each is then read alone."""
        return has_records(self.text)

    @cached_property
    def _keys(self) -> frozenset[str]:
        return frozenset(copy_key(sentence.text) for sentence in self.sentences)

    def has_copy_of(self, sentence: str) -> bool:
        """
        Whether the passages have a sentence word for word, whatever its case and
        punctuation; signs count.
        """
        return copy_key(sentence) in self._keys

    def find(self, text: str) -> tuple[int, ...]:
        """The index of the first sentence that is a text; empty if there is none."""
        places = (i for i, s in enumerate(self.sentences) if s.text == text)
        return tuple(islice(places, 1))

    @cached_property
    def stems(self) -> list[frozenset[str]]:
        """The :func:`stems` of each sentence."""
        return [stems(sentence.text) for sentence in self.sentences]

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """The sentences that have a stem, in order, by stem."""
        places = defaultdict(list)
        for i, stems_of_sentence in enumerate(self.stems):
            for stem in stems_of_sentence:
                places[stem].append(i)
        return dict(places)

    def weight(self, stem: str) -> float:
        """The inverse document frequency of a stem that a sentence has."""
        return _inverse_frequency(len(self.places[stem]), len(self.sentences))

    def best(self, statement: str, most: int) -> list[int]:
        """
        The sentences that match a statement best.

        :return: at most ``most`` indices, best first; of equals, the earlier ones. If
            no sentence shares a word, the first ones.
        """
        scores = self.matches(statement)
        if not scores:
            return list(range(min(most, len(self.sentences))))
        return sorted(scores, key=lambda i: (-scores[i], i))[:most]

    def matches(self, statement: str) -> dict[int, float]:
        """
        How well sentences match a statement, by index; none shares no word with it.
        """
        weights = self._matches(stems(statement))
        return {i: w / (1 + PER_WORD * len(self.stems[i])) for i, w in weights.items()}

    def together(self, statement: str, most: int) -> list[int]:
        """
        The sentences that a statement may rest on together: the one that shares the
        most with it, and each further one that adds enough.

        :return: at most ``most`` indices, in the order of the text; empty if no
            sentence shares a word.
        """
        uncovered = set(stems(statement) & self.places.keys())
        least = NEW_SHARE * math.fsum(map(self.weight, uncovered))
        chosen: list[int] = []
        while uncovered and len(chosen) < most:
            weights = self._matches(uncovered)
            i = max(weights, key=lambda i: (weights[i], -i))
            if chosen and weights[i] < least:
                break
            chosen.append(i)
            uncovered -= self.stems[i]
        return sorted(chosen)

    def shares_word(self, statement: str) -> bool:
        """Whether a sentence has a word of a statement, by its stem."""
        return not stems(statement).isdisjoint(self.places)

    def least_covered(self, knowledge: 'SentenceIndex', max_words: int) -> list[int]:
        """
        Of sentences of a response, those with the most stems that the knowledge lacks.

        :param max_words: of all of them together; one is taken in any case.
        :return: indices in the order of the text; of equal sentences the first.
        """
        first = {
            sentence.text: i for i, sentence in reversed([*enumerate(self.sentences)])
        }
        new = {i: len(self.stems[i] - knowledge.places.keys()) for i in first.values()}
        chosen: list[int] = []
        words = 0
        for i in sorted(new, key=lambda i: (-new[i], i)):
            words += count_words(self.sentences[i].text)
            if chosen and words > max_words:
                break
            chosen.append(i)
        return sorted(chosen)

    def joined(self, chosen: Sequence[int]) -> str:
        """Some sentences as one text; if none are chosen, all passages."""
        if not chosen:
            return self.text
        return ' '.join(self.sentences[i].text for i in chosen)

    def located(self, chosen: Sequence[int], start: int, end: int) -> tuple[int, Span]:
        """
        Where a piece of :meth:`joined` is: the index of its passage, and the span in
        it. A piece that goes on in another sentence (or passage, if none are chosen) is
        cut at the end of the one that it begins in.
        """
        parts = [(self.passages[i], self.sentences[i]) for i in chosen] or [
            (n, Span(text, 0, len(text))) for n, text in enumerate(self._texts)
        ]
        lengths = (len(part.text) + 1 for _, part in parts)
        offsets = [*accumulate(lengths, initial=0)]
        # What begins between two is in the second: some tokens begin with a space.
        n = min(bisect_right(offsets, start + 1), len(parts)) - 1
        (passage, part), offset = parts[n], offsets[n]
        first, last = max(0, start - offset), min(end - offset, len(part.text))
        return passage, Span(
            part.text[first:last], part.start + first, part.start + last
        )

    def _matches(self, stems_to_match: Set[str]) -> dict[int, float]:
        weights: dict[int, float] = {}
        for stem in sorted(stems_to_match & self.places.keys()):
            weight = self.weight(stem)
            for i in self.places[stem]:
                weights[i] = weights.get(i, 0.0) + weight
        return weights


@lru_cache(maxsize=4096)
def _inverse_frequency(count: int, total: int) -> float:
    """The weight of what ``count`` of all sentences have."""
    return math.log(1 + (total - count + 0.5) / (count + 0.5))


# Candidates for one turn, and the models that read them, share the knowledge. Mistakes
# are named once all of a batch is read. An index of a long text takes a megabyte.
@lru_cache(maxsize=64)
def index_passages(*passages: str) -> SentenceIndex:
    """The sentences of passages, kept for some of them."""
    return SentenceIndex(*passages)
