"""
Clusters of Ray on this machine, of several nodes that can be killed. Everything of one
listens on the loopback address, and lives in a folder of its own.
"""

import os
import shutil
import signal
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from parlai_q2.scale.cluster import LOOPBACK, QUIET

# A dead node is missed in seconds; by default it may take half a minute.
WATCHFUL = {
    'RAY_health_check_initial_delay_ms': '500',
    'RAY_health_check_period_ms': '300',
}


@contextmanager
def cluster(*cpus):
    """
    A cluster whose first node has no CPUs; one more node for each number of ``cpus``.
    Its processes are stopped at the end, by their ids.
    """
    # A path of more than a hundred characters is too long for a socket.
    folder = tempfile.mkdtemp(prefix='q2ray', dir='/tmp')
    # Its processes import what tests define.
    root = str(Path(__file__).resolve().parents[2])
    settings = {**QUIET, **LOOPBACK, **WATCHFUL}
    settings |= {'RAY_TMPDIR': folder, 'PYTHONPATH': root}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        os.mkdir(f'{folder}/ray')
        from ray.cluster_utils import Cluster

        head = {'num_cpus': 0, 'include_dashboard': False}
        ray_cluster = Cluster(initialize_head=True, head_node_args=with_memory(head))
        try:
            for number in cpus:
                add_node(ray_cluster, number)
            yield ray_cluster
        finally:
            ray_cluster.shutdown()
            shutil.rmtree(folder, ignore_errors=True)


def with_memory(settings):
    return {'object_store_memory': 80 * 1024**2, **settings}


def add_node(cluster, cpus=1):
    """One more node."""
    return cluster.add_node(wait=True, **with_memory({'num_cpus': cpus}))


def kill_node(node):
    """Kill a node's raylet with 9; its actors end with it."""
    (process,) = node.all_processes['raylet']
    os.kill(process.process.pid, signal.SIGKILL)


def listening(processes):
    """The addresses that processes listen on, from the tables of the kernel."""
    sockets = set()
    for process in processes:
        for entry in Path(f'/proc/{process}/fd').iterdir():
            with suppress(OSError):
                sockets.add(os.readlink(entry))
    addresses = set()
    for table in ('tcp', 'tcp6'):
        for line in Path(f'/proc/net/{table}').read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == '0A' and f'socket:[{fields[9]}]' in sockets:
                addresses.add(fields[1].rpartition(':')[0])
    return addresses


def children(process):
    """The ids of a process's descendants."""
    processes = []
    for thread in Path(f'/proc/{process}/task').glob('*/children'):
        with suppress(OSError):  # the thread has ended
            for child in map(int, thread.read_text().split()):
                processes += [child, *children(child)]
    return processes
