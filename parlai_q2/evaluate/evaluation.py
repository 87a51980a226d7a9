"""Runs the meta-evaluation of a set, and holds the data of its tables and figures."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from parlai_q2.claims import Label, Score
from parlai_q2.errors import InputError
from parlai_q2.evaluate.levels import Metrics, response_level
from parlai_q2.evaluate.measures import Scored, ScoreTable, passages
from parlai_q2.evaluate.sets import (
    AnnotatedResponse,
    AnnotatedSet,
    Pair,
    contrasts,
    random_dialogue,
    random_sample,
    same_dialogue,
)
from parlai_q2.intervals import ROUNDS, SEED, Interval, mean_interval
from parlai_q2.scorers.base import Scorer, label_of
from parlai_q2.signature import Signature
from parlai_q2.text.spans import only_personal
from parlai_q2.turns import Example

# Scorers whose preset had its settings chosen on development data.
CHOSEN_ON_DEVELOPMENT_DATA = ('q2', 'q2_f1', 'consistency')


# Texts in one call of a scorer; a run that is stopped loses at most these.
CHUNK = 64

# Makes a context manager with ``update(n)``, given a name, a total and a unit, or one
# of None.
Counting = Callable[[str, int, str], Any]


def score_pairs(
    name: str, scorer: Scorer, pairs: Iterable[Pair], counting: Counting | None = None
) -> ScoreTable:
    """Score (knowledge, response) pairs, each once."""
    distinct = list(dict.fromkeys(pairs))
    scores: dict[Pair, Score] = {}
    counted = counting or (lambda *_: nullcontext())
    with counted(name, len(distinct), 'responses') as bar:
        for start in range(0, len(distinct), CHUNK):
            chunk = distinct[start : start + CHUNK]
            chunk_scores = scorer.score([Example(*pair) for pair in chunk])
            scores.update(zip(chunk, chunk_scores, strict=True))
            if bar:
                bar.update(len(chunk))
    return ScoreTable(name, str(scorer.signature), scorer.threshold, scores)


def without_nli(q2: ScoreTable, name: str, scorer: Scorer) -> ScoreTable:
    """
    Derive the scores of Q2 without NLI from the part ``q2_f1`` of Q2's scores, since
    both ask the same questions; ``scorer`` only gives its signature and threshold.
    """
    signature = str(scorer.signature)
    settings = scorer.signature.settings
    by_nli = settings.get('f1_fallback') == 'nli'
    skips_personal = settings.get('first_person') == 'off'
    skips_personal = skips_personal and settings.get('personal_filter') == 'on'
    scores = {}
    for pair, score in q2.scores.items():
        # An empty text, or one that Q2 cannot read, has no such part.
        value, label = score.value, score.label
        if 'q2_f1' in score.parts:
            value = score.parts['q2_f1']
            label = label_of(value, scorer.threshold)
        is_generic = score.label == Label.GENERIC
        if score.fallback and by_nli:
            label = score.label
        # Q2 also calls generic what states nothing to its detector.
        elif is_generic and skips_personal and only_personal([pair[1]])[0]:
            label = Label.GENERIC
        scores[pair] = Score(
            value, label, score.claims, score.fallback, signature=signature
        )
    return ScoreTable(name, signature, scorer.threshold, scores)


# Options of Q2, by the name of the setting. "-top-n" and "-filter personal" are the
# paper's ablations, the second on top of the first. To evaluate smaller models, name
# their preset as a scorer of its own: q2@PRESET.
VARIANTS: dict[str, dict[str, Any]] = {
    '-top-n: greedy questions': {'decoding': 'greedy'},
    '-filter personal: greedy, personal questions kept': {
        'decoding': 'greedy',
        'personal_filter': False,
    },
}
# All valid questions of a span, which the paper does not evaluate; takes long.
MULTI: dict[str, dict[str, Any]] = {'all valid questions (multi)': {'variant': 'multi'}}


@dataclass(frozen=True)
class Evaluation:
    """
    A set with the scores of all requested scorers, in order, and of Q2's variants; and
    its responses paired with knowledge of another turn and of another dialogue.
    """

    annotated: AnnotatedSet
    measures: tuple[ScoreTable, ...]
    variants: tuple[ScoreTable, ...] = ()
    same_dialogue: tuple[Pair, ...] = ()
    random_dialogue: tuple[Pair, ...] = ()
    rounds: int = ROUNDS
    seed: int = SEED
    _levels: dict[Any, Metrics] = field(default_factory=dict, compare=False, repr=False)

    def notes_on_fit(self) -> list[str]:
        """
        Notes on scorers whose weights or settings were chosen on these very responses.
        """
        if not self.annotated.fitted_on:
            return []
        signatures = [(m.name, Signature.from_text(m.signature)) for m in self.measures]
        fitted = [
            name
            for name, signature in signatures
            if 'fitted_with' in signature.settings
        ]
        chosen = [
            name
            for name, signature in signatures
            if signature.scorer in CHOSEN_ON_DEVELOPMENT_DATA
            and str(signature.settings.get('preset', '')).startswith('mini')
        ]
        notes = []
        if fitted:
            notes.append(
                f'Fitted on these responses, among others: {", ".join(fitted)}. '
                'The values shown are those of the fit; docs/results.md has those of '
                'test sets.'
            )
        if chosen:
            notes.append(
                'Settings and thresholds chosen on these responses, among others: '
                f'{", ".join(chosen)}.'
            )
        return notes

    def notes_on_missing(self, responses: Sequence[AnnotatedResponse]) -> list[str]:
        """Notes on measures that lack a score for some of the responses."""
        missing = [
            f'{measure.name} {count}'
            for measure in self.measures
            if (count := len(responses) - len(measure.select_scored(responses)))
        ]
        if not missing:
            return []
        return [f'Responses without a score, left out: {", ".join(missing)}.']

    def level(
        self, measure: ScoreTable, responses: Sequence[AnnotatedResponse]
    ) -> Metrics:
        """A measure's metrics over responses of the set; computed once, then cached."""
        # The set keeps its responses alive, so their ids cannot be reused.
        key = measure.name, tuple(id(response) for response in responses)
        if key not in self._levels:
            self._levels[key] = response_level(
                measure, responses, self.rounds, self.seed
            )
        return self._levels[key]

    def mean(
        self, measure: ScoreTable, responses: Sequence[Scored], part: str | None = None
    ) -> Interval | None:
        """
        A measure's mean over the responses that it has scored; None if there are none.
        """
        scored = [r for r in responses if r in measure]
        values = measure.values(scored, part)
        if not len(values):
            return None
        return mean_interval(values, self.rounds, self.seed, passages(scored))


Q2, Q2_F1 = 'q2', 'q2_f1'
# Scorers that their papers compute against the human reply (Honovich et al. 2021, Table
# 5); a set that has human replies has them both ways.
AGAINST_REPLIES = ('meteor',)


def against_replies(
    name: str, scorer: Scorer, responses: Sequence[AnnotatedResponse]
) -> ScoreTable:
    """The scores of responses against their human replies, where there are any."""
    replies = {r.pair: r.gold for r in responses if r.gold}
    reply_scores = scorer.score(
        [Example(gold, pair[1]) for pair, gold in replies.items()]
    )
    return ScoreTable(
        f'{name}, human reply',
        f'{scorer.signature}|reference:human_reply',
        scorer.threshold,
        dict(zip(replies, reply_scores, strict=True)),
    )


def evaluate(
    annotated: AnnotatedSet,
    scorers: Mapping[str, Scorer],
    columns: Sequence[ScoreTable] = (),
    variants: Mapping[str, Scorer] | None = None,
    other_knowledge: bool = True,
    rounds: int = ROUNDS,
    seed: int = SEED,
    counting: Counting | None = None,
) -> Evaluation:
    """
    Score a set with all scorers.

    :param scorers: the scorers, by the names that tables print.
    :param columns: scores that were made elsewhere.
    :param variants: Q2 in other settings, for the tables of ablations and coverage.
    :param other_knowledge: whether to score responses against other knowledge, too.
    :param counting: as for :func:`score_pairs`.
    :raises InputError: for a set without responses, or a column none of whose scores
        belongs to the set.
    """
    check_set(annotated, columns)
    same: list[Pair] = []
    other: list[Pair] = []
    if other_knowledge:
        pool = [*annotated.responses, *annotated.crossed_responses]
        same = same_dialogue(annotated.responses, pool, seed)
        other = random_dialogue(annotated.responses, annotated.responses, seed)
    pairs = [*_own_pairs(annotated, seed), *same, *other]
    measures = _measured(scorers, pairs, counting)
    ordered = []
    for name in scorers:
        ordered.append(measures[name])
        if name.partition('@')[0] in AGAINST_REPLIES:
            of_replies = against_replies(name, scorers[name], annotated.responses)
            ordered += [of_replies] if of_replies.scores else []
    ordered += columns
    own_pairs = [r.pair for r in annotated.responses]
    varied = [
        score_pairs(name, scorer, own_pairs, counting)
        for name, scorer in (variants or {}).items()
    ]
    return Evaluation(
        annotated,
        measures=tuple(ordered),
        variants=tuple(varied),
        same_dialogue=tuple(same),
        random_dialogue=tuple(other),
        rounds=rounds,
        seed=seed,
    )


def check_set(annotated: AnnotatedSet, columns: Sequence[ScoreTable]) -> None:
    """Raise InputError if there is nothing to score, or a column of another set."""
    if not annotated.responses:
        raise InputError(f'The set {annotated.name} has no responses.')
    for column in columns:
        if not column.select_scored(annotated.responses):
            raise InputError(
                f'None of the scores of {column.name} belongs to a response of '
                f'{annotated.name}. The knowledge and responses in its file must match '
                'those of the set exactly.'
            )


def _measured(
    scorers: Mapping[str, Scorer], pairs: Sequence[Pair], counting: Counting | None
) -> dict[str, ScoreTable]:
    """
    Score pairs with each scorer; derive Q2 without NLI from Q2 if both are asked for.
    """
    measures: dict[str, ScoreTable] = {}
    # Q2 comes first, since its scores contain those of Q2 without NLI.
    for name in sorted(scorers, key=lambda n: n.partition('@')[0] == Q2_F1):
        base, _, preset = name.partition('@')
        twin = measures.get(f'{Q2}@{preset}' if preset else Q2)
        if base == Q2_F1 and twin is not None:
            measures[name] = without_nli(twin, name, scorers[name])
        else:
            measures[name] = score_pairs(name, scorers[name], pairs, counting)
    return measures


def _own_pairs(annotated: AnnotatedSet, seed: int) -> Iterable[Pair]:
    yield from (r.pair for r in annotated.responses)
    for contrast in contrasts(annotated.crossed):
        yield contrast.consistent.pair
        yield contrast.inconsistent.pair
    for system in annotated.groups('system'):
        yield from (r.pair for r in random_sample(annotated, system, seed))
