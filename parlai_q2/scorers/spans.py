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
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from parlai_q2.claims import Comparison, Score, Verdict
from parlai_q2.models.protocols import NliProbabilities
from parlai_q2.scorers.consistency import (
    ALWAYS,
    ConsistencyScorer,
    indices,
    is_generic,
    read,
    sources,
    support,
)
from parlai_q2.text.overlap import rouge_words
from parlai_q2.text.pipeline import parse_all, pipeline_name
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


class Said(NamedTuple):
    """
    A sentence of a response, and how the detector reads it.

    :param place: the place of its example.
    :param span: the sentence in the response.
    :param premise: the knowledge that it is read against.
    :param source: the sentence of the knowledge that it rests on or comes nearest to.
    :param reading: the detector's probabilities.
    """

    place: int
    span: Span
    premise: str
    source: Span
    reading: NliProbabilities


class SpansScorer(ConsistencyScorer):
    """
    The detector's scores, with the unsupported words of each response as evidence.

    Every statement gives a verdict without a question. If it is supported, the verdict
    has the whole statement and the sentence of the knowledge that it rests on. If it is
    contradicted, it has the marked words and the nearest sentence; if the knowledge
    does not say it (``neutral``), the marked words alone. A generic sentence gives one
    for each name or number that is new, so most give none.
    """

    name = 'spans'

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, 'pipeline': pipeline_name()}

    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        scores = super().score_texts(examples)
        found: list[Said] = []
        chatter: list[Said] = []
        for one in self._statements(examples):
            (chatter if is_generic(one.reading) else found).append(one)
        doubted = [s for s in found if support(s.reading) <= self.threshold]
        marks = iter(self._marks(doubted))
        verdicts: list[list[Verdict]] = [[] for _ in examples]
        for statement in found:
            said = statement.span
            if support(statement.reading) <= self.threshold:
                said = next(marks)
            verdicts[statement.place].append(self._verdict(statement, said))
        docs = parse_all([s.span.text for s in chatter])
        places = {one.place for one in chatter}
        known = {n: set(rouge_words(examples[n].knowledge_text)) for n in places}
        for one, doc in zip(chatter, docs, strict=True):
            for name in new_names(doc, known[one.place]):
                start = one.span.start
                said = Span(name.text, start + name.start, start + name.end)
                value = support(one.reading)
                verdicts[one.place].append(
                    Verdict('', said, None, Comparison.NEUTRAL, value, 0.0)
                )
        for of_score in verdicts:
            of_score.sort(key=lambda v: v.response_answer.start)
        return [
            replace(score, verdicts=tuple(of_score))
            for score, of_score in zip(scores, verdicts, strict=True)
        ]

    def _statements(self, examples: Sequence[Example]) -> list[Said]:
        """The sentences of all responses, in order."""
        indexed = indices(examples)
        # Only long knowledge is split to judge a statement, as for the score.
        pooling = replace(self.pooling, split_response=ALWAYS)
        (read_as,) = read(self.model, examples, indexed, pooling)
        return [
            Said(n, p.span, p.premise.text, sources(p, index)[0], p.reading)
            for n, (pieces, index) in enumerate(zip(read_as, indexed, strict=True))
            for p in pieces
        ]

    def _marks(self, statements: Sequence[Said]) -> list[Span]:
        """Of each unsupported statement, the words that are not supported."""
        docs = parse_all([s.span.text for s in statements])
        phrases = [list(islice(phrases_of(doc), MOST_PHRASES)) for doc in docs]
        pairs = [
            (s.premise.lower(), without(s.span.text, phrase).lower())
            for s, of_statement in zip(statements, phrases, strict=True)
            for phrase in of_statement
        ]
        answers = iter(self.model.classify(pairs))
        found = []
        for statement, of_statement in zip(statements, phrases, strict=True):
            rests = [support(next(answers)) for _ in of_statement]
            best = max(rests, default=0.0)
            mark = statement.span
            if best > self.threshold:
                near = [
                    p
                    for p, rest in zip(of_statement, rests, strict=True)
                    if rest >= NEARLY_BEST * best
                ]
                phrase = min(near, key=lambda p: p.end - p.start)
                start = statement.span.start
                mark = Span(phrase.text, start + phrase.start, start + phrase.end)
            found.append(mark)
        return found

    def _verdict(self, statement: Said, said: Span) -> Verdict:
        reading, value = statement.reading, support(statement.reading)
        if value > self.threshold:
            comparison = Comparison.ENTAILMENT
        elif reading.contradiction > reading.neutral:
            comparison = Comparison.CONTRADICTION
        else:
            comparison = Comparison.NEUTRAL
        known = None if comparison == Comparison.NEUTRAL else statement.source
        return Verdict('', said, known, comparison, value, 0.0)


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
