"""
Rows from published files, and which questions are worth learning.
"""

import json
import random

import pytest

from parlai_q2.errors import ConfigError, InputError, RecordError
from parlai_q2.zoo.train import nli_rows, squad_rows
from parlai_q2.zoo.train.data import read_rows, write_rows
from parlai_q2.zoo.train.question_targets import main as keep_specific
from parlai_q2.zoo.train.question_targets import specific

FIRST = 'Bees have five eyes. They live in hives with a queen. Wasps sting more.'
SECOND = 'A queen lives for years. Drones die in autumn.'
SQUAD = {
    'data': [
        {
            'paragraphs': [
                {
                    'context': FIRST,
                    'qas': [
                        {
                            'question': 'How many eyes do bees have?',
                            'answers': [{'text': 'five', 'answer_start': 10}],
                        },
                        {
                            'question': 'Where do wasps live?',
                            'is_impossible': True,
                            'answers': [],
                            'plausible_answers': [
                                {'text': 'hives', 'answer_start': 34}
                            ],
                        },
                        {  # a wrong offset is left out
                            'question': 'Who lives there?',
                            'answers': [{'text': 'a queen', 'answer_start': 3}],
                        },
                    ],
                },
                {'context': SECOND, 'qas': []},
            ]
        }
    ]
}


@pytest.fixture
def squad(tmp_path):
    path = tmp_path / 'squad.json'
    path.write_text(json.dumps(SQUAD))
    return path


def test_questions_are_read_with_their_answers(squad):
    asked = squad_rows.read_squad(squad)
    assert [(one.question, one.answer, one.possible) for one in asked] == [
        ('How many eyes do bees have?', 'five', True),
        ('Where do wasps live?', 'hives', False),
    ]


def asking(text, answer):
    """
    A paragraph with one question.
    """
    found = {'text': answer, 'answer_start': text.index(answer)}
    asked = {'question': 'Who sells honey?', 'answers': [found]}
    return {'context': text, 'qas': [asked]}


def test_a_question_has_no_text_of_another_files_article(tmp_path):
    names, found = ('bees.json', 'kings.json'), set()
    for name, who in zip(names, ('Bees', 'Kings')):
        texts = (f'{who} sell wax.', f'{who} met knights.')
        paragraphs = [asking(t, a) for t, a in zip(texts, ('wax', 'knights'))]
        article = {'data': [{'paragraphs': paragraphs}]}
        (tmp_path / name).write_text(json.dumps(article))
    files, out = [str(tmp_path / name) for name in names], tmp_path / 'qa.jsonl'
    for seed in range(20):
        squad_rows.main(
            ['--files', *files, '--name', 'x', '--qa', str(out), '--seed', str(seed)]
        )
        rows = read_rows(out)
        for row, after in zip(rows, rows[1:]):
            if after['src'] == 'neg_art:x':  # it follows the question's own row
                found.add((row['c'].split()[0].lower(), after['c'].split()[0].lower()))
    assert found == {('bees', 'bees'), ('kings', 'kings')}


def test_the_articles_of_several_files_are_numbered_through(squad):
    two = json.loads(squad.read_text())
    two['data'] *= 2
    squad.write_text(json.dumps(two))
    asked = squad_rows.read_all([squad, squad])
    assert [one.article for one in asked] == [0, 0, 1, 1, 2, 2, 3, 3]


def test_a_file_of_another_form_is_named(tmp_path):
    path = tmp_path / 'other.json'
    path.write_text('[1]')
    with pytest.raises(InputError, match='other.json'):
        squad_rows.read_squad(path)


def test_a_text_is_narrowed_to_the_sentence_of_its_answer(squad):
    one, impossible = squad_rows.read_squad(squad)
    rng = random.Random(0)
    assert squad_rows.narrowed(one, 0, rng) == ('Bees have five eyes.', 10)
    text, start = squad_rows.narrowed(one, 1, rng)
    assert text == 'Bees have five eyes. They live in hives with a queen.'
    assert text[start:].startswith('five')
    assert squad_rows.narrowed(impossible, 0, rng)[0] == (
        'They live in hives with a queen.'
    )


def test_an_answer_across_sentences_is_left_out(squad):
    one = squad_rows.read_squad(squad)[0]._replace(answer='five eyes. They')
    assert squad_rows.narrowed(one, 0, random.Random(0)) is None


def test_the_readers_rows_have_the_labels_of_the_file(squad):
    for seed in range(12):
        for row in squad_rows.qa_rows(squad_rows.read_squad(squad), 'x', seed):
            if row['src'] == 'x':
                end = row['s'] + len(row['a'])
                assert row['c'][row['s'] : end] == row['a'] == 'five'
            else:
                assert (row['s'], row['a']) == (-1, '')
            if row['src'].startswith('neg'):
                # Not the answer's sentence.
                assert 'five' not in row['c'].lower()
            if row['src'] == 'neg_art:x':
                assert row['c'].lower() in SECOND.lower()


def test_the_generators_rows_are_answerable_and_specific(squad):
    (row,) = squad_rows.qg_rows(squad_rows.read_squad(squad))
    assert row['a'] == 'five' and row['q'] == 'How many eyes do bees have?'


@pytest.mark.parametrize(
    'question, answer, kept',
    [
        ('How many eyes do bees have?', 'five', True),
        ('What is it?', 'Bees', False),
        ('What do they have?', 'five', False),  # nothing of the text is left
        ('What kind of thing has eyes?', 'Bees', True),
        ('How many of them are eyes?', 'five', False),  # one word and a pronoun
        ('How many eyes do they have as bees?', 'five', True),
        ('Name the eyes of bees', 'five', False),  # asks for no span
        ('What eyes do bees have?', 'eyes', False),  # has its answer
        ('Who has five eyes?', 'they', False),  # a pronoun answers
    ],
)
def test_a_question_stands_by_itself_or_is_left_out(question, answer, kept):
    text = 'Bees have five eyes, and they see well.'
    assert specific({'a': answer, 'c': text, 'q': question}) is kept


def test_only_specific_questions_are_written(tmp_path):
    text = 'Bees have five eyes.'
    rows = [
        {'a': 'five', 'c': text, 'q': 'How many eyes do bees have?'},
        {'a': 'Bees', 'c': text, 'q': 'What is it?'},
    ]
    write_rows(tmp_path / 'qg.jsonl.gz', rows)
    keep_specific(
        [
            '--rows',
            str(tmp_path / 'qg.jsonl.gz'),
            '--outfile',
            str(tmp_path / 'o.jsonl'),
        ]
    )
    assert read_rows(tmp_path / 'o.jsonl') == rows[:1]


def test_nli_labels_become_classes():
    records = [
        {'sentence1': 'p', 'sentence2': 'h', 'gold_label': label}
        for label in ('entailment', 'neutral', 'contradiction', '-')
    ]
    rows = list(nli_rows.nli_rows(records, 'snli'))
    assert [row['y'] for row in rows] == [0, 1, 2]
    assert rows[0] == {'p': 'p', 'h': 'h', 'y': 0, 'src': 'snli'}


def test_a_label_that_nobody_knows_is_named_with_its_line():
    records = [{'sentence1': 'p', 'sentence2': 'h', 'gold_label': 'maybe'}]
    with pytest.raises(RecordError, match="line 1.*'maybe'"):
        list(nli_rows.nli_rows(records, 'snli'))


LINES = '0\tBees -LRB- Apoidea -RRB- sting .\tBee\n1\tThey fly .\n2\t\n'


def claim(label, *groups):
    evidence = [[[1, 2, page, number] for page, number in group] for group in groups]
    return {'claim': 'Bees fly.', 'label': label, 'evidence': evidence}


def test_a_claim_stands_with_each_set_of_its_evidence_once():
    pages = {'Bee': {0: 'Bees sting.', 1: 'They fly.'}}
    records = [
        claim('SUPPORTS', [('Bee', 1), ('Bee', 0)], [('Bee', 1)], [('Bee', 1)]),
        claim('REFUTES', [('Bee', 0)]),
        claim('REFUTES', [('Wasp', 0)]),  # the page is not there
        claim('NOT ENOUGH INFO', [(None, None)]),
    ]
    rows = list(nli_rows.fever_rows(records, pages, 'fever'))
    assert [(row['p'], row['y']) for row in rows] == [
        ('Bees sting. They fly.', 0),
        ('They fly.', 0),
        ('Bees sting.', 2),
    ]
    assert nli_rows.needed_pages(records) == {'Bee', 'Wasp'}


def test_pages_are_read_by_sentence_number(tmp_path):
    pages = [{'id': 'Bee', 'lines': LINES}, {'id': 'Ant', 'lines': LINES}]
    write_rows(tmp_path / 'wiki-001.jsonl', pages)
    assert nli_rows.read_pages(tmp_path, {'Bee'}) == {
        'Bee': {0: 'Bees ( Apoidea ) sting .', 1: 'They fly .'}
    }


def test_the_command_takes_one_kind_of_file(tmp_path):
    with pytest.raises(ConfigError, match='--pages'):
        nli_rows.main(['--fever', 'x', '--name', 'f', '--outfile', 'o'])


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    def rows():
        yield {'a': 1}
        raise RuntimeError

    path = tmp_path / 'rows.jsonl.xz'
    write_rows(path, [{'a': 0}])
    with pytest.raises(RuntimeError):
        write_rows(path, rows())
    assert read_rows(path) == [{'a': 0}]
