"""Chats for the tests of the page and server, with replies that are made up."""

import http.client
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Thread
from typing import Any

from parlai_q2.claims import Claim, Label, Score, Status
from parlai_q2.report.chat.app import ServedConversation
from parlai_q2.report.chat.server import PageServer
from parlai_q2.report.entries import read_turn
from parlai_q2.turns import Span
from tests.report.samples import HOSTILE, SIGNATURE, reranked

JSON = {'Content-Type': 'application/json'}


def ask(server, method, path, body=None, headers=JSON, token=True):
    """An answer's status, headers and body, read if it is JSON."""
    connection = http.client.HTTPConnection(*server.server_address[:2], timeout=20)
    if not isinstance(body, (str, bytes, type(None))):
        body = json.dumps(body)
    if token:
        headers = {'Authorization': f'Bearer {server.access.token}', **headers}
    connection.request(method, path, body, dict(headers))
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    if answer.headers.get_content_type() == 'application/json':
        text = json.loads(text)
    return answer.status, answer.headers, text


def reply_with_evidence(**fields: Any) -> dict[str, Any]:
    """A reply that was chosen over a worse one, and has a doubtful span itself."""
    record = reranked()
    chosen, first = record['rerank']
    text = 'Madonna was born in 1958, not 1985.'
    claims = []
    for claim, answer_text in zip(first['claims'], ('Madonna', '1985'), strict=False):
        start = text.index(answer_text)
        claims.append({**claim, 'span': [start, start + len(answer_text)]})
    better = {'text': text, 'score': 0.5, 'claims': claims, 'parts': {'one': 1.0}}
    reply = {
        'text': text,
        'rerank': [{**chosen, **better}, first],
        'rerank_knowledge': record['knowledge'],
        'rerank_signature': SIGNATURE,
    }
    return {**reply, **fields}


def marked_later(with_marks: bool) -> dict[str, Any]:
    """A reply whose evidence is marked words, before or after they were found."""
    text = 'Madonna was born in 1985.'
    start = text.index('1985')
    mark = Claim(Span('1985', start, start + 4), 0.1, Status.UNSUPPORTED)
    row = {'text': text, 'score': 0.1, 'label': 'inconsistent', 'chosen': True}
    if with_marks:
        row['evidence'] = Score(0.1, Label.INCONSISTENT, (mark,)).to_dict()
    return {
        'text': text,
        'rerank': [{**row, 'first': True}],
        'rerank_knowledge': 'Madonna was born in 1958.',
        'rerank_signature': 'toy|version:0.4.0',
    }


class Scripted:
    """
    Replies with evidence, but for what :meth:`reply` lists.

    :param knowledge: what was typed; None takes none.
    """

    def __init__(self, knowledge: str | None = ''):
        self.knowledge = knowledge
        self.turns: list[dict[str, Any]] = []

    def state(self) -> dict[str, Any]:
        shown = {'knowledge': self.knowledge, 'turns': self.turns, 'explains': True}
        return {'model': 'Scripted <b>', **shown}

    def interact(self, text: str, knowledge: str | None) -> dict[str, Any]:
        if self.knowledge is not None and knowledge is not None:
            self.knowledge = knowledge
        if text.startswith('/knowledge '):
            self.knowledge = text.removeprefix('/knowledge ')
        turn = read_turn(text, self.reply(text))
        self.turns.append(turn)
        return {'turn': turn, 'number': len(self.turns), 'knowledge': self.knowledge}

    def evidence(self, number: int) -> dict[str, Any]:
        turn = self.turns[number - 1]
        if turn['said'] == 'explain later':
            turn = read_turn(turn['said'], marked_later(True))
            self.turns[number - 1] = turn
        return turn

    def reset(self) -> None:
        self.turns = []
        if self.knowledge is not None:
            self.knowledge = ''

    def reply(self, text: str) -> dict[str, Any]:
        if text == 'fail':
            raise RuntimeError(f'the model is broken {HOSTILE}')
        if text == 'explain later':
            return marked_later(False)
        if text == 'documents':
            source = {'file': f'{HOSTILE}.md', 'heading': 'Life', 'place': 'line 4'}
            answer = {'text': 'Madonna was born in 1958.', 'source': source}
            return reply_with_evidence(rerank_knowledge=[answer])
        if text == 'abstain':
            return reply_with_evidence(text="I'm not sure about that.")
        if text == 'nothing':
            row = {'text': '', 'score': None, 'label': None, 'claims': []}
            row |= {'chosen': True, 'first': True, 'reason': 'nothing that was found'}
            abstention = {'text': "I'm not sure about that.", 'rerank_knowledge': ''}
            return {**abstention, 'rerank': [row], 'rerank_signature': SIGNATURE}
        if text == 'hostile':
            reply = reply_with_evidence(text=HOSTILE, rerank_knowledge=HOSTILE)
            for row in reply['rerank']:
                row.update(text=HOSTILE, strategies=[HOSTILE], label=HOSTILE)
            return reply
        if text == 'unscored':
            nothing = {'score': None, 'label': None, 'claims': [], 'reason': 'no k.'}
            reply = reply_with_evidence(rerank_knowledge='')
            for row in reply['rerank']:
                row.update(nothing)
            return reply
        if text.startswith('/') or self.knowledge is None:
            return {'text': f'You said: {text}'}
        return reply_with_evidence()


@contextmanager
def served(
    conversation: ServedConversation, host: str = '127.0.0.1', names: Sequence[str] = ()
) -> Iterator[PageServer]:
    """A server of the conversation, on a port of its own, in another thread."""
    with PageServer(host, 0, names) as server:
        thread = Thread(target=server.serve, args=[lambda: conversation])
        thread.start()
        ask(server, 'GET', '/')
        try:
            yield server
        finally:
            server.stop()
            thread.join(timeout=10)
            assert not thread.is_alive()
