"""Ray: results come out as of one process, whatever dies, on a cluster of two nodes."""

import os
import time
from importlib.util import find_spec

import pytest

from parlai_q2.errors import ConfigError, WorkerError
from parlai_q2.scale.local import LocalEngine
from tests.scale.nodes import add_node, children, cluster, kill_node, listening
from tests.scale.toy_job import ToyJob, chunks, workers

without = pytest.mark.skipif(find_spec('ray') is None, reason='ray is not installed')
pytestmark = [pytest.mark.slow, without]


@pytest.fixture(scope='module')
def two_nodes():
    """A cluster of two nodes of one core."""
    with cluster(1, 1) as found:
        yield found


@pytest.fixture
def engine(two_nodes, tmp_path):
    """A function that makes an engine for a toy job on the two nodes."""
    from parlai_q2.scale.ray_engine import RayEngine, Resources

    def make(actors=2, job=None, **settings):
        asked = Resources(two_nodes.address, actors)
        return RayEngine(job or ToyJob(str(tmp_path), **settings), asked)

    return make


def results(engine, items, size=4):
    with engine:
        return [one for _, found in engine.run(chunks(items, size)) for one in found]


def expected(items):
    return [f'{item} is done with 1' for item in items]


def test_results_come_in_order_whichever_actor_is_slow(engine):
    items = ['slow to come', *map(str, range(40))]
    assert results(engine(), items) == expected(items)


def test_an_actor_that_dies_is_replaced_and_nothing_is_lost(engine, tmp_path):
    items = [*map(str, range(10)), 'die once', 'fill once', *map(str, range(9))]
    assert results(engine(), items) == expected(items)
    assert len(workers(tmp_path)) > 2


def test_an_item_that_no_actor_survives_is_named_and_the_rest_is_done(engine):
    items = [*map(str, range(5)), 'die always', *map(str, range(6, 20))]
    found = results(engine(), items)
    lost = found.pop(5)
    assert 'die always is lost: a process died of it 3 times' in lost
    items.pop(5)
    assert found == expected(items)


def test_an_error_of_the_job_ends_the_run_with_its_message(engine):
    with pytest.raises(WorkerError, match='ZeroDivisionError: of the job'):
        results(engine(), ['1', 'raise'])
    with pytest.raises(WorkerError, match='^The model is not there. Fetch it.$'):
        results(engine(), ['1', 'refuse'])
    with pytest.raises(WorkerError, match='^The model is not there. Fetch it.$'):
        engine(start='refuse')


def test_actors_that_cannot_load_end_the_run(engine):
    with pytest.raises(
        WorkerError, match='(?s)died before they had loaded.*ray-actors'
    ):
        engine(start='die')


def test_actors_that_would_give_other_results_are_refused(engine):
    with pytest.raises(ConfigError, match="would differ from the run's"):
        results(engine(start='differ', seconds=0.5), [*map(str, range(40))])


def test_no_more_is_read_than_the_actors_need(engine):
    read, ahead = [], []

    def watched():
        for number, chunk in enumerate(chunks(['slow', *map(str, range(199))], 1)):
            read.append(number)
            yield chunk

    with engine() as running:
        for given, _ in enumerate(running.run(watched())):
            ahead.append(len(read) - given)
    assert len(ahead) == 200
    assert max(ahead) <= 8


def test_no_cluster_at_an_address_is_said(tmp_path):
    from parlai_q2.scale.ray_engine import RayEngine, Resources

    with pytest.raises(ConfigError, match='ray start --head'):
        RayEngine(ToyJob(str(tmp_path)), Resources('127.0.0.1:1'))


def test_that_ray_does_not_start_is_said(tmp_path, monkeypatch):
    import ray

    from parlai_q2.scale.ray_engine import RayEngine, Resources

    constants, read = ray._private.ray_constants, []

    def fail(**settings):
        read.append(constants.ENABLE_RAY_CLUSTER)
        raise Exception('The current node timed out during startup.')

    monkeypatch.setattr(ray, 'is_initialized', lambda: False)
    monkeypatch.setattr(ray, 'init', fail)
    monkeypatch.setattr(ray, 'shutdown', lambda: None)
    # As the user's program has it, which is as it was after that.
    monkeypatch.setattr(constants, 'ENABLE_RAY_CLUSTER', 'as it was')
    with pytest.raises(WorkerError, match='could not be started.*timed out'):
        RayEngine(ToyJob(str(tmp_path)), Resources())
    assert (read, constants.ENABLE_RAY_CLUSTER) == ([False], 'as it was')


def test_a_killed_node_and_one_that_joins_late_cost_only_time(engine, two_nodes):
    items = [*map(str, range(200))]
    doomed = add_node(two_nodes)

    found = []
    with engine(actors=4, seconds=0.1) as running:
        for number, (_, made) in enumerate(running.run(chunks(items))):
            found += made
            if number == 5:
                kill_node(doomed)
            if number == 10:
                add_node(two_nodes)
    assert found == expected(items)


def test_ray_is_started_here_if_no_address_is_given_and_only_loopback_listens(tmp_path):
    from parlai_q2.scale.ray_engine import RayEngine, Resources

    before = set(children(os.getpid()))
    with RayEngine(ToyJob(str(tmp_path)), Resources(actors=2)) as running:
        started = set(children(os.getpid())) - before
        addresses = listening(started | {os.getpid()})
        found = [r for _, one in running.run(chunks(['1', '2', '3'])) for r in one]
    assert found == expected(['1', '2', '3'])
    assert addresses <= {'0100007F', '0000000000000000FFFF00000100007F'}
    assert addresses
    deadline = time.monotonic() + 10
    while set(children(os.getpid())) - before and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not set(children(os.getpid())) - before


def test_the_local_engine_does_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv('OMP_NUM_THREADS', '1')
    with LocalEngine(ToyJob(str(tmp_path))) as running:
        found = [r for _, one in running.run(chunks([*'abcdef'])) for r in one]
    assert (running.signature, found) == ('toy', expected([*'abcdef']))
