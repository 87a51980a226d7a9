"""Knowledge of several passages, of any length: what a score reads and rests on."""

import json
from dataclasses import replace

import pytest

from parlai_q2 import Example, Label, Score, load_scorer
from parlai_q2.errors import InputError
from parlai_q2.scorers import shell
from parlai_q2.scorers.consistency import ConsistencyScorer
from parlai_q2.turns import Passage
from tests.scorers.places import check_places
from tests.toys import ToyNliModel

LAKE = (
    'Lake Baikal in Siberia is the deepest lake in the world. It is 1642 metres deep '
    'and about 25 million years old. More than 300 rivers flow into it and only one, '
    'the Angara, flows out.'
)
REST = (
    'In winter the ice is thick enough for lorries. The largest island is Olkhon, '
    'where about 1700 people live. Omul is a fish that is smoked and sold at every '
    'station. The railway around its southern end has 39 tunnels.'
)
TOWER = 'The Eiffel Tower is in Paris. It was built in 1889.'
ALIENS = 'Elvis Presley was murdered by aliens on the Moon in 1234.'
BEES = {'title': 'Honeybee', 'text': 'Bees have five eyes. They dance.'}


@pytest.mark.parametrize(
    'knowledge, text, passages',
    [
        ('a b', 'a b', (Passage('a b'),)),
        (['a', 'b'], 'a\nb', (Passage('a'), Passage('b'))),
        ([{'title': 'T', 'text': 'a'}], 'a', (Passage('a', 'T'),)),
        ((Passage('a', 'T'),), 'a', (Passage('a', 'T'),)),
        ([], '', ()),
    ],
)
def test_knowledge_is_a_text_or_passages(knowledge, text, passages):
    example = Example(knowledge, 'r')
    assert (example.knowledge_text, example.knowledge) == (text, passages)
    # A copy keeps them; with another knowledge it has that one's.
    assert replace(example, response='s').knowledge == passages
    assert replace(example, knowledge='other').knowledge == (Passage('other'),)


def test_an_emoji_that_was_cut_in_two_reaches_no_model():
    example = Example(['a \ud83d b'], 'c \ud83d d', ['e \ud83d f'])
    assert example.knowledge_text == 'a \ufffd b'
    assert example.response == 'c \ufffd d'
    assert example.history == ('e \ufffd f',)


@pytest.mark.parametrize(
    'fields, problem',
    [
        *[({'knowledge': k}, 'string') for k in (None, {'text': 'a'}, ['a', 3])],
        ({'knowledge': [{'title': 'T'}]}, 'string'),
        ({'response': 3}, 'string'),
        ({'history': 'one turn'}, 'history'),
        ({'response': None}, 'Give response=""'),
    ],
)
def test_what_is_no_example_is_refused(fields, problem):
    with pytest.raises(InputError, match=problem):
        Example(**{'knowledge': 'k', 'response': 'r', **fields})


@pytest.mark.parametrize('name', ['consistency', 'grounded_fast', 'q2'])
def test_passages_score_as_their_joined_text_and_say_which(name):
    response = 'Bees have five eyes.'
    several = Example([LAKE, REST, BEES], response)
    scorer = load_scorer(name)
    first, other = scorer.score([several, Example(several.knowledge_text, response)])
    assert first.value == other.value
    assert first.label == Label.CONSISTENT
    assert {e.passage for claim in first.claims for e in claim.evidence} == {2}
    check_places(first, several)
    empty, wrong = scorer.score([Example([], response), Example([LAKE, REST], ALIENS)])
    assert empty.label == Label.NOT_VERIFIABLE
    assert all(c.question or c.status != 'supported' for c in wrong.claims)
    assert Score.from_dict(json.loads(json.dumps(first.to_dict()))) == first


def test_a_statement_may_rest_on_sentences_of_two_passages():
    facts = {('bees dance. wasps sting.', 'bees dance and wasps sting.'): 'entailment'}
    filler = 'Ants walk in long lines. ' * 14
    scorer = ConsistencyScorer(ToyNliModel(facts))
    example = Example(
        [filler, 'Bees dance.', filler, 'Wasps sting.'], 'Bees dance and wasps sting.'
    )
    (score,) = scorer.score([example])
    (claim,) = score.claims
    assert {(e.passage, e.span.text) for e in claim.evidence} == {
        (1, 'Bees dance.'),
        (3, 'Wasps sting.'),
    }
    assert score.value == 1


def test_a_batch_of_mixed_lengths_gives_what_each_gives_alone():
    response = 'It is 1642 metres deep, and only the Angara flows out.'
    examples = [
        Example(LAKE, response),
        Example([REST] * 20 + [LAKE], response),
        Example([TOWER, BEES], 'Bees dance. ' * 40),
        Example(LAKE, ALIENS),
    ]
    scorer = load_scorer('grounded_fast')
    assert scorer.score(examples) == [scorer.score([e])[0] for e in examples]


@pytest.mark.parametrize('name', ['consistency', 'q2'])
def test_thirty_thousand_words_are_read_for_what_supports_the_response(name):
    many = [f'Lake {n} in the north is {n} metres deep. {REST}' for n in range(700)]
    many.insert(400, BEES['text'])
    example = Example(many, 'Bees have five eyes.')
    assert len(example.knowledge_text.split()) > 30_000
    (score,) = load_scorer(name).score([example])
    assert score.label == Label.CONSISTENT
    assert 400 in [e.passage for claim in score.claims for e in claim.evidence]


@pytest.mark.parametrize(
    'knowledge, response, part, message',
    [
        ('蜜蜂有五只眼睛。它们跳舞。', 'ผึ้งมีห้าตา', 'language', 'another language'),
        ('蜜蜂有五只眼睛。', 'Bees have five eyes.', 'language', 'another language'),
        (
            'The Mona Lisa was painted by Leonardo da Vinci.',
            'Die Mona Lisa wurde nicht von Leonardo da Vinci gemalt.',
            'language',
            'another language',
        ),
        ('😀😃🎉', '\x00\x01\u200b', 'unreadable', 'does not know'),
    ],
)
@pytest.mark.parametrize('name', ['consistency', 'grounded_fast', 'nli', 'q2'])
def test_what_a_model_does_not_know_is_not_verifiable(
    name, knowledge, response, part, message, caplog
):
    shell._warned.clear()
    examples = [Example(knowledge, response), Example(knowledge, f'{response} ')]
    scores = load_scorer(name).score(examples)
    assert {s.label for s in scores} == {Label.NOT_VERIFIABLE}
    assert [dict(s.parts) for s in scores] == [{part: 1.0}] * 2
    (warning,) = (r.message for r in caplog.records if message in r.message)
    assert knowledge[:40] in warning
    # A few unknown characters do no harm.
    accented = Example(BEES['text'], 'Café? Bees have five eyes 🐝!')
    assert 'unreadable' not in load_scorer(name).score([accented])[0].parts


@pytest.mark.parametrize('name', ['precision', 'overlap', 'rouge_l', 'grounded_fast'])
def test_an_accent_composed_or_not_is_the_same_word(name):
    first, other = 'The Caf\u00e9 opened.', 'The Cafe\u0301 opened.'
    examples = [Example(k, r) for k in (first, other) for r in (first, other)]
    assert len({s.value for s in load_scorer(name).score(examples)}) == 1
