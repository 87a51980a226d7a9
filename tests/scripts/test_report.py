import json
import re

import pytest

from parlai_q2.cli.commands import run_command
from parlai_q2.errors import InputError
from parlai_q2.report.scored_file import read_scored_file
from tests.files import page_data, write_lines
from tests.report.samples import SIGNATURE, reranked, scored, simple

EVIDENCE = ('score', 'label', 'fallback', 'claims', 'parts', 'signature')


def conversation(*turns):
    return {
        'dialog': [
            [
                {'id': 'teacher', 'text': 'Hi.', 'knowledge': 'K.'},
                {'id': 'model', **turn},
            ]
            for turn in turns
        ],
        'context': [],
    }


@pytest.fixture
def warnings(monkeypatch):
    """What is left out."""
    said = []
    monkeypatch.setattr('parlai_q2.cli.log.error', said.append)
    return said


def test_the_first_line_names_the_signature_for_all(tmp_path):
    path = write_lines(tmp_path / 'scores.jsonl', scored(), simple(1), simple(2))
    entries = list(read_scored_file(path))
    assert {entry['signature'] for entry in entries} == {SIGNATURE}


def test_bad_lines_are_named_by_number_and_left_out(tmp_path, warnings):
    path = write_lines(
        tmp_path / 'scores.jsonl',
        simple(1),
        '{not json',
        '',
        simple(2, score=1.0, label=None),
        {'knowledge': 'K.', 'response': 7, 'error': 'no string', 'kind': 'error'},
        '[1, 2]',
        '{"knowledge": "K", "response": "R", "label": "consistent", "score": NaN}',
        simple(3),
    )
    page = run_command('report', str(path))
    assert [entry['id'] for entry in page_data(page)['entries']] == ['r1', 'r3']
    bad = [int(re.search(r'line (\d+)', text)[1]) for text in warnings]
    assert bad == [2, 4, 5, 6, 7]
    assert 'was not scored: no string' in warnings[2]


@pytest.mark.parametrize(
    'line, remedy',
    [
        ('{"knowledge": "K', 'is not JSON'),
        ({'knowledge': 'K', 'response': 'R', 'label': 'consistent'}, 'parlai_q2 score'),
        ({'knowledge': 'K', 'candidates': ['R']}, 'parlai_q2 rerank'),
    ],
)
def test_what_has_no_score_is_told_what_to_do(tmp_path, warnings, line, remedy):
    path = write_lines(tmp_path / 'scores.jsonl', simple(1), line)
    run_command('report', str(path))
    assert remedy in warnings[0]


def test_scores_come_from_files():
    with pytest.raises(InputError, match='not from the standard input'):
        run_command('report', '-')


@pytest.mark.parametrize(
    'lines, problem',
    [
        ([], 'holds no record'),
        (['', '  '], 'holds no record'),
        (['nonsense'], 'None of the 1 records'),
        ([{'a': 1}], 'None of the 1 records'),
        ([{'dialog': []}], 'holds no record'),
        ([conversation({'text': 'Hello.'})], 'None of the 1 records'),
    ],
)
def test_a_file_without_scores_is_a_clear_error(tmp_path, lines, problem):
    path = write_lines(tmp_path / 'scores.jsonl', *lines)
    with pytest.raises(InputError, match=problem):
        run_command('report', str(path))
    assert [p.name for p in tmp_path.iterdir()] == ['scores.jsonl']


def test_the_input_is_never_replaced(tmp_path):
    path = write_lines(tmp_path / 'scores.html', scored())
    with pytest.raises(InputError, match='would overwrite its input'):
        run_command('report', str(path))
    assert json.loads(path.read_text('utf-8'))['id'] == 'madonna'


def test_world_logs_of_the_teacher_are_read(tmp_path):
    record = scored()
    evidence = {name: record[name] for name in EVIDENCE}
    logs = write_lines(
        tmp_path / 'logs.jsonl',
        conversation(
            {'text': record['response'], 'q2_evidence': evidence},
            {'text': 'And more.', 'q2_evidence': {**evidence, 'claims': []}},
        ),
    )
    first, second = read_scored_file(logs)
    assert first['response'][1] == ['Madonna', 'supported', [0]]
    assert first['knowledge'][0] == ['K.', 'supported', [0]]
    assert second['history'] == ['Hi.', record['response'], 'Hi.']
    assert second['signature'] == SIGNATURE


def test_world_logs_of_the_reranking_agent_are_read(tmp_path, warnings):
    rows = reranked()['rerank']
    logs = write_lines(
        tmp_path / 'logs.jsonl',
        conversation(
            {
                'text': rows[0]['text'],
                'rerank': rows,
                'rerank_knowledge': 'Better.',
                'rerank_signature': SIGNATURE,
            },
            {'text': "I'm not sure.", 'rerank': rows},
            {'text': 'No evidence.', 'rerank': '<not serializable>'},
            {'text': rows[0]['text'], 'rerank': [{**rows[0], 'score': None}]},
        ),
    )
    said, abstained = page_data(run_command('report', str(logs)))['entries']
    assert (said['score'], said['label']) == (1.0, 'consistent')
    assert len(said['rerank']) == 2
    # What was said instead of a candidate must not get the candidate's score.
    assert (abstained['score'], abstained['label']) == (0.5, 'not_verifiable')
    assert 'neither q2_evidence nor a reranked choice' in warnings[0]
    assert 'reranked without scores' in warnings[1]


def test_the_places_of_a_folder_go_on_from_file_to_file(tmp_path, monkeypatch):
    shards = []
    for name in ('a.jsonl', 'b.jsonl'):
        path = write_lines(tmp_path / name, *(simple(n, id=None) for n in range(2)))
        shards.append({'file': name, 'bytes': path.stat().st_size, 'records': 2})
    (tmp_path / 'manifest.json').write_text(json.dumps({'shards': shards}))
    monkeypatch.chdir(tmp_path)
    page = run_command('report', '.')
    assert page.name == f'{tmp_path.name}.html'
    assert [entry['id'] for entry in page_data(page)['entries']] == ['1', '2', '3', '4']


# --- two files


def test_two_files_become_one_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / 'a.jsonl', scored(), simple(1))
    write_lines(tmp_path / 'b.jsonl', scored(score=1.0, label='consistent'), simple(1))
    page = run_command('report', 'a.jsonl', 'b.jsonl')
    assert page.resolve() == tmp_path / 'a_to_b.html'
    data = page_data(page)
    assert data['names'] == ['a.jsonl', 'b.jsonl']
    assert [c['difference'] for c in data['changes']] == [0.6667, 0]


# --- ranked pools, each with its candidates


K = 'Sephora is a French chain founded in 1969.'
POOLS = [
    {'id': 'plain', 'knowledge': [K, 'It sells.'], 'candidates': ['moon', 'in 1969']},
    {
        'knowledge': K,
        'history': ['What is it?'],
        'candidates': [
            {'text': 'a chain', 'label': 'consistent', 'score': -3.5, 'tokens': 2},
            {'text': 'sun', 'label': 'inconsistent', 'score': -4, 'tokens': 1},
        ],
        # What the pool came with is not what reranking found.
        'response': 'sun',
        'score': 7,
        'label': 'of something else',
        'signature': 'theirs',
        'verdicts': [],
        'error': 'also theirs',
    },
    {'knowledge': K, 'response': 'sun', 'score': 0.5, 'label': 'of something else'},
    {'knowledge': '', 'candidates': ['x', 'y']},
    {
        'id': 'sun',
        'knowledge': K,
        'candidates': [{'text': 'sun', 'label': 'consistent'}],
    },
]


@pytest.fixture(scope='module')
def ranked(tmp_path_factory):
    """What the command writes of five pools, the third of which is bad."""
    folder = tmp_path_factory.mktemp('ranked')
    infile = write_lines(folder / 'pools.jsonl', *POOLS)
    outfile = folder / 'ranked.jsonl'
    options = {'choose': 'precision', 'abstain_below': 0.1}
    files = {'infile': str(infile), 'outfile': str(outfile)}
    with pytest.raises(InputError, match='1 of the 5 pools'):
        run_command('rerank', explain='none', **files, **options)
    return outfile


def pool_of(**fields):
    """A pool as the command writes it, of a reranked turn with spans."""
    turn = reranked()
    rows = turn['rerank']
    return {
        'kind': 'ranking',
        'knowledge': turn['knowledge'],
        'candidates': [row['text'] for row in reversed(rows)],
        'text': rows[0]['text'],
        'order': [1, 0],
        'reason': 'best score',
        'abstained': False,
        'rerank': rows,
        **fields,
    }


def test_each_pool_is_on_the_page_with_its_candidates_in_order(ranked):
    data = page_data(run_command('report', str(ranked)))
    assert [e['id'] for e in data['entries']] == ['plain', '2', '4', 'sun']
    first, second = data['entries'][:2]
    assert [piece[0] for piece in first['response']] == ['in 1969']
    assert first['knowledge'][-1][0].endswith('.')
    assert (first['score'], first['label']) == (1.0, 'consistent')
    rows = [(c['response'], c['score'], c['label']) for c in first['rerank']]
    assert rows == [([['in 1969']], 1.0, 'consistent'), ([['moon']], 0, 'inconsistent')]
    assert [c['first'] for c in first['rerank']] == [False, True]
    assert (second['score'], second['response']) == (1.0, [['a chain']])
    assert second['history'] == ['What is it?']
    assert [s[:10] for s in data['signatures']] == ['precision|']


def test_shows_annotations_of_candidates(ranked):
    first, second = list(read_scored_file(ranked))[:2]
    assert (first['class'], second['class']) == ('', 'consistent')
    assert (first['abstained'], second['abstained']) == (False, False)
    notes = [c['note'] for c in second['rerank']]
    assert notes[0].endswith('; annotation consistent')
    assert notes[1].endswith('; annotation inconsistent')


def test_scores_without_knowledge_or_text_do_not_count(ranked):
    blank, abstained = list(read_scored_file(ranked))[3:]
    for entry in (blank, abstained):
        assert (entry['score'], entry['label']) == (0.5, 'not_verifiable')
    assert [c['score'] for c in blank['rerank']] == [None, None]
    assert abstained['rerank'][0]['score'] == 0
    assert (blank['abstained'], abstained['abstained']) == (True, True)
    assert abstained['class'] == ''


def test_spans_of_the_knowledge_count_from_where_it_was_read(tmp_path):
    turn = scored()
    row = {**turn, 'text': turn['response'], 'chosen': True, 'first': True}
    for name in ('kind', 'id', 'knowledge', 'response', 'history', 'signature'):
        del row[name]
    pool = pool_of(
        knowledge=f' \n{turn["knowledge"]}',
        candidates=[row['text']],
        text=row['text'],
        order=[0],
        rerank=[row],
    )
    (entry,) = read_scored_file(write_lines(tmp_path / 'ranked.jsonl', pool))
    marks = [piece[0] for piece in entry['knowledge'] if len(piece) > 1]
    assert marks == ['Madonna', 'August 16, 1958']
    assert entry['response'][3][:2] == ['1985', 'contradicted']


def test_a_reranked_reply_that_was_scored_anew_has_the_new_score(tmp_path):
    record = {**pool_of(), **scored(), 'kind': 'score', 'text': scored()['response']}
    unnamed = {k: v for k, v in record.items() if k != 'text'}
    path = write_lines(tmp_path / 'scores.jsonl', record, unnamed)
    for entry in read_scored_file(path):
        assert (entry['score'], entry['signature']) == (0.3333, SIGNATURE)
        assert len(entry['rerank']) == 2


@pytest.mark.parametrize(
    'fields',
    [
        {'order': [1]},
        {'candidates': None},
        {'rerank': '<gone>'},
        {'rerank': [{'text': 'a'}, {'text': 'b'}]},
        {'rerank': [], 'order': [], 'candidates': []},
    ],
)
def test_parts_that_do_not_belong_together_are_told(tmp_path, fields):
    path = write_lines(tmp_path / 'ranked.jsonl', pool_of(**fields), pool_of())
    problem, good = read_scored_file(path)
    assert 'line 1' in str(problem)
    assert 'do not match each other' in str(problem)
    assert json.dumps(good)
    assert len(good['rerank']) == 2
