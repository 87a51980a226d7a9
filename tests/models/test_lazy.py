"""A model is loaded once, when it is first needed."""

import pickle
import subprocess
import sys
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
        values = set(pool.map(lambda _: lazy(), range(64)))
    assert len(values) == len(loads) == 1


def test_another_process_loads_its_own():
    lazy = Lazy(dict)
    lazy()['mine'] = 1
    assert pickle.loads(pickle.dumps(lazy))() == {}


def test_a_forked_process_loads_its_own_and_scores():
    code = (
        'import os\nfrom parlai_q2 import Example, load_scorer\n'
        'scorer = load_scorer("consistency")\n'
        'pair = [Example("Bees have five eyes.", "Bees have six eyes.")]\n'
        'value = scorer.score(pair)[0].value\n'
        'child = os.fork()\n'
        'if not child:\n    os._exit(scorer.score(pair)[0].value != value)\n'
        'assert os.waitpid(child, 0)[1] == 0\n'
    )
    subprocess.run([sys.executable, '-c', code], check=True, timeout=120)
