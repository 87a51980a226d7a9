"""``parlai_q2 report`` of ranked files: each pool with its candidates."""

import json

import pytest

from parlai_q2.cli.commands import run_command
from parlai_q2.errors import InputError
from parlai_q2.report.scored_file import read_scored_file
from tests.files import page_data, write_lines
from tests.report.samples import SIGNATURE, reranked, scored

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


def test_what_people_called_the_candidates_is_shown(ranked):
    first, second = list(read_scored_file(ranked))[:2]
    assert (first['class'], second['class']) == ('', 'consistent')
    assert (first['abstained'], second['abstained']) == (False, False)
    notes = [c['note'] for c in second['rerank']]
    assert notes[0].endswith('; annotation consistent')
    assert notes[1].endswith('; annotation inconsistent')


def test_where_there_is_nothing_to_judge_by_or_nothing_is_said_no_score_counts(ranked):
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
