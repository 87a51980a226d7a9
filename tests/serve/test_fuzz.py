"""Bodies that are spoilt in all ways; ``benchmarks.serve`` sends thousands."""

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from benchmarks.serve import spoil
from tests.agents.protocol_server import Broken
from tests.serve.running import RIGHT, proxied

BROKEN = [Broken(500, b'no'), Broken(body=b'\xff\xfe'), Broken(cut=0), Broken()] * 5


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
