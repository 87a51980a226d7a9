"""Reading pools: what a candidate may be, and that a bad pool spoils no other."""

import csv
import json

import pytest

from parlai_q2.rerank import Candidate
from parlai_q2.runs.pool_records import GIVEN_CANDIDATE, read_pools
from parlai_q2.turns import Passage

GOOD = {'knowledge': 'k', 'candidates': ['yes', {'text': 'no', 'score': -3}]}


def read(tmp_path, *lines):
    path = tmp_path / 'pools.jsonl'
    path.write_bytes(b'\n'.join(lines))
    return list(read_pools(path))


def line(**candidate):
    return json.dumps({**GOOD, 'candidates': [{'text': 't', **candidate}]}).encode()


def test_a_candidate_is_a_text_or_an_object(tmp_path):
    (record,) = read(tmp_path, json.dumps(GOOD).encode())
    assert record.parsed.candidates == (
        Candidate('yes', GIVEN_CANDIDATE),
        Candidate('no', GIVEN_CANDIDATE, -3.0, -3.0),
    )
    assert record.error is None


def test_knowledge_may_be_a_list_of_passages(tmp_path):
    passages = [{'title': 'Bee', 'text': ' Bees. '}, 'Ants.']
    record, blank = read(
        tmp_path,
        json.dumps({**GOOD, 'knowledge': passages}).encode(),
        json.dumps({**GOOD, 'knowledge': ['', ' ']}).encode(),
    )
    assert record.parsed.knowledge == (Passage(' Bees. ', 'Bee'), Passage('Ants.'))
    assert record.fields['knowledge'] == passages
    assert blank.parsed.knowledge_text.strip() == ''
    assert blank.error is None


@pytest.mark.parametrize(
    'candidate',
    [
        {'score': 10**400},
        {'score': 1, 'tokens': 10**400},
        {'score': float('nan')},
        {'score': True},
        {'score': '1'},
        {'tokens': 0},
    ],
)
def test_a_score_that_is_no_number_to_compute_with_makes_a_bad_pool(
    tmp_path, candidate
):
    bad, good = read(tmp_path, line(**candidate), json.dumps(GOOD).encode())
    message = 'line 1: candidate 0: "score" and "tokens" must be finite numbers'
    assert message in str(bad.error)
    assert good.error is None


def test_a_pool_that_is_not_utf8_spoils_no_other(tmp_path):
    good = json.dumps(GOOD).encode()
    first, bad, last = read(tmp_path, good, good.replace(b'yes', b'\xe9'), good)
    assert 'pools.jsonl, line 2: is not UTF-8' in str(bad.error)
    assert first.error is last.error is None


@pytest.mark.parametrize('ending, mark', [('csv', ';'), ('tsv', '\t')])
def test_cells_of_a_table_have_lists_as_json(tmp_path, ending, mark):
    rows = [
        ['knowledge', 'history', 'candidates'],
        ['Tea is hot.', 'How is tea?', '["It is hot.", {"text": "Cold."}]'],
        ['["Tea is hot.", "Ice is cold."]', '["Hi!", "Tea?"]', '["<think>x</think>Y"]'],
        ['Tea is hot.', '', 'It is.'],
        ['Tea is hot.', '', '"It is."'],
    ]
    path = tmp_path / f'pools.{ending}'
    with path.open('w', newline='') as stream:
        csv.writer(stream, delimiter=mark).writerows(rows)
    first, second, bad, text = read_pools(path)
    assert [c.text for c in first.parsed.candidates] == ['It is hot.', 'Cold.']
    assert second.parsed.history == ('Hi!', 'Tea?')
    assert [p.text for p in second.parsed.knowledge] == ['Tea is hot.', 'Ice is cold.']
    assert [c.text for c in second.parsed.candidates] == ['Y']
    assert 'line 4: candidates are a list, which a cell' in str(bad.error)
    assert 'line 5: candidates are a list, which a cell' in str(text.error)
