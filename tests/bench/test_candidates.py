"""What more candidates give, measured on a generator that takes no time."""

import pytest

from parlai_q2.bench.candidates import (
    CandidateBench,
    describe_candidates,
    draw_candidates,
)
from parlai_q2.generate.writer import GeneratedReply
from parlai_q2.rerank import Reranker
from parlai_q2.turns import Turn
from tests.rerank.toys import ToyScorer


class Generator:
    """Its candidates are one wrong, then ever more words of the knowledge."""

    def __init__(self):
        self.writer = self

    def context(self, history, knowledge):
        return knowledge.split(), None

    def write(self, contexts, strategies):
        number = sum(strategy.number for strategy in strategies[0])
        return [
            [
                GeneratedReply(('wrong',) * 2 + tuple(context[:n]), 'beam', 0.0, 0.0)
                for n in range(number)
            ]
            for context in contexts
        ]

    def text(self, tokens, context):
        return ' '.join(tokens)


TURNS = [Turn('b c d e f g', ['x']), Turn('h i', ['y'])]


def test_more_candidates_give_fewer_wrong_choices():
    judge = ToyScorer()
    reranker = Reranker('precision', relevance=None)
    bench = CandidateBench(Generator(), reranker, judge, TURNS)
    two, many = (bench.measure('beam', number) for number in (2, 7))
    assert (two['wrong'], two['first_wrong'], two['distinct']) == (2, 2, 2)
    # Six of eight words are the knowledge's, and two of four, which is not enough.
    assert (many['wrong'], many['replies'][0][0]) == (1, 'wrong wrong b c d e f g')
    assert many['judged'] == pytest.approx((6 / 8 + 2 / 4) / 2)
    assert many['distinct'] == 5, 'of two words there are three'
    assert sum(map(len, judge.batches)) == 6, 'no reply is judged twice'
    assert 'beam              7' in describe_candidates([two, many])


def test_the_figure_is_drawn_for_every_strategy(tmp_path):
    measured = {'turns': 2, 'wrong': 1, 'find': 0.1, 'choose': 0}
    rows = [
        {'strategy': strategy, 'candidates': number, **measured}
        for strategy in ('beam', 'mixed')
        for number in (5, 10)
    ]
    png, svg = draw_candidates(rows, tmp_path)
    assert png.stat().st_size > 1000
    assert all(word in svg.read_text() for word in ('beam', 'mixed', 'wrong choice'))
