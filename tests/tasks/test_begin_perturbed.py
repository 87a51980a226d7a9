"""Training data for classes of BEGIN, from grounded responses that are changed."""

from collections import Counter

import pytest

from parlai_q2.errors import ConfigError, InputError, UnknownNameError
from parlai_q2.tasks.begin.perturbed import ANTONYMS, PerturbedExamples, run
from parlai_q2.tasks.pairs.reader import read_pairs
from tests.files import write_lines

PAIRS = [
    (
        'Marie Curie was the first woman to win a Nobel Prize, in 1903.',
        'Marie Curie was the first woman to win it, in 1903.',
    ),
    (
        'Garry Kasparov lost a match to Deep Blue in 1997.',
        'Garry Kasparov lost to Deep Blue in 1997.',
    ),
    ('Pizza was invented in Naples, a city in Italy.', 'It was invented in Naples.'),
    ('The Beatles were formed in Liverpool in 1960.', 'They were formed in 1960.'),
    # Not grounded: it names what the knowledge does not.
    ('The sea is salty.', 'The sea near Malta is salty since 1800.'),
]
KINDS = ('original', 'entity', 'number', 'verb', 'antonym', 'negation', 'knowledge')


def made(*kinds, **options):
    return list(PerturbedExamples(PAIRS, **options).make(kinds))


def test_each_kind_can_be_chosen_and_has_its_class():
    records = made(*KINDS, 'generic')
    labels = {record.kind: record.label for record in records}
    assert set(labels) == {*KINDS, 'generic'}
    assert labels.pop('original') == 'consistent'
    assert labels.pop('generic') == 'generic'
    assert set(labels.values()) == {'inconsistent'}
    for kind in KINDS:
        assert {record.kind for record in made(kind)} == {kind}


def test_ungrounded_responses_are_left_out():
    records = made('original')
    assert [(record.knowledge, record.response) for record in records] == PAIRS[:4]


@pytest.mark.parametrize('kind', KINDS[1:])
def test_a_change_leaves_one_of_the_two_texts_as_it_was(kind):
    for record in made(kind):
        assert (record.knowledge, record.response) not in PAIRS
        knowledge, responses = zip(*PAIRS)
        assert record.knowledge in knowledge
        assert (record.response in responses) == (kind == 'knowledge')


def test_an_antonym_is_of_a_word_that_the_knowledge_has():
    responses = [record.response for record in made('antonym')]
    assert responses == [
        'Marie Curie was the last woman to win it, in 1903.',
        'Garry Kasparov won to Deep Blue in 1997.',
    ]
    assert all(ANTONYMS[ANTONYMS[word]] for word in ANTONYMS)


def test_a_new_end_follows_the_beginning_and_never_sees_the_knowledge():
    prompts = []

    def regenerate(starts):
        prompts.extend(starts)
        new = [' by somebody quite else', ' in Italy', '', ' by somebody else']
        return [start + end for start, end in zip(starts, new)]

    records = made('prefix', regenerate=regenerate)
    assert prompts[2] == 'It was'
    assert prompts[3] == 'They were'
    # What says nothing new, or only what the knowledge says, is left out.
    assert [record.response for record in records] == [
        f'{prompts[0]} by somebody quite else',
        'They were by somebody else',
    ]
    assert {record.label for record in records} == {'inconsistent'}
    with pytest.raises(ConfigError, match='--model'):
        made('prefix')
    with pytest.raises(UnknownNameError, match="Did you mean 'verb'"):
        made('verbs')


def test_a_file_is_written_that_the_task_pairs_reads(tmp_path, capsys):
    outfile = tmp_path / 'adv.jsonl'
    rows = ({'knowledge': k, 'response': r} for k, r in PAIRS)
    infile = write_lines(tmp_path / 'in.jsonl', *rows)
    options = ['--infile', str(infile), '--outfile', str(outfile)]
    counts = run([*options, '--kinds', 'original,number'])
    assert counts == Counter(
        (pair.label == 'consistent' and 'original') or 'number'
        for pair in read_pairs(outfile)
    )
    assert counts['original'] == 4
    assert 'original 4, number' in capsys.readouterr().out
    with pytest.raises(InputError, match='is also an input'):
        run(['--infile', str(infile), '--outfile', str(infile)])
