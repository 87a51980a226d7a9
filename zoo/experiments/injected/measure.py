"""
Measures replies: how much of them is made up, how grounded other scorers judge them,
and whether they are still useful.
"""

from pathlib import Path
from typing import Any, Mapping, NamedTuple, Sequence

from parlai_q2.cache import CachedScorer, ScoreStore
from parlai_q2.records import Example, Label
from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.registry import load_scorer
from parlai_q2.text.density import extractiveness
from parlai_q2.text.overlap import token_f1
from parlai_q2.zoo.experiments.injected.claims import made_up, new_words
from parlai_q2.zoo.experiments.injected.files import Fields


class Measure(NamedTuple):
    """
    One figure of a reply.

    :param title: its title in tables and figures.
    :param better: whether ``lower`` or ``higher`` is better; empty where neither is.
    """

    name: str
    title: str
    better: str


MADE_UP = Measure('made_up', 'made up', 'lower')
NEW_WORDS = Measure('new_words', 'new words', 'lower')
F1 = Measure('f1', 'F1 with gold', 'higher')
WORDS = Measure('words', 'words', '')
COPIED = Measure('copied', 'copied', '')


def measures(judges: Sequence[str]) -> list[Measure]:
    """
    All measures, including the judges'.
    """
    judged = [Measure(name, f'fine by {name}', 'higher') for name in judges]
    return [MADE_UP, NEW_WORDS, *judged, F1, WORDS, COPIED]


def open_scorer(name: str, scores: Path) -> Scorer:
    """
    Open a scorer that keeps its scores in a file.
    """
    scorer = load_scorer(name)
    if not scorer.has_models:
        return scorer
    return CachedScorer(scorer, ScoreStore(scores))


def measure(
    turns: Sequence[Fields], replies: Sequence[str], judges: Mapping[str, Scorer]
) -> list[dict[str, Any]]:
    """
    The figures of replies.

    :param turns: B contexts with their gold replies.
    :param replies: B replies.
    :param judges: scorers by name.
    :return: B dicts with one value for each measure: ``made_up`` is 1 if the reply has
        a name or number that was not given, else 0; ``new_words``, ``f1`` and
        ``copied`` are in [0, 1]; ``words`` is a count. Under a judge's name the value
        is 0 where its label is inconsistent, else 1.
    """
    figures: list[dict[str, Any]] = []
    for turn, reply in zip(turns, replies, strict=True):
        given = f'{turn["knowledge"]}\n{turn["text"]}'
        figures.append(
            {
                MADE_UP.name: float(bool(made_up(reply, given))),
                NEW_WORDS.name: new_words(reply, given),
                F1.name: token_f1(turn['reply'], reply),
                WORDS.name: float(len(reply.split())),
                COPIED.name: extractiveness(turn['knowledge'], reply).coverage,
            }
        )
    for name, judge in judges.items():
        pairs = [Example(t['knowledge'], r) for t, r in zip(turns, replies)]
        for of_reply, score in zip(figures, judge.score(pairs), strict=True):
            of_reply[name] = float(score.label != Label.INCONSISTENT)
    return figures
