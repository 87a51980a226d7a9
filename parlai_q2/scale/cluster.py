"""
The connection to a Ray cluster: the user's, or one that is started on this machine for
a run. All calls about the cluster itself are here.

What is started here listens on the loopback address alone, has no dashboard, reports no
usage, and writes its logs to one folder.
"""

import logging
import math
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from parlai_q2.errors import ConfigError, WorkerError
from parlai_q2.packages import import_package

logger = logging.getLogger(__name__)

# Read by Ray when it is imported.
QUIET = {
    'RAY_USAGE_STATS_ENABLED': '0',
    'RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO': '0',
    # Its messages on dead processes, which would go to the standard output.
    'RAY_DEDUP_LOGS_SKIP_REGEX': '^',
}
# Ray then takes the loopback address for this machine's, and binds nothing else.
LOOPBACK = {'RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER': '0'}
# Bytes of shared memory for a run on this machine. It holds only chunks on their way.
STORE_BYTES = 256 * 1024**2
# Seconds in which a cluster must answer; Ray itself would try for many minutes.
PATIENCE = 10.0
NO_CLUSTER = (
    'There is no Ray cluster at {}: {}. Start one (ray start --head), or leave '
    '--ray-address out to use this machine alone.'
)


@contextmanager
def connect(
    address: str | None = None, cpus: int | None = None, gpus: int | None = None
) -> Iterator[Any]:
    """
    Connect to a cluster, or start one on this machine, and leave it as it was.

    :param address: the cluster's: ``auto``, ``host:port``; None to start one.
    :param cpus: how many a started one has; by default, all that this process may use.
    :param gpus: the same, of GPUs.
    :return: the module ``ray``.
    :raises ConfigError: if there is no cluster at the address.
    """
    for name, value in {**QUIET, **({} if address else LOOPBACK)}.items():
        os.environ.setdefault(name, value)
    ray = import_package('ray', 'ray', 'ray', '--engine ray')
    if ray.is_initialized():
        # By the program that calls us; its connection is taken, and left open.
        yield ray
        return
    if address:
        _check_answers(address)
    settings: dict[str, Any] = {'log_to_driver': False, 'logging_level': 'error'}
    if address is None:
        settings.update(
            num_cpus=cpus,
            num_gpus=gpus,
            include_dashboard=False,
            object_store_memory=STORE_BYTES,
        )
    with nullcontext() if address else _on_loopback(ray):
        try:
            ray.init(address=address or 'local', **settings)
        except Exception as e:  # of no class of its own, where a node does not start
            # It may have started some of its processes.
            ray.shutdown()
            if address is None:
                raise WorkerError(
                    f'Ray could not be started on this machine: {e}'
                ) from e
            raise ConfigError(NO_CLUSTER.format(address, e)) from e
        try:
            node = ray._private.worker._global_node
            logger.debug('Logs of the actors: %s', node.get_logs_dir_path())
            yield ray
        finally:
            ray.shutdown()


@contextmanager
def _on_loopback(ray: Any) -> Iterator[None]:
    """
    Let what is started listen on the loopback address alone, also where Ray was
    imported before :data:`LOOPBACK` was set.
    """
    constants = ray._private.ray_constants
    read, constants.ENABLE_RAY_CLUSTER = constants.ENABLE_RAY_CLUSTER, False
    try:
        yield
    finally:
        constants.ENABLE_RAY_CLUSTER = read


def _check_answers(address: str) -> None:
    host, colon, port = address.rpartition(':')
    if address == 'auto':
        return
    if not colon or not port.isdecimal() or '/' in host:
        raise ConfigError(
            f'--ray-address is {address}; it must be auto, or the host:port that ray '
            'start --head shows.'
        )
    try:
        socket.create_connection((host.strip('[]'), int(port)), PATIENCE).close()
    except (OSError, OverflowError) as e:
        raise ConfigError(NO_CLUSTER.format(address, e)) from e


def count_actors(ray: Any, cpus: float, gpus: float) -> int:
    """
    How many actors of so many CPUs and GPUs the cluster can hold now.

    :raises ConfigError: if it cannot hold one.
    """
    resources = ray.cluster_resources()
    fits = [
        int(resources.get(name, 0) / needed)
        for name, needed in (('CPU', cpus), ('GPU', gpus))
        if needed
    ]
    if not min(fits, default=1):
        raise ConfigError(
            f'The cluster has {resources}, too little for one actor of {cpus:g} CPUs '
            f'and {gpus:g} GPUs. Ask for less by --ray-cpus and --ray-gpus, or give '
            '--ray-actors to wait for nodes.'
        )
    return min(fits, default=1)


def share_resources(actors: int | None, each: float) -> int | None:
    """What a cluster on this machine needs for so many actors; None for all it has."""
    if actors is None:
        return None
    return max(1, math.ceil(actors * each)) if each else 0


def is_cut_off(ray: Any) -> bool:
    """Whether the node through which this process speaks to the cluster is dead."""
    own = ray.get_runtime_context().get_node_id()
    return any(node['NodeID'] == own and not node['Alive'] for node in ray.nodes())
