"""Replies in files that are messages of the chat-completions protocol."""

import pytest

from parlai_q2.io.read import read_records
from parlai_q2.io.world_logs import read_dialog
from parlai_q2.runs.pool_records import read_pools
from tests.files import write_lines

THOUGHT = '<think>Two?</think>Five.'
PARTS = [{'type': 'text', 'text': 'Fi'}, {'type': 'text', 'text': 've.'}]


@pytest.mark.parametrize(
    'response',
    [
        THOUGHT,
        PARTS,
        {'role': 'assistant', 'content': THOUGHT},
        [{'role': 'user', 'content': 'a'}, {'role': 'assistant', 'content': 'Five.'}],
    ],
)
def test_a_record_has_the_text_that_people_see(tmp_path, response):
    history = ['Hi.', {'role': 'user', 'content': 'How many?'}]
    record = {'knowledge': 'k', 'response': response, 'history': history}
    [read] = read_records(write_lines(tmp_path / 'in.jsonl', record))
    assert read.error is None
    assert read.parsed.response == read.fields['response'] == 'Five.'
    assert read.parsed.history == ('Hi.', 'How many?')
    assert read.fields['given_response'] == response


def test_candidates_have_it_too(tmp_path):
    candidates = [THOUGHT, {'content': PARTS}, {'text': 'a'}]
    candidates.append({'text': THOUGHT, 'score': -3.0})
    pool = {'knowledge': 'k', 'candidates': candidates}
    [read] = read_pools(write_lines(tmp_path / 'in.jsonl', pool))
    assert [c.text for c in read.parsed.candidates] == ['Five.', 'Five.', 'a', 'Five.']
    assert read.fields['candidates'][3] == {'text': 'Five.', 'score': -3.0}
    assert read.fields['given_candidates'] == candidates


def test_a_text_without_thoughts_stays_as_it_is(tmp_path):
    record = {'knowledge': 'k', 'response': ' Five. ', 'history': ['a ']}
    [read] = read_records(write_lines(tmp_path / 'in.jsonl', record))
    assert read.fields == record


@pytest.mark.parametrize('response', [5, ['Five.'], [[]], {'text': 'Five.'}])
def test_rejects_values_that_are_no_messages(tmp_path, response):
    record = {'knowledge': 'k', 'response': response}
    [read] = read_records(write_lines(tmp_path / 'in.jsonl', record))
    assert "'response' must be a string" in str(read.error)


@pytest.mark.parametrize('text', [THOUGHT, PARTS, 'Five.'])
def test_a_world_log_has_it_too(text):
    [(_, fields)] = read_dialog([[{'text': 'How many?'}, {'text': text}]])
    assert fields['response'] == 'Five.'
