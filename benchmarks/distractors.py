"""
How well scorers find the right passage among others.

    python -m benchmarks.distractors --infile examples.jsonl --scorers grounded

Each response is scored with its passage alone; beside one sentence of another passage;
among nine passages of other examples of its corpus, or fewer once they have 2,000
words; and inside one text of that many. The records are such as
``benchmarks/grounded_data.py`` writes.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from parlai_q2.claims import Label, Score, Status
from parlai_q2.errors import InputError
from parlai_q2.evaluate.find import read_file
from parlai_q2.evaluate.sets import AnnotatedResponse
from parlai_q2.intervals import Interval, intervals, mean_interval
from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.registry import DEFAULT_PRESET, load_scorer
from parlai_q2.sweep import Sweep
from parlai_q2.text.normalize import passage_key
from parlai_q2.text.sentences import count_words, sentences
from parlai_q2.turns import Example, passages_of

if TYPE_CHECKING:
    import numpy as np

DISTRACTORS, WORDS, SEED = 9, 2000, 0
ALONE, BESIDE = 'alone', 'beside a sentence'
AMONG, INSIDE = 'among passages', 'inside a text'
PLACEMENTS = ALONE, BESIDE, AMONG, INSIDE


class Placed(NamedTuple):
    """An example with more knowledge, and where in it the right passage is."""

    example: Example
    passage: int
    start: int
    end: int

    def right(self, score: Score) -> bool | None:
        """Whether the main evidence of each sentence is in the right passage."""
        named = [c.evidence[0] for c in score.claims if c.status == Status.SUPPORTED]
        if not named:
            return None
        return all(
            e.passage == self.passage and self.start <= e.span.start < self.end
            for e in named
        )


class PlacementMetrics(NamedTuple):
    """
    The AUC of one placement; its change from the passage alone, on the same resamples;
    the share of labels that are the same as with the passage alone; and how often
    evidence is in the right passage, among the supported responses with evidence
    (``right``) and among all of them (``recall``).
    """

    auc: Interval | None
    change: Interval | None
    same: Interval | None
    right: Interval | None
    recall: Interval | None


def read_labelled(
    path: Path, corpus: str, most: int, seed: int
) -> list[AnnotatedResponse]:
    """
    Read a corpus's consistent and inconsistent responses, at most so many; 0 for all.

    :raises InputError: if there are not two of each class, or too few passages.
    """
    annotated = read_file(path, {'label': 'q2_label'})
    labelled = [r for r in annotated.of_classes() if r.corpus == corpus]
    if 0 < most < len(labelled):
        labelled = random.Random(seed).sample(labelled, most)
    right = sum(r.label == Label.CONSISTENT for r in labelled)
    passages = {passage_key(r.knowledge) for r in labelled}
    if min(right, len(labelled) - right) < 2 or len(passages) <= DISTRACTORS:
        raise InputError(
            f'{path} has {right} consistent and {len(labelled) - right} inconsistent '
            f'examples of the corpus {corpus!r}, with {len(passages)} passages. There '
            f'must be two of each, and {DISTRACTORS + 1} passages.'
        )
    return labelled


def draw_distractors(
    responses: Sequence[AnnotatedResponse], n: int, rng: random.Random
) -> Iterator[str]:
    """The passages of other responses in random order, without response ``n``'s own."""
    texts = {
        passage_key(response.knowledge): response.knowledge for response in responses
    }
    keys = sorted(texts.keys() - {passage_key(responses[n].knowledge)})
    rng.shuffle(keys)
    return (texts[key] for key in keys)


def placed(
    responses: Sequence[AnnotatedResponse], n: int, placement: str, rng: random.Random
) -> Placed:
    """Place a response's passage among others, or inside a long text of them."""
    passage, response = responses[n].pair
    if placement == ALONE:
        return Placed(Example(passage, response), 0, 0, len(passage))
    texts: list[str] = []
    words = count_words(passage)
    for text in draw_distractors(responses, n, rng):
        if placement == BESIDE:
            texts = [sentence.text for sentence in sentences(text)[:1]]
            break
        if (placement == AMONG and len(texts) == DISTRACTORS) or words >= WORDS:
            break
        texts.append(text)
        words += count_words(text)
    at = rng.randint(0, len(texts))
    texts.insert(at, passage)
    if placement == AMONG:
        return Placed(Example(passages_of(texts), response), at, 0, len(passage))
    start = sum(len(text) + 1 for text in texts[:at])
    example = Example(' '.join(texts), response)
    return Placed(example, 0, start, start + len(passage))


def measure(
    scorer: Scorer, responses: Sequence[AnnotatedResponse], seed: int = SEED
) -> dict[str, PlacementMetrics]:
    """A scorer's metrics on one corpus, in each placement."""
    import numpy as np

    truth = np.array([r.label == Label.CONSISTENT for r in responses])
    groups = [passage_key(r.knowledge) for r in responses]
    values: dict[str, np.ndarray] = {}
    consistent: dict[str, np.ndarray] = {}
    right: dict[str, list[bool | None]] = {}
    for placement in PLACEMENTS:
        rng = random.Random(seed)
        placements = [
            placed(responses, n, placement, rng) for n in range(len(responses))
        ]
        scores = scorer.score(item.example for item in placements)
        values[placement] = np.array([score.value for score in scores])
        consistent[placement] = values[placement] > scorer.threshold
        right[placement] = [
            item.right(score) for item, score in zip(placements, scores, strict=True)
        ]
    alone = Sweep(values[ALONE], truth)

    def metrics(placement: str) -> PlacementMetrics:
        here = Sweep(values[placement], truth)

        def statistic(weights: 'np.ndarray') -> 'np.ndarray':
            auc = here.areas(weights)[0]
            return np.stack([auc, auc - alone.areas(weights)[0]], axis=1)

        auc, change = intervals(statistic, len(truth), groups=groups)
        rows = np.flatnonzero(truth).tolist()
        named = [n for n in rows if right[placement][n] is not None]

        def share(chosen: Sequence[int]) -> Interval | None:
            if not chosen:
                return None
            hits = [float(bool(right[placement][n])) for n in chosen]
            return mean_interval(hits, groups=[groups[n] for n in chosen])

        is_same = consistent[placement] == consistent[ALONE]
        same = mean_interval(is_same.astype(float).tolist(), groups=groups)
        return PlacementMetrics(auc, change, same, share(named), share(rows))

    return {placement: metrics(placement) for placement in values}


def row(*cells: object) -> str:
    return f'| {" | ".join("-" if c is None else str(c) for c in cells)} |'


def main(args: Sequence[str] | None = None) -> None:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(description='AUC with more knowledge')
    parser.add_argument('--infile', type=Path, required=True)
    parser.add_argument('--scorers', required=True, help='comma-separated')
    parser.add_argument('--corpora', default='wow', help='comma-separated')
    parser.add_argument('--preset', default=DEFAULT_PRESET)
    parser.add_argument('--most', type=int, default=0, help='examples of each corpus')
    options = parser.parse_args(args)
    cells = 'scorer', 'corpus', 'passage', 'AUC', 'change', 'same label'
    titles = *cells, 'right passage', 'of all'
    print(row(*titles), row(*['---'] * len(titles)), sep='\n')
    for name in options.scorers.split(','):
        scorer = load_scorer(name, options.preset)
        for corpus in options.corpora.split(','):
            examples = read_labelled(options.infile, corpus, options.most, SEED)
            for placement, metrics in measure(scorer, examples).items():
                title = f'{corpus} ({len(examples)})'
                print(row(name, title, placement, *metrics), flush=True)


if __name__ == '__main__':
    main()
