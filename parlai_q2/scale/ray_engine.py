"""
The engine that works in actors on a Ray cluster. It gives each actor one chunk at a
time and a next one to begin with, and yields the results in the order of the chunks.

It does not use Ray Data, which restarts a dead actor with the task that killed it and
so never ends on a record that no process survives, and whose files a stopped run cannot
resume. Here, a chunk that kills several actors is halved
until the record is found, and gets an error in its place.
"""

import logging
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from parlai_q2.errors import ConfigError, WorkerError
from parlai_q2.runs.file_run import ChunkT, ItemChunk, Job, JobEngine
from parlai_q2.scale.actor import Actor, CallOutcome
from parlai_q2.scale.cluster import (
    connect,
    count_actors,
    find_dead_nodes,
    is_cut_off,
    share_resources,
)
from parlai_q2.threads import LIMIT, read_threads

logger = logging.getLogger(__name__)

# Chunks for each actor that may be read but not yet yielded: those at work, and enough
# others that a slow chunk at the front does not leave the other actors idle.
AHEAD = 4
# Calls that an actor has at a time, so that it need not wait for the next one.
QUEUED = 2
# So many actors may die of an item, or of a chunk before it is halved.
MAX_DEATHS = 3
# So many actors, and all of a run's at once, may die without any result between them.
MAX_DEATHS_IN_A_ROW = 30
# Seconds after which a wait for a first actor is reported, again and again.
PATIENCE_SECONDS = 30.0
INSTALLED = (
    'Each node needs the same version of parlai_q2 and the same models, at the same '
    'paths.'
)
# Such as a custom scorer that this process can import and the nodes cannot.
NO_MODULE = (
    'The processes of the Ray cluster cannot import {!r}. Install it on each node, or '
    'start each with its folder on the path: PYTHONPATH=folder ray start ...'
)
NOT_LOADED = (
    '{} actors died before they had loaded, the last with: {}\nA killed process has '
    'often run out of memory: use fewer --ray-actors, or more --ray-cpus for each. '
) + INSTALLED
ALL_DIE = (
    '{} actors died one after the other, the last with: {}\nWhat was written is kept: '
    'run the same command again to continue.'
)
CUT_OFF = (
    'Ray on this machine has ended, as it does when one of its processes is killed. '
    'What was written is kept: run the same command again to continue.'
)


@dataclass(frozen=True)
class Resources:
    """
    What a run asks Ray for.

    :param address: of the cluster; None to start one on this machine.
    :param actors: how many; None for as many as the cluster can hold.
    :param cpus: of each actor, which is also its number of threads.
    :param gpus: of each actor; may be a fraction.
    :raises ConfigError: if a number is out of range.
    """

    address: str | None = None
    actors: int | None = None
    cpus: float = 1.0
    gpus: float = 0.0

    def __post_init__(self) -> None:
        if self.actors is not None and self.actors < 1:
            raise ConfigError(f'--ray-actors must be at least 1, not {self.actors}.')
        if self.cpus < 0 or self.gpus < 0 or not self.cpus + self.gpus:
            raise ConfigError(
                '--ray-cpus and --ray-gpus must not be negative, and not both 0.'
            )


@dataclass(eq=False)
class Slot:
    """A chunk that is under way, with the results that it has so far."""

    chunk: Any
    results: list[Any]
    missing: int


@dataclass(eq=False)
class ChunkPiece:
    """
    Consecutive items of a chunk from an index on, which an actor gets in one call, and
    how many actors have died of them.
    """

    slot: Slot
    start: int
    items: list[Any]
    deaths: int = 0

    def finish(self, results: list[Any]) -> None:
        self.slot.results[self.start : self.start + len(results)] = results
        self.slot.missing -= len(results)

    def halve(self) -> list['ChunkPiece']:
        """The same items in two pieces, suspects that may kill one more actor each."""
        middle = len(self.items) // 2
        parts = ((0, self.items[:middle]), (middle, self.items[middle:]))
        return [
            ChunkPiece(
                self.slot,
                self.start + offset,
                items,
                deaths=MAX_DEATHS - 1 if len(items) > 1 else 0,
            )
            for offset, items in parts
        ]


@dataclass(eq=False)
class Member:
    """
    An actor; the call that loads it, until it is loaded; the nodes that were dead when
    it was started; and its calls under way, oldest first.
    """

    handle: Any
    loading: Any
    dead_nodes: frozenset[str]
    calls: deque[tuple[Any, ChunkPiece]] = field(default_factory=deque)

    @property
    def next_call(self) -> Any:
        """The call that ends next; None if there is none."""
        if self.loading is not None:
            return self.loading
        return self.calls[0][0] if self.calls else None


class RayEngine(JobEngine):
    """
    Runs a job in actors; see :class:`~parlai_q2.runs.file_run.JobEngine`. Connects at
    once, and waits until a first actor has loaded the job.

    :raises WorkerError: if no actor can load it.
    :raises ConfigError: if the cluster is not there, or cannot hold an actor.
    """

    def __init__(self, job: Job, resources: Resources):
        self._job, self._resources = job, resources
        self._members: list[Member] = []
        self._slots: deque[Slot] = deque()
        self._waiting: deque[ChunkPiece] = deque()
        # Actors that died since the last result, and those before they were loaded.
        self._deaths = self._failed_starts = 0
        # Comes from the first actor.
        self.signature = ''
        self._stack = ExitStack()
        try:
            self._ray = self._stack.enter_context(
                connect(
                    resources.address,
                    share_resources(resources.actors, resources.cpus),
                    share_resources(resources.actors, resources.gpus),
                )
            )
            self._count = resources.actors or count_actors(
                self._ray, resources.cpus, resources.gpus
            )
            self._stack.callback(self._stop)
            self._start()
            while all(member.loading is not None for member in self._members):
                self._wait()
        except BaseException:
            self._stack.close()
            raise

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def run(
        self, chunks: Iterator[ChunkT]
    ) -> Generator[tuple[ChunkT, list[Any]], None, None]:
        try:
            while self._hand_out(chunks):
                while self._slots and not self._slots[0].missing:
                    slot = self._slots.popleft()
                    yield slot.chunk, slot.results
                    self._hand_out(chunks)
                if self._slots:
                    self._wait()
        finally:
            # What a closed run left under way is not waited for.
            for member in [member for member in self._members if member.calls]:
                self._drop(member)
            self._slots.clear()
            self._waiting.clear()

    def _hand_out(self, chunks: Iterator[ItemChunk]) -> bool:
        """Give the actors what they can take; return whether anything is under way."""
        for depth in range(1, QUEUED + 1):
            for member in self._members:
                if member.loading is None and len(member.calls) < depth:
                    if not self._waiting and not self._read_chunk(chunks):
                        return bool(self._slots)
                    piece = self._waiting.popleft()
                    call = member.handle.work.remote(piece.items)
                    member.calls.append((call, piece))
        # Even if all are busy, one chunk is ready.
        return bool(self._waiting) or self._read_chunk(chunks) or bool(self._slots)

    def _read_chunk(self, chunks: Iterator[ItemChunk]) -> bool:
        """Read the next chunk that has items; False if there is none or no room."""
        while len(self._slots) < AHEAD * self._count:
            chunk = next(chunks, None)
            if chunk is None:
                return False
            items = list(chunk.items)
            slot = Slot(chunk, [None] * len(items), len(items))
            self._slots.append(slot)
            if items:
                self._waiting.append(ChunkPiece(slot, 0, items))
                return True
        return False

    def _wait(self) -> None:
        """Wait until an actor has loaded, given results or died."""
        while len(self._members) < self._count:
            self._start()
        calls = {
            member.next_call: member
            for member in self._members
            if member.next_call is not None
        }
        ready, _ = self._ray.wait(list(calls), num_returns=1, timeout=PATIENCE_SECONDS)
        if not ready:
            self._check_connected()
        if not ready and all(member.loading is not None for member in self._members):
            logger.warning(
                'No actor could be started yet. Each needs %g CPUs and %g GPUs; the '
                'cluster has %s, of which %s are free.',
                self._resources.cpus,
                self._resources.gpus,
                self._ray.cluster_resources(),
                self._ray.available_resources(),
            )
        for call in ready:
            self._take_answer(calls[call], call)

    def _take_answer(self, member: Member, call: object) -> None:
        errors = self._ray.exceptions
        try:
            answer: CallOutcome = self._ray.get(call)
        except errors.RayTaskError as e:
            # What an actor cannot even begin, e.g. without our package on its node.
            raise WorkerError(f'An actor of Ray failed: {e}\n{INSTALLED}') from e
        except errors.RayError as e:
            self._bury(member, e)
            return
        if answer.module:
            raise WorkerError(NO_MODULE.format(answer.module))
        if answer.problem:
            if answer.trace:
                logger.error('An actor failed:\n%s', answer.trace)
            where = 'On the Ray cluster: ' if self._resources.address else ''
            raise WorkerError(where + answer.problem)
        if member.loading is None:
            _, piece = member.calls.popleft()
            piece.finish(answer.value)
            self._deaths = 0
            return
        member.loading, self._failed_starts = None, 0
        self.signature = self.signature or answer.value
        if answer.value != self.signature:
            raise ConfigError(
                f"An actor's results would differ from the run's: {answer.value}, not "
                f'{self.signature}. {INSTALLED}'
            )

    def _bury(self, member: Member, error: Exception) -> None:
        """Give the work of an actor that has died to others."""
        if getattr(error, 'actor_init_failed', False):
            # It cannot fail by itself: our package, or what it needs, is not there.
            *_, cause = str(error).strip().splitlines()
            raise WorkerError(f'{NO_MODULE.format("parlai_q2")} The error: {cause}')
        self._check_connected()
        cause = describe_death(error)
        self._deaths += 1
        calls = list(member.calls)
        self._drop(member)
        # It may have been sent to a node that was dead already, which is noticed
        # seconds later; the job is not to blame for that.
        if member.loading is not None:
            self._failed_starts += find_dead_nodes(self._ray) <= member.dead_nodes
        if self._failed_starts >= MAX_DEATHS * self._count:
            raise WorkerError(NOT_LOADED.format(self._failed_starts, cause))
        if self._deaths >= MAX_DEATHS_IN_A_ROW + self._count:
            raise WorkerError(ALL_DIE.format(self._deaths, cause))
        if calls:
            # The others only waited. The oldest chunk is waited for, so it comes first.
            self._waiting.extendleft(piece for _, piece in reversed(calls[1:]))
            self._retry(calls[0][1], cause)

    def _check_connected(self) -> None:
        # No actor can then be started, and Ray would wait for ever.
        if is_cut_off(self._ray):
            raise WorkerError(CUT_OFF)

    def _retry(self, piece: ChunkPiece, cause: str) -> None:
        """Process a piece again that an actor has died of, or give it up."""
        piece.deaths += 1
        place = piece.items[0].place
        if len(piece.items) > 1:
            place += f' to {piece.items[-1].place}'
        logger.warning('An actor died while it worked on %s: %s', place, cause)
        if piece.deaths < MAX_DEATHS:
            self._waiting.appendleft(piece)
        elif len(piece.items) > 1:
            self._waiting.extendleft(reversed(piece.halve()))
        else:
            problem = f'a process died of it {piece.deaths} times, the last with: '
            piece.finish([self._job.report_lost(piece.items[0], problem + cause)])

    def _start(self) -> None:
        dead_nodes = find_dead_nodes(self._ray)
        actor = self._ray.remote(Actor).options(
            num_cpus=self._resources.cpus,
            num_gpus=self._resources.gpus,
            max_restarts=0,
            max_task_retries=0,
        )
        handle = actor.remote(
            self._ray.cloudpickle.dumps(self._job),
            'cuda' if self._resources.gpus else None,
            # What the user set counts first.
            read_threads(LIMIT) or max(1, int(self._resources.cpus)),
        )
        self._members.append(Member(handle, handle.load.remote(), dead_nodes))

    def _drop(self, member: Member) -> None:
        self._members.remove(member)
        self._ray.kill(member.handle)

    def _stop(self) -> None:
        for member in list(self._members):
            self._drop(member)


def describe_death(error: Exception) -> str:
    """How an actor ended, in a line; Ray adds advice for its own users."""
    text = ' '.join(str(error).split())
    _, _, detail = text.partition('Worker exit detail: ')
    return (detail or text).partition(' Some common causes')[0][:300]
