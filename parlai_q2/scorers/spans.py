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

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from parlai_q2.claims import Claim, Score, Status
from parlai_q2.scorers.checked import classify
from parlai_q2.scorers.consistency import (
    ConsistencyScorer,
    ResponsePiece,
    judge_piece,
    make_claim,
    read,
    support,
)
from parlai_q2.text.overlap import rouge_words
from parlai_q2.text.pipeline import parse_all, pipeline_name
from parlai_q2.text.questions import only_greets
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
# The statuses of sentences with marks.
WRONG = (Status.UNSUPPORTED, Status.CONTRADICTED)


class Sentence(NamedTuple):
    """
    A sentence of a response: the place of its example, the sentences of the knowledge,
    and how the detector reads it.
    """

    place: int
    knowledge: SentenceIndex
    piece: ResponsePiece

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
    is_thread_safe = False

    @property
    def settings(self) -> dict[str, object]:
        return {**super().settings, 'pipeline': pipeline_name()}

    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        readings = read(self.model, examples)
        sentences = [
            Sentence(place, reading.knowledge, piece)
            for place, reading in enumerate(readings)
            for piece in reading.pieces
        ]
        statuses = [judge_piece(s.piece, self.threshold) for s in sentences]
        placed = list(zip(sentences, statuses, strict=True))
        marks = iter(self._marks([s for s, status in placed if status in WRONG]))
        generic = [s for s, status in placed if status == Status.GENERIC]
        names = iter(self._new_names(generic))
        claims: list[list[Claim]] = [[] for _ in examples]
        for sentence, status in placed:
            piece, index = sentence.piece, sentence.knowledge
            new = next(names) if status == Status.GENERIC else []
            if only_greets(sentence.text):
                new = []  # "See you tomorrow!"
            mark = next(marks) if status in WRONG else None
            claims[sentence.place] += [
                Claim(name, piece.support, Status.UNSUPPORTED) for name in new
            ] or [make_claim(piece, index, self.threshold, mark)]
        return [
            self._score(reading, sorted(of_response, key=lambda c: c.span.start))
            for reading, of_response in zip(readings, claims, strict=True)
        ]

    def _marks(self, sentences: Sequence[Sentence]) -> list[Span]:
        """Of each unsupported sentence, the words that are not supported."""
        docs = parse_all([sentence.text for sentence in sentences])
        phrases = [list(islice(find_phrases(doc), MOST_PHRASES)) for doc in docs]
        pairs: list[tuple[str, str, str]] = []
        for sentence, of_sentence in zip(sentences, phrases, strict=True):
            known = sentence.piece.premise.text
            pairs += [
                (known, without(sentence.text, phrase), known) for phrase in of_sentence
            ]
        readings = iter(classify(self.model, pairs, not self.model.reads_documents))
        marks = []
        for sentence, of_sentence in zip(sentences, phrases, strict=True):
            rests = [(support(next(readings)), phrase) for phrase in of_sentence]
            best = max((rest for rest, _ in rests), default=0.0)
            mark = sentence.piece.span
            if best > self.threshold:
                near = [phrase for rest, phrase in rests if rest >= NEARLY_BEST * best]
                mark = sentence.inside(min(near, key=lambda p: p.end - p.start))
            marks.append(mark)
        return marks

    def _new_names(self, sentences: Sequence[Sentence]) -> list[list[Span]]:
        """Of each generic sentence, the names and numbers that are new."""
        docs = parse_all([sentence.text for sentence in sentences])
        words = {s.place: set(rouge_words(s.knowledge.text)) for s in sentences}
        return [
            [sentence.inside(name) for name in new_names(doc, words[sentence.place])]
            for sentence, doc in zip(sentences, docs, strict=True)
        ]


def find_phrases(doc: 'Doc') -> Iterator[Span]:
    """
    The phrases of a statement that can be left out, each once and none of them all of
    it: entities, noun chunks, verbs with their auxiliaries and negation, single words.
    """
    places = {(0, len(doc.text))}
    groups = [(s.start, s.end) for s in (*doc.ents, *doc.noun_chunks)]
    groups += _verbs(doc)
    groups += [(t.i, t.i + 1) for t in doc if t.pos_ in CONTENT or t.dep_ == 'neg']
    for first, end in groups:
        span = doc[first:end]
        place = span.start_char, span.end_char
        if place not in places:
            places.add(place)
            yield Span(span.text, *place)


def new_names(doc: 'Doc', words: set[str]) -> Iterator[Span]:
    """The names and numbers of a text none of whose words is among some."""
    last = 0
    groups = {(e.start, e.end) for e in doc.ents}
    groups |= {(t.i, t.i + 1) for t in doc if t.pos_ == 'PROPN' or t.like_num}
    for first, end in sorted(groups, key=lambda g: (g[0], -g[1])):
        if first < last:
            continue
        span = doc[first:end]
        name_words = set(rouge_words(span.text))
        if name_words and not words & name_words:
            last = end
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
