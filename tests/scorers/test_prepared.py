"""Real replies and records are scored as people read them, by the shipped models."""

import json
from pathlib import Path

import pytest

from parlai_q2 import Example, load_scorer
from tests.scorers.places import check_places

BEES = 'Bees make honey. Bees live in hives. Bees have five eyes.'
RISKS = '\n\n'.join(
    f'{name}\nowner: {owner}\nbudget: {budget} euros'
    for name, owner, budget in [
        ('R-11', 'Ivo Marek', '4,000'),
        ('R-12', 'Bea Okoye', '9,500'),
        ('R-13', 'Tom Adler', '1,200'),
    ]
)
SHOP = (
    'The shop is open from 10 a.m. to 6 p.m. The sale runs until 31 May 2025. '
    'Call 0800 555 12 34 to order.'
)
CONSISTENT, INCONSISTENT = 'consistent', 'inconsistent'
CASES = [
    (BEES, '1. Bees make honey.\n2. Bees have six eyes.', INCONSISTENT),
    ('The tower opened on Jan. 5.', 'The tower opened on Jan. 5.', CONSISTENT),
    ('It opens at nine.', "I couldn't find prices. It opens at ten.", INCONSISTENT),
    (RISKS, 'The budget of R-13 is 1,200 euros.', CONSISTENT),
    (RISKS, 'The budget of R-13 is 9,500 euros.', INCONSISTENT),
    (SHOP, 'It is open 10:00–18:00.', CONSISTENT),
    (SHOP, 'It is open 10:00–19:00.', INCONSISTENT),
    (SHOP, 'The sale runs until 31.05.2025.', CONSISTENT),
    (SHOP, 'The sale runs until 30.05.2025.', INCONSISTENT),
    (SHOP, 'Call 0800 5551234.', CONSISTENT),
    (SHOP, 'Call 0800 5551235.', INCONSISTENT),
    (SHOP, '1. It is open from 10 a.m. to 6 p.m.', CONSISTENT),
]
SHEET = Path(__file__).with_name('real_replies.jsonl')
REPLIES = [json.loads(line) for line in SHEET.read_text('utf-8').splitlines()]


@pytest.mark.parametrize('knowledge, response, label', CASES)
def test_labels_of_real_replies(knowledge, response, label):
    (score,) = load_scorer('grounded_fast').score([Example(knowledge, response)])
    assert score.label == label


@pytest.mark.parametrize('preset', ['mini', 'base'])
def test_replies_that_people_reported_have_the_scores_of_the_sheet(preset):
    examples = [Example(reply['knowledge'], reply['response']) for reply in REPLIES]
    scores = load_scorer('grounded_fast', preset).score(examples)
    for reply, score in zip(REPLIES, scores, strict=True):
        assert score.value == pytest.approx(reply[preset], abs=0.05), reply['response']
        label = CONSISTENT if score.label == CONSISTENT else 'not consistent'
        assert reply['label'] in (score.label, label), reply['response']


def test_claims_and_evidence_have_offsets_in_the_texts_as_given():
    reply = '1. **R-12** is owned by Bea Okoye.\n2. R-12 is owned by Ivo Marek.'
    example = Example(RISKS, reply)
    (score,) = load_scorer('consistency').score([example])
    check_places(score, example)
    assert 'owner: Bea Okoye' in {e.span.text for c in score.claims for e in c.evidence}


def test_a_reply_that_was_read_in_half_is_not_consistent():
    reply = 'The shop opens at nine. La tienda cierra los lunes por la tarde.'
    (score,) = load_scorer('grounded_fast').score([Example(reply[:23], reply)])
    assert score.label != CONSISTENT
