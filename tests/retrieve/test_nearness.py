"""How near passages are to a question, by the shipped encoder."""

import pytest

from parlai_q2.retrieve import nearness
from parlai_q2.retrieve.nearness import Nearness
from parlai_q2.retrieve.retriever import Hit
from parlai_q2.turns import Passage

TEXTS = ('We repair bicycles on weekdays.', 'Dogs are welcome.', 'The pool is warm.')
HITS = [Hit(Passage(text), 1.0, n) for n, text in enumerate(TEXTS)]


def test_what_means_the_same_is_nearer():
    near = Nearness().measure('Can I bring my puppy?', HITS)
    assert max(near) == near[1]
    # Of two that are as near by their vectors, what was found better by words.
    best = [HITS[1]._replace(score=2.0), HITS[1]]
    better, worse = Nearness().measure('Can I bring my puppy?', best)
    assert better - worse == pytest.approx(0.15)
    assert Nearness().measure('Anything?', []) == []


def test_what_a_question_names_literally_is_nearer():
    texts = (
        '--wide makes it broad.',
        '--wide-open is another.',
        'Much is wide.',
        'Up.',
    )
    hits = [Hit(Passage(text), 1.0, n) for n, text in enumerate(texts)]
    question = 'What does --wide do?'
    near, plain = (
        Nearness().measure(query, hits) for query in (question, 'What does wide do?')
    )
    assert near[0] == max(near)
    gained = [a - b for a, b in zip(near, plain, strict=True)]
    assert gained[0] - max(gained[1:]) == pytest.approx(
        nearness.LITERAL_BONUS, abs=0.05
    )
    # What most have, as the project's name, tells nothing.
    shares = nearness.literal_shares(question, [texts[0], texts[0], 'Up.'])
    assert shares == [0.0, 0.0, 0.0]
