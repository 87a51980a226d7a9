"""A model is loaded once, when it is first needed."""

import pickle
from concurrent.futures import ThreadPoolExecutor

from parlai_q2.models.lazy import Lazy


def test_threads_that_come_at_once_get_one_model():
    loads = []

    def load():
        loads.append(None)
        return object()

    lazy = Lazy(load)
    assert loads == []
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: lazy(), range(64)))
    assert len(found) == len(loads) == 1


def test_another_process_loads_its_own():
    lazy = Lazy(dict)
    lazy()['mine'] = 1
    assert pickle.loads(pickle.dumps(lazy))() == {}
