"""The answers in free words, and how scorers are measured on them."""

from collections import Counter

from benchmarks.free_words import AnswerPair, measure_answers, read_pairs
from parlai_q2.scorers.registry import load_scorer
from tests.rerank.toys import ToyScorer


def test_the_sheet_has_200_different_answers_with_twelve_kinds_of_errors():
    pairs = read_pairs()
    assert len({text for pair in pairs for text in (pair.right, pair.wrong)}) == 200
    kinds = Counter(pair.error for pair in pairs)
    assert len(kinds) == 12
    assert min(kinds.values()) >= 7
    assert sorted(pairs) == sorted(read_pairs('design') + read_pairs('held_out'))


def test_figures_of_a_scorer_that_counts_shared_words():
    pairs = [AnswerPair('a b', 'a b', 'a x', 'name'), AnswerPair('a b', 'b', 'b', 'x')]
    figures = measure_answers(ToyScorer(), pairs)
    assert figures['auc'] == (1 + 1 + 0.5 + 0.5) / 4
    assert figures['by_error'] == {'name': 1, 'x': 0}
    assert figures['accuracy'] == 3 / 4


def test_the_shipped_detector_tells_right_answers_from_wrong_ones():
    figures = measure_answers(load_scorer('grounded_fast'), read_pairs('held_out')[:24])
    assert figures['auc'] > 0.7
