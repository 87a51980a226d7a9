"""Rows from published files, and their order."""

import json
import random
from collections import Counter

import pytest

from parlai_q2.errors import ConfigError, InputError, RecordError
from parlai_q2.zoo.train import detector_rows, squad_rows
from parlai_q2.zoo.train.data import read_rows, write_rows

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
    """A paragraph with one question."""
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


def test_the_generators_rows_are_answerable(squad):
    (row,) = squad_rows.qg_rows(squad_rows.read_squad(squad))
    assert row['a'] == 'five' and row['q'] == 'How many eyes do bees have?'


def test_nli_labels_become_classes():
    records = [
        {'sentence1': 'p', 'sentence2': 'h', 'gold_label': label}
        for label in ('entailment', 'neutral', 'contradiction', '-')
    ]
    rows = list(detector_rows.nli_rows(records, 'snli'))
    assert [row['y'] for row in rows] == [0, 1, 2]
    assert rows[0] == {'p': 'p', 'h': 'h', 'y': 0, 'src': 'snli'}


def test_a_label_that_nobody_knows_is_named_with_its_line():
    records = [{'sentence1': 'p', 'sentence2': 'h', 'gold_label': 'maybe'}]
    with pytest.raises(RecordError, match="line 1.*'maybe'"):
        list(detector_rows.nli_rows(records, 'snli'))


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
    rows = list(detector_rows.fever_rows(records, pages, 'fever'))
    assert [(row['p'], row['y']) for row in rows] == [
        ('Bees sting. They fly.', 0),
        ('They fly.', 0),
        ('Bees sting.', 2),
    ]
    assert detector_rows.needed_pages(records) == {'Bee', 'Wasp'}


def test_pages_are_read_by_sentence_number(tmp_path):
    pages = [{'id': 'Bee', 'lines': LINES}, {'id': 'Ant', 'lines': LINES}]
    write_rows(tmp_path / 'wiki-001.jsonl', pages)
    assert detector_rows.read_pages(tmp_path, {'Bee'}) == {
        'Bee': {0: 'Bees ( Apoidea ) sting .', 1: 'They fly .'}
    }


def test_the_command_takes_one_kind_of_file(tmp_path):
    with pytest.raises(ConfigError, match='--pages'):
        detector_rows.main(['--fever', 'x', '--name', 'f', '--outfile', 'o'])


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    def rows():
        yield {'a': 1}
        raise RuntimeError

    path = tmp_path / 'rows.jsonl.xz'
    write_rows(path, [{'a': 0}])
    with pytest.raises(RuntimeError):
        write_rows(path, rows())
    assert read_rows(path) == [{'a': 0}]


def row(source, label=0, number=0):
    return {'p': 'p', 'h': f'h{number}', 'y': label, 'src': source}


def test_rows_worth_most_come_first_and_no_source_takes_all_of_them(monkeypatch):
    monkeypatch.setattr(detector_rows, 'MOST', 3)
    monkeypatch.setattr(detector_rows, 'GENERAL', {'mnli': 2})
    rows = [row(s, n % 2, n) for s in ('d-tc', 'mnli', 'snli') for n in range(10)]
    found = detector_rows.ordered([*rows, row('anli'), row('fever')])
    # Of either class three dialogue rows and two of mnli; snli only afterwards.
    first = Counter((r['src'], r['y']) for r in found[:11])
    assert first == {
        ('d-tc', 0): 3,
        ('d-tc', 1): 3,
        ('mnli', 0): 2,
        ('mnli', 1): 2,
        ('fever', 0): 1,
    }
    assert Counter(r['src'] for r in found[11:]) == {'snli': 10, 'mnli': 6, 'd-tc': 4}
    assert sorted(map(str, found)) == sorted(map(str, [*rows, row('fever')]))


def test_the_seed_decides_the_order_within_a_part():
    rows = [row('d-tc', 0, n) for n in range(20)]
    assert detector_rows.ordered(rows, 1) == detector_rows.ordered(rows, 1)
    assert detector_rows.ordered(rows, 1) != detector_rows.ordered(rows, 2)


def test_the_command_orders_a_file(tmp_path):
    rows = [row('snli'), row('anli'), row('d-tc')]
    write_rows(tmp_path / 'in.jsonl.xz', rows)
    out = tmp_path / 'out.jsonl.gz'
    arguments = ['--order', str(tmp_path / 'in.jsonl.xz'), '--outfile', str(out)]
    detector_rows.main(arguments)
    assert [r['src'] for r in read_rows(out)] == ['d-tc', 'snli']
    with pytest.raises(ConfigError, match='--order alone'):
        detector_rows.main([*arguments, '--name', 'x'])
