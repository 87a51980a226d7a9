"""
The engine that works in actors on a Ray cluster. It gives each actor a chunk at a time
and holds few more than there are actors. It takes the place of actors that die itself,
so that it knows which items they had.
"""

import logging
import time
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Optional

from parlai_q2.errors import ConfigError, WorkerError
from parlai_q2.scale.actor import Actor, Answer
from parlai_q2.scale.cluster import capacity, connected, dead_nodes, threads_of
from parlai_q2.scale.job import Job
from parlai_q2.scale.pieces import MAX_DEATHS, Piece, Window

logger = logging.getLogger(__name__)

# Chunks for each actor that may be read but not yet written: those at work, and enough
# others that a slow chunk at the front does not leave the other actors idle.
AHEAD = 4
# Pieces that an actor has at a time: the next one is there when one is done.
QUEUED = 2
# So many actors, and all of a run's at once, may die without any result between them.
MOST_IN_A_ROW = 30
# Seconds after which a wait for a first actor is reported, again and again.
PATIENCE = 30.0
INSTALLED = (
    'Each node needs the same version of parlai_q2 and the same models, at the same '
    'paths.'
)
# A scorer of one's own, say, that this process finds and those of the nodes do not.
NO_MODULE = (
    'The processes of the Ray cluster cannot import {!r}. Install it on each node, or '
    'start each with its folder on the path: PYTHONPATH=folder ray start ...'
)


@dataclass(frozen=True)
class Resources:
    """
    What a run asks Ray for.

    :param address: of the cluster; None to start one on this machine.
    :param actors: how many; None for as many as the cluster holds by now.
    :param cpus: of each actor, which is also its number of threads.
    :param gpus: of each actor; may be a fraction.
    :param folder: for sockets and logs of a cluster that is started; default: Ray's.
    """

    address: Optional[str] = None
    actors: Optional[int] = None
    cpus: float = 1.0
    gpus: float = 0.0
    folder: Optional[str] = None

    def __post_init__(self) -> None:
        if self.actors is not None and self.actors < 1:
            raise ConfigError(f'--ray-actors must be at least 1, not {self.actors}.')
        if self.cpus < 0 or self.gpus < 0 or not self.cpus + self.gpus:
            raise ConfigError(
                '--ray-cpus and --ray-gpus must not be negative, and not both 0.'
            )


@dataclass(eq=False)
class Member:
    """
    An actor, the call that loads it, and its calls under way, oldest first.

    :param dead: the nodes that were dead when it was sent out.
    """

    handle: Any
    loading: Any
    dead: frozenset[str] = frozenset()
    calls: deque[tuple[Any, Piece]] = field(default_factory=deque)

    @property
    def next_call(self) -> Any:
        """The call that ends next."""
        return self.loading if self.loading is not None else self.calls[0][0]


class RayEngine:
    """
    Runs a job in actors; see :class:`~parlai_q2.scale.job.Engine`. Connects at once,
    and waits until a first actor has loaded the job.

    :raises WorkerError: if no actor can load it.
    :raises ConfigError: if the cluster is not there, or cannot hold an actor.
    """

    def __init__(self, job: Job, resources: Resources):
        self._job, self._asked = job, resources
        self._members: list[Member] = []
        # Actors that died since the last result, and those before they were loaded.
        self._deaths = self._failed_starts = 0
        self._stack = ExitStack()
        try:
            local = resources.address is None
            self._ray = self._stack.enter_context(
                connected(
                    resources.address,
                    _share(resources.actors, resources.cpus) if local else None,
                    _share(resources.actors, resources.gpus) if local else None,
                    resources.folder,
                )
            )
            self._count = resources.actors or self._capacity()
            self._actor = self._ray.remote(Actor).options(
                num_cpus=resources.cpus,
                num_gpus=resources.gpus,
                max_restarts=0,
                max_task_retries=0,
            )
            self._stack.callback(self._stop)
            # The first one says how results are made.
            self.signature = ''
            self._start()
            self._wait_for_first()
        except BaseException:
            self._stack.close()
            raise

    def __enter__(self) -> 'RayEngine':
        return self

    def __exit__(self, *error: Any) -> None:
        """Stop the actors, and Ray where it was started here."""
        self._stack.close()

    def run(
        self, chunks: Iterator[Any]
    ) -> Generator[tuple[Any, list[Any]], None, None]:
        """Each chunk and its results."""
        window = Window(chunks, AHEAD * self._count)
        try:
            while True:
                # Even if all are busy, keep one piece ready.
                window.fill(1)
                self._hand_out(window)
                while (done := window.next_done()) is not None:
                    yield done
                    window.fill(1)
                    self._hand_out(window)
                if window.empty:
                    return
                self._wait(window)
        finally:
            # What a closed run left under way is not waited for.
            for member in [m for m in self._members if m.calls]:
                self._drop(member)

    def _hand_out(self, window: Window) -> None:
        for depth in range(1, QUEUED + 1):
            for member in self._members:
                while member.loading is None and len(member.calls) < depth:
                    window.fill(1)
                    if not window.waiting:
                        return
                    piece = window.waiting.popleft()
                    call = member.handle.work.remote(piece.items)
                    member.calls.append((call, piece))

    def _wait(self, window: Optional[Window]) -> None:
        """Wait until an actor has loaded, given results or died."""
        self._replace()
        calls = {
            member.next_call: member
            for member in self._members
            if member.loading is not None or member.calls
        }
        done, _ = self._ray.wait(list(calls), num_returns=1, timeout=PATIENCE)
        if not done and all(m.loading is not None for m in self._members):
            logger.warning(
                'No actor could be started yet. Each needs %g CPUs and %g GPUs; the '
                'cluster has %s, of which %s are free.',
                self._asked.cpus,
                self._asked.gpus,
                self._ray.cluster_resources(),
                self._ray.available_resources(),
            )
        for call in done:
            self._take(calls[call], call, window)

    def _take(self, member: Member, call: Any, window: Optional[Window]) -> None:
        errors = self._ray.exceptions
        try:
            answer: Answer = self._ray.get(call)
        except errors.RayTaskError as e:
            # What an actor cannot even begin, e.g. without our package on its node.
            raise WorkerError(f'An actor of Ray failed: {e}\n{INSTALLED}') from e
        except errors.RayError as e:
            self._bury(member, window, e)
            return
        if answer.module:
            raise WorkerError(NO_MODULE.format(answer.module))
        if answer.problem:
            if answer.trace:
                logger.error('An actor failed:\n%s', answer.trace)
            where = 'On the Ray cluster: ' if self._asked.address else ''
            raise WorkerError(where + answer.problem)
        if member.loading is not None:
            member.loading, self._failed_starts = None, 0
            self.signature = self.signature or answer.value
            if answer.value != self.signature:
                raise ConfigError(
                    f"An actor's results would differ from the run's: {answer.value}, "
                    f'not {self.signature}. {INSTALLED}'
                )
            return
        _, piece = member.calls.popleft()
        piece.slot.put(piece, answer.value)
        self._deaths = 0

    def _bury(self, member: Member, window: Optional[Window], error: Exception) -> None:
        """An actor has died; its work goes to another."""
        if getattr(error, 'actor_init_failed', False):
            # It cannot fail by itself: our package, or what it needs, is not there.
            *_, cause = str(error).strip().splitlines()
            raise WorkerError(f'{NO_MODULE.format("parlai_q2")} It says: {cause}')
        ending = ending_of(error)
        self._deaths += 1
        loaded, calls = member.loading is None, list(member.calls)
        self._drop(member)
        # It may have been sent to a node that was dead already, which is noticed
        # seconds later; that says nothing of the job.
        if not loaded and dead_nodes(self._ray) <= member.dead:
            self._failed_starts += 1
        if self._failed_starts >= MAX_DEATHS * self._count:
            raise WorkerError(
                f'{self._failed_starts} actors died before they had loaded, the last '
                f'so: {ending}\nA killed process has often run out of memory: use '
                f'fewer --ray-actors, or more --ray-cpus for each. {INSTALLED}'
            )
        if self._deaths >= MOST_IN_A_ROW + self._count:
            raise WorkerError(
                f'{self._deaths} actors died one after the other, the last so: '
                f'{ending}\nWhat was written is kept: run the same command again to '
                'continue.'
            )
        if window is None or not calls:
            return
        # The others only waited.
        for _, piece in reversed(calls[1:]):
            window.again(piece)
        self._blame(calls[0][1], window, ending)

    def _blame(self, piece: Piece, window: Window, ending: str) -> None:
        piece.deaths += 1
        place = piece.items[0].place
        if len(piece.items) > 1:
            place += f' to {piece.items[-1].place}'
        logger.warning('An actor died while it worked on %s: %s', place, ending)
        if piece.deaths < piece.most:
            window.again(piece)
        elif len(piece.items) > 1:
            for half in reversed(piece.halves()):
                window.again(half)
        else:
            problem = (
                f'a process died of it {piece.deaths} times, the last so: {ending}'
            )
            piece.slot.put(piece, [self._job.lost(piece.items[0], problem)])

    def _replace(self) -> None:
        while len(self._members) < self._count:
            self._start()

    def _start(self) -> None:
        dead = dead_nodes(self._ray)
        handle = self._actor.remote(
            self._ray.cloudpickle.dumps(self._job),
            'cuda' if self._asked.gpus else None,
            threads_of(self._asked.cpus),
        )
        self._members.append(Member(handle, handle.load.remote(), dead))

    def _drop(self, member: Member) -> None:
        self._members.remove(member)
        self._ray.kill(member.handle)

    def _stop(self) -> None:
        for member in list(self._members):
            self._drop(member)

    def _wait_for_first(self) -> None:
        began = time.monotonic()
        while all(member.loading is not None for member in self._members):
            self._wait(None)
        logger.debug('The first actor was ready in %.1f s', time.monotonic() - began)

    def _capacity(self) -> int:
        asked = self._asked
        found = capacity(self._ray, asked.cpus, asked.gpus)
        if not found:
            raise ConfigError(
                f'The cluster has {self._ray.cluster_resources()}, too little for one '
                f'actor of {asked.cpus:g} CPUs and {asked.gpus:g} GPUs. Ask for less '
                'by --ray-cpus and --ray-gpus, or give --ray-actors to wait for nodes.'
            )
        return found


def ending_of(error: Exception) -> str:
    """How an actor ended, in a line; Ray says it with advice for its own users."""
    told = ' '.join(str(error).split())
    _, _, detail = told.partition('Worker exit detail: ')
    return (detail or told).partition(' Some common causes')[0][:300]


def _share(actors: Optional[int], of_each: float) -> Optional[int]:
    """What a cluster on this machine needs for so many actors; None for all it has."""
    if actors is None:
        return None
    return max(1, -int(-actors * of_each // 1)) if of_each else 0
