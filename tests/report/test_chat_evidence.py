"""
The evidence of a reply, which a page asks for once it has shown the reply.
"""

import json

import pytest

from tests.report.chats import Scripted, ask, served


@pytest.fixture()
def server():
    with served(Scripted()) as running:
        yield running


def test_the_evidence_of_a_turn_is_asked_for_after_its_reply(server):
    _, _, text = ask(server, 'POST', '/interact', {'text': 'explain later'})
    found = json.loads(text)
    place = {'number': 1, 'conversation': found['conversation']}
    (bare,) = found['turn']['candidates']
    assert (bare['verdicts'], bare['explained']) == ([], False)
    status, _, text = ask(server, 'POST', '/evidence', place)
    (row,) = json.loads(text)['turn']['candidates']
    assert (status, row['explained']) == (200, True)
    assert row['verdicts'][0]['status'] == 'unsupported'
    assert row['response'][1] == ['1985', 'unsupported', [0]]
    # Another page that opens now has it as well.
    (turn,) = json.loads(ask(server, 'GET', '/conversation')[2])['turns']
    assert turn['candidates'] == [row]


@pytest.mark.parametrize(
    'body, status, says',
    [
        ({'number': 1}, 400, 'must be whole numbers'),
        ({'number': '1', 'conversation': 0}, 400, 'must be whole numbers'),
        ([1], 400, 'Send a JSON object with number'),
        ({'number': 7, 'conversation': 0}, 500, 'no turn 7'),
    ],
)
def test_a_turn_that_is_not_there_has_no_evidence(server, body, status, says):
    found = ask(server, 'POST', '/evidence', body)
    assert found[0] == status and says in json.loads(found[2])['error']
