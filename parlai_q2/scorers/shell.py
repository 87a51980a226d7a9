"""
What happens around the scoring of a batch, in this order: the examples are checked,
each text is taken once, what a model cannot read is set aside, known scores come from
the cache and only the others are computed and checked, values are calibrated, and each
score gets its signature.

What a model reads of knowledge and response is made in two stages. Scores have offsets
in the texts as they were given.

1. :class:`ReadExample`, once for an example. ``prepare_passage`` writes the records of
   each passage as sentences (``read_records``), for a response about days also its
   schedules (``find_day_sentences``), and removes markup. ``prepare`` removes that of
   the response, ``respell`` writes it as the knowledge does, and of a long one
   ``least_covered`` keeps what the knowledge covers least, as mistakes most likely are.
2. :func:`~parlai_q2.scorers.checked.classify`, for each statement and premise.
   ``as_read`` puts amounts (``restate``), hours (``complete_hours``), lists
   (``reorder_lists``) and phrases (``reorder_phrases``) as the premise has them.
   ``check_values`` limits what the model says of them: ``unsupported_amounts`` and
   others compare the statement with the whole knowledge, and ``binds_otherwise`` reads
   records back from the sentences of stage 1.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

from parlai_q2.claims import Claim, Evidence, Label, Score, not_verifiable
from parlai_q2.errors import ConfigError, InputError
from parlai_q2.scorers.mistakes import lacks_mistake, name_mistakes
from parlai_q2.text.links import known_links
from parlai_q2.text.prepare import PreparedText, has_words, prepare, prepare_passage
from parlai_q2.text.schedules import concerns_days
from parlai_q2.text.selection import SentenceIndex, index_passages
from parlai_q2.text.sentences import count_words, is_short
from parlai_q2.text.sentences import sentences as split_sentences
from parlai_q2.text.spellings import respell
from parlai_q2.turns import Example, Span

if TYPE_CHECKING:
    from parlai_q2.scorers.base import Scorer

# The texts of the knowledge's passages, and a response: what a score depends on.
Pair = tuple[tuple[str, ...], str]
# The part of a score whose texts the scorer's model could not read.
UNREADABLE = 'unreadable'
# The part of a score of a text in a language that the model was not trained on.
LANGUAGE = 'language'
# The part of a score that is the share of a text that was not read.
UNREAD = 'unread'
# The way to prepare texts, as signatures print it.
PREPARATION = 'prepared.9'
# About 50 sentences, so that a response of any length is scored within two seconds by
# the shipped detector; replies of chatbots are far shorter.
MAX_RESPONSE_WORDS = 800
FOREIGN = (
    'The models read English. For {} a text in another language is not verifiable; its '
    'score has "language" among its parts'
)
UNKNOWN = (
    'The shipped models read English. The model of {} does not know most of a text, '
    'which is therefore not verifiable'
)
TOO_LONG = (
    '{} reads only a part of a text this long; the share that it left out is "unread" '
    'among the parts of its score'
)
# A shorter sentence is too short to tell its language.
MIN_FOREIGN_WORDS = 4
# Examples per call of a scorer with a cache, and per write to it: about as many as a
# killed run can lose, and enough to fill many batches of a model.
CHUNK = 256
# How far the sums of a model may leave [0, 1].
ROUNDING = 1e-6
# What JSON has of numbers.
PLAIN = (float, int, bool)

_logger = logging.getLogger(__name__)
_warned: set[tuple[str, str]] = set()


class ScoreStore(Protocol):
    """Keeps scores by signature and pair, such as a score cache."""

    def get(self, signature: str, pairs: Iterable[Pair]) -> dict[Pair, Score]:
        """Those of the pairs that are there."""

    def put(self, signature: str, scores: Mapping[Pair, Score]) -> None:
        """Keep scores."""


@dataclass
class Reuse:
    """A store with what was found in it: responses, and those that were scored."""

    store: ScoreStore
    chunk: int = CHUNK
    hits: int = field(default=0, init=False)
    misses: int = field(default=0, init=False)


class ReadExample:
    """
    What a scorer reads of an example.

    :ivar whole: the example as it was given.
    :ivar example: the example that the scorer gets.
    """

    def __init__(self, whole: Example, scorer: 'Scorer'):
        self.whole = self._prepared = whole
        self._passages: list[PreparedText] | None = None
        if scorer.prepares_texts:
            with_days = concerns_days(whole.response)
            passages = [prepare_passage(text, with_days) for text in whole.texts]
            texts = [passage.text for passage in passages]
            response = respell(
                prepare(whole.response), '\n'.join(texts), known_links(whole.texts)
            )
            is_changed = any(t.text != t.original for t in (*passages, response))
            # Without words, it is a heading, or an enumeration of nothing.
            if is_changed and has_words(response.text):
                self._passages, self._response = passages, response
                self._prepared = Example(texts, response.text)
        self.example, self._chosen = self._prepared, list[int]()
        text, most = self._prepared.response, scorer.max_response_words
        if most and not is_short(text, most):
            self._sentences = SentenceIndex(text)
            knowledge = index_passages(*self._prepared.texts)
            self._chosen = self._sentences.least_covered(knowledge, most)
            excerpt = self._sentences.joined(self._chosen)
            self.example = Example(self._prepared.knowledge, excerpt)

    def restore(self, score: Score) -> Score:
        """The scorer's score as one of the whole example, with offsets in it."""
        if self._chosen:
            share = 1 - len(self.example.response) / len(self._prepared.response)
            score = replace(score, parts={**score.parts, UNREAD: share})
        if not self._chosen and self._passages is None:
            return score
        return replace(score, claims=tuple(map(self._restore, score.claims)))

    def _restore(self, claim: Claim) -> Claim:
        mistake = claim.mistake
        if mistake is not None:
            reference = mistake.reference and self._locate_evidence(mistake.reference)
            span = self._locate(mistake.span)
            mistake = mistake._replace(span=span, reference=reference)
        evidence = tuple(map(self._locate_evidence, claim.evidence))
        span = self._locate(claim.span)
        return replace(claim, span=span, evidence=evidence, mistake=mistake)

    def _locate(self, span: Span) -> Span:
        """A place of the scorer's response in the whole one."""
        if self._chosen:
            _, span = self._sentences.located(self._chosen, span.start, span.end)
        return span if self._passages is None else self._response.locate(span)

    def _locate_evidence(self, evidence: Evidence) -> Evidence:
        if self._passages is None:
            return evidence
        passage = self._passages[evidence.passage]
        return evidence._replace(span=passage.locate(evidence.span))


def score_all(
    scorer: 'Scorer',
    examples: Iterable[Example],
    signature: str,
    reuse: Reuse | None = None,
    calibrated: Callable[[Score], Score] | None = None,
) -> list[Score]:
    """
    Score examples by a scorer.

    :param signature: what the scores say of themselves.
    :param reuse: where scores are kept, by the scorer's own signature.
    :param calibrated: changes a score that was computed or found.
    :return: B scores, in order.
    :raises InputError: if any of them is not an Example.
    :raises ConfigError: if the scorer, one's own perhaps, gives something else than a
        Score with a finite value for each.
    """
    checked = checked_examples(examples)
    texts: dict[Pair, Example] = {}
    for example in checked:
        if example.knowledge_text.strip() and example.response.strip():
            texts.setdefault(make_pair(example), example)
    text_pairs = {pair: (e.knowledge_text, e.response) for pair, e in texts.items()}
    unknown = _find_unknown(scorer, text_pairs)
    readable = [
        example
        for pair, example in texts.items()
        if pair not in unknown
        and (not scorer.prepares_texts or _has_something_to_read(example))
    ]
    scores = _look_up(scorer, readable, reuse)
    if calibrated is not None:
        scores = {
            pair: _check_language(scorer, texts[pair], calibrated(score))
            for pair, score in scores.items()
        }
    # Older versions kept scores without mistakes, and calibration may find others.
    for pair, score in scores.items():
        if lacks_mistake(score):
            scores[pair] = name_mistakes(score, texts[pair])
    nothing = not_verifiable()
    for pair, reason in unknown.items():
        problem = FOREIGN if reason == LANGUAGE else UNKNOWN
        warn_once(scorer.name, problem, text_pairs[pair])
        scores[pair] = replace(nothing, parts={reason: 1.0})
    signed = {p: replace(score, signature=signature) for p, score in scores.items()}
    nothing = replace(nothing, signature=signature)
    return [signed.get(make_pair(example), nothing) for example in checked]


def _find_unknown(
    scorer: 'Scorer', text_pairs: Mapping[Pair, tuple[str, str]]
) -> dict[Pair, str]:
    """The pairs with a text that a scorer cannot read, and the part that says why."""
    unknown: dict[Pair, str] = {}
    texts = set(chain.from_iterable(text_pairs.values()))
    unreadable = {text for text in texts if not scorer.can_read(text)}
    foreign = {text for text in texts if scorer.is_foreign(text)}
    for pair, text_pair in text_pairs.items():
        if foreign.intersection(text_pair):
            unknown[pair] = LANGUAGE
        elif unreadable.intersection(text_pair):
            unknown[pair] = UNREADABLE
    return unknown


def make_pair(example: Example) -> Pair:
    """What the score of an example depends on."""
    return example.texts, example.response


def checked_examples(examples: object) -> list[Example]:
    """The examples as a list; InputError if they are something else."""
    if isinstance(examples, Example) or not isinstance(examples, Iterable):
        raise InputError(
            f'score() takes a list of Example, not {type(examples).__name__}. Write '
            'score([example]).'
        )
    checked = list(examples)
    for example in checked:
        if not isinstance(example, Example):
            raise InputError(
                'score() takes a list of Example, but there is a '
                f'{type(example).__name__} in it. Write Example(knowledge="...", '
                'response="...").'
            )
    return checked


def _has_something_to_read(example: Example) -> bool:
    """Whether a response has words, and some passage without its markup."""
    passages = (prepare_passage(text).text for text in example.texts)
    return has_words(example.response) and has_words('\n'.join(passages))


def _look_up(
    scorer: 'Scorer', examples: Sequence[Example], reuse: Reuse | None
) -> dict[Pair, Score]:
    """The scores of examples without two of the same texts, kept or computed."""
    if reuse is None:
        return _compute(scorer, examples)
    signature = str(scorer.signature)
    scores = reuse.store.get(signature, map(make_pair, examples))
    missing = [example for example in examples if make_pair(example) not in scores]
    reuse.hits += len(examples) - len(missing)
    reuse.misses += len(missing)
    for start in range(0, len(missing), reuse.chunk):
        computed = _compute(scorer, missing[start : start + reuse.chunk])
        signed = {p: replace(s, signature=signature) for p, s in computed.items()}
        reuse.store.put(signature, signed)
        scores.update(computed)
    return scores


def _compute(scorer: 'Scorer', examples: Sequence[Example]) -> dict[Pair, Score]:
    computed = {}
    readings = [ReadExample(example, scorer) for example in examples]
    scores = list(scorer.score_texts([reading.example for reading in readings]))
    if len(scores) != len(examples):
        raise ConfigError(
            f'The scorer {scorer.name} gave {len(scores)} scores for {len(examples)} '
            'texts. score_texts() must return one for each example, in order.'
        )
    for reading, score in zip(readings, scores, strict=True):
        example = reading.whole
        checked = _check(scorer.name, example, score)
        score = reading.restore(name_mistakes(checked, reading.example))
        score = _check_language(scorer, example, score)
        if share := scorer.unread(example):
            score = replace(score, parts={**score.parts, UNREAD: share})
        if UNREAD in score.parts:
            texts = example.knowledge_text, example.response
            warn_once(scorer.name, TOO_LONG, texts)
        computed[make_pair(example)] = score
    return computed


def _check_language(scorer: 'Scorer', example: Example, score: Score) -> Score:
    """The score, but not verifiable if it is consistent and a part was not read."""
    if score.label != Label.CONSISTENT:
        return score
    text = example.response
    foreign = [
        sentence.text
        for sentence in split_sentences(text)
        if count_words(sentence.text) >= MIN_FOREIGN_WORDS
        and scorer.is_foreign(sentence.text)
    ]
    if not foreign:
        return score
    warn_once(scorer.name, FOREIGN, (foreign[0], text))
    share = sum(map(len, foreign)) / len(text)
    return not_verifiable(parts={**score.parts, LANGUAGE: share})


def _check(name: str, example: Example, score: object) -> Score:
    """A score in Python's own numbers, which JSON has: models often give numpy's."""
    if not isinstance(score, Score):
        raise ConfigError(
            f'The scorer {name} gave {score!r:.60} for the response '
            f'{example.response[:60]!r}. Return a Score, such as '
            'Score(0.9, Label.CONSISTENT).'
        )
    if not -ROUNDING <= score.value <= 1 + ROUNDING:
        raise ConfigError(
            f'The scorer {name} gave {score.value} for the response '
            f'{example.response[:60]!r}. A score must be in [0, 1].'
        )
    claimed = ((claim.support, claim.f1 or 0.0) for claim in score.claims)
    numbers = chain((score.value, *score.parts.values()), *claimed)
    if all(type(number) in PLAIN for number in numbers):
        return score
    parts = {part: _plain(value) for part, value in score.parts.items()}
    claims = tuple(
        replace(claim, support=_plain(claim.support), f1=_plain(claim.f1))
        for claim in score.claims
    )
    return replace(score, value=_plain(score.value), parts=parts, claims=claims)


def _plain(value: Any) -> Any:
    return value if value is None or type(value) in PLAIN else float(value)


def warn_once(name: str, problem: str, texts: tuple[str, str]) -> None:
    """Warn once a run: a file in another script would give a warning a record."""
    if (name, problem) not in _warned:
        _warned.add((name, problem))
        excerpts = ' / '.join(repr(text[:40]) for text in texts)
        _logger.warning(f'{problem.format(name)}: {excerpts}')
