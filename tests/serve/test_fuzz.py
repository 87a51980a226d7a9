"""Bodies that are spoilt in all ways."""

import copy
import json
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from tests.agents.protocol_server import Broken
from tests.serve.running import BEES, RIGHT, proxied

BROKEN = [Broken(500, b'no'), Broken(body=b'\xff\xfe'), Broken(cut=0), Broken()] * 5
FIELDS = ('messages', 'knowledge', 'documents', 'n', 'stream', 'tools', 'model')
FIELDS += ('stream_options', 'response_format')
ODD = (None, True, -1, 1e308, '', '\ud800', 'x' * 5000, [], [[]], {}, [{}], '\0')


def spoil(draw):
    """A body that is wrong in some way, or right."""
    question = {'role': 'user', 'content': 'How many eyes do bees have?'}
    messages = [{'role': 'system', 'content': BEES}, question]
    body = {'model': 'any', 'messages': messages}
    for _ in range(draw.randrange(3)):
        body[draw.choice(FIELDS)] = copy.deepcopy(draw.choice(ODD))
    if draw.random() < 0.3 and isinstance(body.get('messages'), list):
        name = draw.choice(('role', 'content', 'tool_calls'))
        with suppress(IndexError, TypeError):
            body['messages'][-1][name] = copy.deepcopy(draw.choice(ODD))
    content = json.dumps(body).encode()
    if draw.random() < 0.3:
        place = draw.randrange(len(content))
        odd_bytes = draw.randbytes(draw.randrange(9))
        content = content[:place] + odd_bytes + content[place + 3 :]
    return content


def test_each_of_many_spoilt_bodies_has_a_clear_answer(caplog):
    draw = random.Random(1)
    kind = {'Content-Type': 'application/json'}
    with proxied(lambda _: [RIGHT], *BROKEN, candidates=1) as (_, client):

        def send(content):
            path = draw.choice(('/v1/chat/completions', '/v1/rerank', '/v1/score'))
            return client.post(path, content=content, headers=kind)

        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(send, [spoil(draw) for _ in range(300)]))
        assert client.get('/health').is_success
    statuses = Counter(answer.status_code for answer in answers)
    assert set(statuses) <= {200, 400, 500, 502}
    assert statuses[400] > 50
    assert statuses[200] > 20
    # A fault of the proxy itself would be logged.
    assert not [r for r in caplog.records if 'A request failed' in r.getMessage()]
