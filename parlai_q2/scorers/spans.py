"""
Marks the words of a response that its knowledge does not support, by the detector
alone: evidence without questions.

If the detector supports a sentence, the evidence names the sentence of the knowledge
that it rests on. If not, it is read again without one phrase at a time (erasure, Li et
al. 2016, arXiv 1612.08220): a noun phrase, an entity, a verb with its negation, or a
single word. The phrase whose omission leaves the best supported rest was the trouble,
and is marked; if no omission makes the rest supported, the whole sentence is.

The detector takes short replies that merely name something for chit-chat ("It was by
Lee!"). Of a generic sentence, names and numbers that the knowledge lacks are marked.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from parlai_q2.claims import Claim, Label, Score, Status
from parlai_q2.models.protocols import NliProbabilities
from parlai_q2.scorers import by_value
from parlai_q2.scorers.consistency import (
    ConsistencyScorer,
    Piece,
    Split,
    claim_of,
    indices,
    read,
    status_of,
    support,
)
from parlai_q2.text.overlap import rouge_words
from parlai_q2.text.pipeline import parse_all, pipeline_name
from parlai_q2.text.selection import SentenceIndex
from parlai_q2.turns import Example, Span

if TYPE_CHECKING:
    from spacy.tokens import Doc

# Single words that are left out; leaving out others ("the", "of") says nothing.
CONTENT = frozenset('ADJ ADV AUX NOUN NUM PROPN VERB'.split())
VERBAL = frozenset('AUX PART VERB'.split())
# Phrases of a statement that are left out, at most.
MOST_PHRASES = 24
# The omission must leave a rest with at least this share of the best support; among
# those, the shortest phrase is the trouble.
NEARLY_BEST = 0.9
# Sentences whose words are looked at more closely.
WRONG = (Status.UNSUPPORTED, Status.CONTRADICTED)


class Said(NamedTuple):
    """
    A sentence of a response: the place of its example, the sentences of the
    knowledge, and how the detector reads it.
    """

    place: int
    sentences: SentenceIndex
    piece: Piece

    @property
    def text(self) -> str:
        """The sentence as it was written."""
        return self.piece.span.text

    def inside(self, part: Span) -> Span:
        """A span of the sentence, with offsets in the response."""
        start = self.piece.span.start
        return Span(part.text, start + part.start, start + part.end)


class SpansScorer(ConsistencyScorer):
    """
    The detector's scores, with the unsupported words of each response as evidence.

    Every sentence gives a claim. If it is supported, the claim is the whole sentence,
    with the sentences of the knowledge that it rests on. If it is contradicted, the
    claim is the marked words, with the nearest sentences; if the knowledge does not say
    it, the marked words alone. A generic sentence gives one for each name or number
    that is new, or itself if there is none.
    """

    name = 'spans'

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, 'pipeline': pipeline_name()}

    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        scores = super().score_texts(examples)
        said = as_scored(self._sentences(examples), scores, self.threshold)
        statuses = [status_of(one.piece, self.threshold) for one in said]
        marks = iter(
            self._marks([o for o, s in zip(said, statuses, strict=True) if s in WRONG])
        )
        names = iter(
            self._new_names(
                [o for o, s in zip(said, statuses, strict=True) if s == Status.GENERIC]
            )
        )
        claims: list[list[Claim]] = [[] for _ in examples]
        for one, status in zip(said, statuses, strict=True):
            words = next(marks) if status in WRONG else None
            found = [claim_of(one.piece, one.sentences, self.threshold, words)]
            if status == Status.GENERIC:
                value = support(one.piece.reading)
                new = [Claim(name, value, Status.UNSUPPORTED) for name in next(names)]
                found = new or found
            claims[one.place] += found
        return [
            replace(
                score, claims=tuple(sorted(found, key=lambda c: c.span.start))
            ).as_judged
            for score, found in zip(scores, claims, strict=True)
        ]

    def _sentences(self, examples: Sequence[Example]) -> list[Said]:
        """The sentences of all responses, in order."""
        indexed = indices(examples)
        # Only long knowledge is split to judge a sentence, as for the score.
        pooling = replace(self.pooling, split_response=Split.ALWAYS)
        (read_as,) = read(self.model, examples, indexed, pooling)
        return [
            Said(n, index, piece)
            for n, (index, found) in enumerate(zip(indexed, read_as, strict=True))
            for piece in found
        ]

    def _marks(self, sentences: Sequence[Said]) -> list[Span]:
        """Of each unsupported sentence, the words that are not supported."""
        docs = parse_all([one.text for one in sentences])
        phrases = [list(islice(phrases_of(doc), MOST_PHRASES)) for doc in docs]
        pairs = [
            (one.piece.premise.text.lower(), without(one.text, phrase).lower())
            for one, of_sentence in zip(sentences, phrases, strict=True)
            for phrase in of_sentence
        ]
        answers = iter(by_value.classify(self.model, pairs))
        found = []
        for one, of_sentence in zip(sentences, phrases, strict=True):
            rests = [support(next(answers)) for _ in of_sentence]
            best = max(rests, default=0.0)
            mark = one.piece.span
            if best > self.threshold:
                near = [
                    p
                    for p, rest in zip(of_sentence, rests, strict=True)
                    if rest >= NEARLY_BEST * best
                ]
                mark = one.inside(min(near, key=lambda p: p.end - p.start))
            found.append(mark)
        return found

    def _new_names(self, sentences: Sequence[Said]) -> list[list[Span]]:
        """Of each generic sentence, the names and numbers that are new."""
        docs = parse_all([one.text for one in sentences])
        known = {one.place: set(rouge_words(one.sentences.text)) for one in sentences}
        return [
            [one.inside(name) for name in new_names(doc, known[one.place])]
            for one, doc in zip(sentences, docs, strict=True)
        ]


def as_scored(
    said: Sequence[Said], scores: Sequence[Score], threshold: float
) -> list[Said]:
    """
    Sentences, with the reading of the score for the only one of a response that states
    something, if it is supported alone but the response is not: evidence says what the
    score says.

    :param scores: the score of each example, whose parts are the deciding reading.
    """
    statuses = [status_of(one.piece, threshold) for one in said]
    stating = Counter(
        one.place
        for one, status in zip(said, statuses, strict=True)
        if status != Status.GENERIC
    )

    def reread(one: Said, status: Status) -> Said:
        score = scores[one.place]
        if status != Status.SUPPORTED or stating[one.place] > 1:
            return one
        if score.label != Label.INCONSISTENT:
            return one
        reading = NliProbabilities(**score.parts)
        return one._replace(piece=one.piece._replace(reading=reading))

    return [reread(one, status) for one, status in zip(said, statuses, strict=True)]


def phrases_of(doc: 'Doc') -> Iterator[Span]:
    """
    The phrases of a statement that can be left out, each once and none of them all of
    it: entities, noun chunks, verbs with their auxiliaries and negation, single words.
    """
    seen = {(0, len(doc.text))}
    groups = [(s.start, s.end) for s in (*doc.ents, *doc.noun_chunks)]
    groups += _verbs(doc)
    groups += [(t.i, t.i + 1) for t in doc if t.pos_ in CONTENT or t.dep_ == 'neg']
    for first, end in groups:
        span = doc[first:end]
        place = span.start_char, span.end_char
        if place not in seen:
            seen.add(place)
            yield Span(span.text, *place)


def new_names(doc: 'Doc', known: set[str]) -> Iterator[Span]:
    """The names and numbers of a text none of whose words is known."""
    taken = 0
    groups = {(e.start, e.end) for e in doc.ents}
    groups |= {(t.i, t.i + 1) for t in doc if t.pos_ == 'PROPN' or t.like_num}
    for first, end in sorted(groups, key=lambda g: (g[0], -g[1])):
        if first < taken:
            continue
        span = doc[first:end]
        said = rouge_words(span.text)
        if said and not known & set(said):
            taken = end
            yield Span(span.text, span.start_char, span.end_char)


def _verbs(doc: 'Doc') -> Iterator[tuple[int, int]]:
    """Runs of two or more auxiliaries, verbs and negations."""
    first = 0
    for place in range(len(doc) + 1):
        if place < len(doc) and (doc[place].pos_ in VERBAL or doc[place].dep_ == 'neg'):
            continue
        if place - first > 1:
            yield first, place
        first = place + 1


def without(text: str, phrase: Span) -> str:
    """A text without one of its phrases, "It is far." of "It is not far."."""
    return ' '.join((text[: phrase.start] + text[phrase.end :]).split())
