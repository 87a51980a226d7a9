"""What a response is read as, and where its evidence is then."""

import json

import pytest

from parlai_q2 import Example, load_scorer
from parlai_q2.cli.commands import run_command
from parlai_q2.scorers.consistency import SENTENCES, ConsistencyScorer
from parlai_q2.scorers.in_context import InContextScorer, edits_of
from tests.toys import ToyNliModel

BEES = 'The honeybee has five eyes.'
TITLED = {'title': 'Honeybee', 'text': BEES}


@pytest.mark.parametrize(
    'knowledge, turn, response, read, why',
    [
        ([TITLED], 'Hi.', 'It has five eyes.', 'Honeybee has five eyes.', 'the title'),
        ([TITLED] * 2, '', 'It has eyes.', 'Honeybee has eyes.', 'one title'),
        (
            [TITLED, {'title': 'Ant', 'text': 'a'}],
            'The wasp stings.',
            'It has eyes.',
            'It has eyes.',
            'two titles',
        ),
        (BEES, 'The wasp is big.', 'It has eyes.', 'The wasp has eyes.', 'the subject'),
        (BEES, 'The wasp stings and the ant bites.', 'It bites.', 'It bites.', 'two'),
        (BEES, 'She likes them.', 'It has eyes.', 'It has eyes.', 'a pronoun'),
        (BEES, '', 'It has eyes.', 'It has eyes.', 'no turn'),
        ([TITLED], '', 'The wasp says it has eyes.', None, 'the wasp, as like as not'),
        (
            BEES,
            'How many eyes does a honeybee have?',
            'Five.',
            'How many eyes does a honeybee have: Five.',
            'an answer without a verb',
        ),
        (BEES, 'How many?', 'They have five.', 'They have five.', 'it has a verb'),
        (BEES, 'Good to know.', 'Five.', 'Five.', 'no question'),
        (BEES, 'How many?', '', '', 'no response'),
    ],
)
def test_what_is_read(knowledge, turn, response, read, why):
    (edit,) = edits_of([Example(knowledge, response, [turn] if turn else [])])
    assert edit.read(response) == (response if read is None else read), why


def test_evidence_is_in_the_response_as_it_was_written():
    facts = {(BEES.lower(), 'honeybee has five eyes.'): 'entailment'}
    plain = ConsistencyScorer(ToyNliModel(facts))
    plain.pooling = SENTENCES
    scorer = InContextScorer(plain)
    response = 'Yes! It has five eyes. It flies.'
    examples = [Example([TITLED], 'It has five eyes.'), Example([TITLED], response)]
    one, two = scorer.score(examples)
    assert one.value == 1 and plain.score(examples[:1])[0].value == 0
    assert [s.span.text for s in one.statements] == ['It has five eyes.']
    assert [s.span.text for s in two.statements] == [
        'Yes!',
        'It has five eyes.',
        'It flies.',
    ]
    for statement in two.statements:
        span = statement.span
        assert response[span.start : span.end] == span.text
    assert one.signature == str(scorer.signature) != str(plain.signature)


def test_questions_about_words_that_are_only_read_are_no_evidence():
    example = Example(BEES, 'Five.', ['How many eyes does the honeybee have?'])
    scorer = InContextScorer(load_scorer('q2'))
    (score,) = scorer.score([example])
    for verdict in score.verdicts:
        span = verdict.response_answer
        assert span.text and example.response[span.start : span.end] == span.text
    # The same words after another turn are read otherwise.
    other = Example(BEES, 'Five.', ['How many wings does the honeybee have?'])
    assert scorer.score([example, other]) == [score, scorer.score([other])[0]]


def test_commands_read_so_where_they_are_asked_to(tmp_path):
    infile, outfile = tmp_path / 'in.jsonl', tmp_path / 'out.jsonl'
    knowledge = 'The company was founded in 1969 by two brothers.'
    turns = ['When was the company founded?', 'When did the company close?']
    records = [
        {'knowledge': knowledge, 'history': [turn], 'response': 'In 1969.'}
        for turn in turns
    ]
    infile.write_text('\n'.join(map(json.dumps, records)))
    cache = tmp_path / 'scores.sqlite'
    found = []
    for context in (False, True, True):
        run_command(
            'score',
            infile=str(infile),
            outfile=str(outfile),
            scorer='consistency',
            in_context=context,
            cache_file=str(cache),
        )
        found.append([json.loads(line)['label'] for line in outfile.open()])
        outfile.unlink()
    assert found == [['consistent'] * 2] + [['consistent', 'inconsistent']] * 2
