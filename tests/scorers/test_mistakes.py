"""What is wrong with a claim: its kind, the wrong words, and what the knowledge has."""

import pytest

from parlai_q2.claims import Claim, Label, MistakeKind, Score, Status
from parlai_q2.report.entries import describe_mistake, score_entry
from parlai_q2.report.terminal import render_score
from parlai_q2.scorers import load_scorer
from parlai_q2.scorers.mistakes import name_mistakes
from parlai_q2.turns import Example, Span, passages_of

U, C = Status.UNSUPPORTED, Status.CONTRADICTED
TRAIL = 'The trail is 42 km long. Anna Keller opened it in May 1998.'
GUESTS = (
    'Guests may bring dogs. The bar closes after midnight, and cats are not allowed.'
)


def claim_about(text, response, status):
    start = response.index(text)
    return Claim(Span(text, start, start + len(text)), 0.1, status)


def mistake_in(response, mark, status, knowledge):
    claim = claim_about(mark or response, response, status)
    score = Score(0.1, Label.INCONSISTENT, (claim,))
    (named,) = name_mistakes(score, Example(knowledge, response)).claims
    mistake = named.mistake
    assert response[mistake.span.start : mistake.span.end] == mistake.span.text
    if place := mistake.reference:
        text = passages_of(knowledge)[place.passage].text
        assert text[place.span.start : place.span.end] == place.span.text
    return named


@pytest.mark.parametrize(
    'response, mark, status, knowledge, description',
    [
        (
            'It is long. The trail is 42 miles long.',
            'miles',
            C,
            ['Bees sting.', TRAIL],
            'number (reply: 42 miles; passage: 42 km)',
        ),
        ('It opened in May 1989.', '', C, TRAIL, 'time (reply: 1989; passage: 1998)'),
        (
            'The trail was opened by Peter Brandt in May 1998.',
            'Peter Brandt',
            C,
            TRAIL,
            'name (reply: Peter Brandt; passage: Anna Keller)',
        ),
        ('The bar closes before midnight.', '', C, GUESTS, 'time'),
        ('Cats are allowed.', '', C, GUESTS, 'negation'),
        ("Guests can't bring dogs.", "can't", C, GUESTS, 'negation'),
        ('Dogs are bigger than cats.', 'bigger', C, GUESTS, 'comparison'),
        ('It was the third trail.', 'third', C, TRAIL, 'number'),
        ('They play wild jazz there.', '', U, GUESTS, 'addition (not in the passage)'),
        ('Dogs close the bar.', 'Dogs', C, GUESTS, ''),
        # A bare number beside another word, or one of several, is no value of it.
        ('It has 7 bridges.', '7', U, 'It has 3 tunnels.', 'number'),
        ('It is 9 km long.', '9', U, 'It is 5 km or 7 km long.', 'number'),
    ],
)
def test_a_mistake_is_named_with_what_the_knowledge_has(
    response, mark, status, knowledge, description
):
    claim = mistake_in(response, mark, status, knowledge)
    assert describe_mistake(claim) == description
    assert Claim.from_dict(claim.to_dict()) == claim


def test_only_unsupported_claims_without_a_question_have_a_mistake():
    right = claim_about('Bees', 'Bees fly. Cats fly.', Status.SUPPORTED)
    question_claim = Claim(
        Span('fly', 5, 8), 0.0, C, (), 'What do bees do?', 'neutral', 0.0
    )
    wrong = claim_about('Cats', 'Bees fly. Cats fly.', C)
    score = Score(0.1, Label.INCONSISTENT, (right, question_claim, wrong))
    named = name_mistakes(score, Example('Bees fly.', 'Bees fly. Cats fly.'))
    kinds = [claim.mistake and claim.mistake.kind for claim in named.claims]
    assert kinds == [None, None, MistakeKind.OTHER]
    fine = Score(0.9, Label.CONSISTENT, named.claims).as_labelled
    assert [claim.mistake for claim in fine.claims] == [None, None, None]


MARKED = '## Trail\n\n**The trail is 42 km long.** It is open.'
ONE_LINE = '{"hotel": "Anker", "price": "45 euros", "deposit": "20 euros", "rooms": 14}'


@pytest.mark.parametrize('scorer', ['spans', 'grounded_fast', 'consistency'])
@pytest.mark.parametrize(
    'knowledge, response, wrong, right',
    [
        (MARKED, '- *The trail is 42 miles long.*', '42 miles', '42 km'),
        (ONE_LINE, 'The price of Anker is **50 euros**.', '50 euros', '45 euros'),
        (ONE_LINE, 'The Anker has 15 rooms.', '15', '14'),
    ],
)
def test_scorers_name_mistakes_in_texts_as_they_were_given(
    scorer, knowledge, response, wrong, right
):
    # Markup is removed, and records become sentences, before a model reads them.
    (score,) = load_scorer(scorer).score([Example(knowledge, response)])
    (claim,) = (scored_claim for scored_claim in score.claims if scored_claim.mistake)
    assert str(claim.mistake) == f'number (reply: {wrong}; passage: {right})'
    place = claim.mistake.reference.span
    assert knowledge[place.start : place.end] == right
    assert claim.mistake.span.start == response.index(wrong)


def test_pages_and_terminals_tell_what_is_wrong():
    response = 'The trail is 42 miles long.'
    claim = mistake_in(response, '', C, TRAIL)
    score = Score(0.1, Label.INCONSISTENT, (claim,))
    description = 'number (reply: 42 miles; passage: 42 km)'
    entry = score_entry(score, response, passages_of(TRAIL))
    assert entry['claims'][0]['mistake'] == description
    lines = ' '.join(render_score(score, response, TRAIL, False, 200).split())
    assert f'contradicted, {description}, support 0.10' in lines
