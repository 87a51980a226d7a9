"""``parlai_q2 retrieve``: what is found for the turns of a file, and how well."""

import gzip
import json
import lzma

import pytest

from parlai_q2.cli.commands import run_command
from parlai_q2.errors import ConfigError, InputError, RecordError
from parlai_q2.retrieve.build import build
from parlai_q2.retrieve.measure import find_rank, measure_recall, read_gold_turns
from tests.files import write_lines

PUMPS = 'Pumps hum at night.'
HOSES = 'Hoses hum and bend at night.'


@pytest.fixture(scope='module')
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp('retrieve')
    write_lines(folder / 'd.jsonl', {'text': PUMPS}, {'text': HOSES})
    build([str(folder / 'd.jsonl')], folder / 'INDEX')
    return str(folder / 'INDEX')


def retrieve(index, tmp_path, *turns):
    write_lines(tmp_path / 'turns.jsonl', *turns)
    report = run_command(
        'retrieve',
        '--knowledge-index',
        index,
        '--infile',
        str(tmp_path / 'turns.jsonl'),
        '--outfile',
        str(tmp_path / 'found.jsonl'),
    )
    lines = (tmp_path / 'found.jsonl').read_text().splitlines()
    return report, [json.loads(line) for line in lines]


def test_ranks_are_counted_by_hand():
    # First, third, not found, sixth.
    recall = measure_recall([1, 3, 0, 6])
    assert {cut: interval.mean for cut, interval in recall.recall.items()} == {
        1: 0.25,
        5: 0.5,
        10: 0.75,
    }
    assert recall.mrr.mean == pytest.approx((1 + 1 / 3 + 0 + 1 / 6) / 4)
    # The same passage twice is one.
    assert find_rank('C.', ['a', 'A', 'c']) == 2
    assert find_rank('d', ['a']) == 0


def test_a_file_is_measured_by_the_turns_whose_passage_is_known(index, tmp_path):
    recall, lines = retrieve(
        index,
        tmp_path,
        {'history': ['Which pumps hum?'], 'knowledge': PUMPS.upper()},
        {'history': ['Which pumps hum?'], 'knowledge': HOSES},
        {'history': ['Which hoses bend?']},
        {'history': [' '], 'knowledge': PUMPS},
    )
    assert [line.get('rank') for line in lines] == [1, 2, None]
    assert lines[2]['passages'][0]['text'] == HOSES
    assert (recall.count, recall.recall[1].mean, recall.mrr.mean) == (2, 0.5, 0.75)


def test_histories_alone_are_searched_for(index, tmp_path):
    report, (line,) = retrieve(index, tmp_path, {'history': ['Hello!', 'Hoses?']})
    assert report is None
    assert line['query'] == 'Hello!\nHoses?'
    assert [passage['text'] for passage in line['passages']] == [HOSES]
    with pytest.raises(ConfigError, match='no knowledge to measure with'):
        run_command(
            'retrieve',
            '--knowledge-index',
            index,
            '--infile',
            str(tmp_path / 'turns.jsonl'),
        )


@pytest.mark.parametrize(
    'turn, error, message',
    [
        ({'knowledge': PUMPS}, InputError, 'no turn with a history'),
        ({'history': 3}, RecordError, 'line 1'),
        ({'history': ['a'], 'knowledge': 3}, RecordError, 'line 1'),
    ],
)
def test_errors_name_records_that_are_no_turns(index, tmp_path, turn, error, message):
    with pytest.raises(error, match=message):
        retrieve(index, tmp_path, turn)


def test_damaged_packed_files_are_named(tmp_path):
    lines = ''.join(f'{{"history": ["How are {n} pumps made?"]}}\n' for n in range(999))
    for ending, packed in (('gz', gzip.compress), ('xz', lzma.compress)):
        path = tmp_path / f'turns.jsonl.{ending}'
        path.write_bytes(packed(lines.encode())[:-30])
        with pytest.raises(InputError, match='is damaged'):
            list(read_gold_turns(path))
