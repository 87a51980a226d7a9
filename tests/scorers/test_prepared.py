"""Real replies and records are scored as people read them, by the shipped models."""

import pytest

from parlai_q2 import Example, load_scorer

BEES = 'Bees make honey. Bees live in hives. Bees have five eyes.'
LAYOUTS = ['- {}\n- {}\n- {}', '1. {}\n2. {}\n3. {}', '(1) {} (2) {} (3) {}',
           'First, {} Second, {} Third, {}', '## Answer\n\n{} [1] {} [2] {}',
           'Here it is:\n\n* **{}**\n* **{}**\n* **{}**']  # fmt: skip
SENTENCES = [f'{sentence}.' for sentence in BEES.rstrip('.').split('. ')]
LONG = ' and '.join(f'the {a} road of {b}' for a in ('old', 'new', 'red', 'long')
                    for b in ('Rome', 'Bonn', 'Oslo', 'Bern', 'Ulm'))  # fmt: skip
RISKS = '\n\n'.join(
    f'{name}\nowner: {owner}\nbudget: {budget} euros'
    for name, owner, budget in [
        ('R-11', 'Ivo Marek', '4,000'),
        ('R-12', 'Bea Okoye', '9,500'),
        ('R-13', 'Tom Adler', '1,200'),
    ]
)
CONSISTENT, INCONSISTENT = 'consistent', 'inconsistent'
CASES = [
    *((BEES, layout.format(*SENTENCES), CONSISTENT) for layout in LAYOUTS),
    (BEES, '1. Bees make honey.\n2. Bees have six eyes.', INCONSISTENT),
    ('They don’t fly in H₂O.', "They don't fly in H2O.", CONSISTENT),
    (f'I saw {LONG}.', f'I saw {LONG}.', CONSISTENT),
    ('The tower opened on Jan. 5.', 'The tower opened on Jan. 5.', CONSISTENT),
    ('The firm raised $890M.', 'The firm raised $89M.', INCONSISTENT),
    ('The firm raised $890M.', 'The firm raised 0.89 billion dollars.', CONSISTENT),
    ('Delivery takes 3-5 days.', 'Delivery takes 3 to 5 days.', CONSISTENT),
    ('Delivery takes 3-5 days.', 'Delivery takes 3 days.', INCONSISTENT),
    ('The pool is 45 m long and 12 m wide.', 'It is 45 m wide.', INCONSISTENT),
    ('Our page is https://a.org/faq.', 'See https://a.org/help.', INCONSISTENT),
    ('The shop opens at nine.', "I couldn't find any information on prices. Can I help "
     'you with anything else?', 'generic'),
    ('It opens at nine.', "I couldn't find prices. It opens at ten.", INCONSISTENT),
    (BEES, '.', 'not_verifiable'),
    ('...', '?', 'not_verifiable'),
    (BEES, 'a a a', 'not_verifiable'),
    (RISKS, 'R-12 is owned by Bea Okoye.', CONSISTENT),
    (RISKS, 'R-12 is owned by Ivo Marek.', INCONSISTENT),
    (RISKS, 'The budget of R-13 is 1,200 euros.', CONSISTENT),
    (RISKS, 'The budget of R-13 is 9,500 euros.', INCONSISTENT),
]  # fmt: skip


@pytest.mark.parametrize('knowledge, response, label', CASES)
def test_labels_of_real_replies(knowledge, response, label):
    (score,) = load_scorer('grounded_fast').score([Example(knowledge, response)])
    assert score.label == label


def test_claims_and_evidence_have_offsets_in_the_texts_as_given():
    reply = '1. **R-12** is owned by Bea Okoye.\n2. R-12 is owned by Ivo Marek.'
    (score,) = load_scorer('consistency').score([Example(RISKS, reply)])
    for claim in score.claims:
        assert claim.span.text == reply[claim.span.start : claim.span.end]
        for one in claim.evidence:
            assert one.span.text == RISKS[one.span.start : one.span.end]
    assert 'owner: Bea Okoye' in {e.span.text for c in score.claims for e in c.evidence}


def test_a_reply_that_was_read_in_half_is_not_consistent():
    reply = 'The shop opens at nine. La tienda cierra los lunes por la tarde.'
    (score,) = load_scorer('grounded_fast').score([Example(reply[:23], reply)])
    assert score.label != CONSISTENT
