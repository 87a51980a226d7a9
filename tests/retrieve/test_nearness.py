"""How near passages are to a question, by the shipped encoder."""

import pytest

from parlai_q2.retrieve import nearness
from parlai_q2.retrieve.found import Found
from parlai_q2.retrieve.nearness import Nearness
from parlai_q2.turns import Passage

TEXTS = ('We repair bicycles on weekdays.', 'Dogs are welcome.', 'The pool is warm.')
FOUND = [Found(Passage(text), 1.0, n) for n, text in enumerate(TEXTS)]


def test_what_means_the_same_is_nearer():
    near = Nearness().of('Can I bring my puppy?', FOUND)
    assert max(near) == near[1]
    # Of two that are as near by their vectors, what was found better by words.
    best = [FOUND[1]._replace(score=2.0), FOUND[1]]
    better, worse = Nearness().of('Can I bring my puppy?', best)
    assert better - worse == pytest.approx(0.15)
    assert Nearness().of('Anything?', []) == []


def test_vectors_are_kept_for_a_while(monkeypatch):
    monkeypatch.setattr(nearness, 'MOST_KEPT', 2)
    near = Nearness()
    first = near.of('Can I bring my puppy?', FOUND)
    assert len(near._vectors) == 2
    assert near.of('Can I bring my puppy?', FOUND) == pytest.approx(first, abs=1e-3)
