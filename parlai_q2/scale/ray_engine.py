"""
The engine that works in actors on a Ray cluster. It gives each actor one chunk at a
time, and yields the results in the order of the chunks.

It does not use Ray Data, which restarts a dead actor with the task that killed it and
so never ends on a record that no process survives, and whose files a stopped run cannot
resume. Here, a chunk that kills an actor is processed again record by record, and a
record that goes on killing them gets an error in its place.
"""

import logging
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from parlai_q2.errors import ConfigError, Q2Error, WorkerError
from parlai_q2.runs.file_run import Job, JobEngine, Tag
from parlai_q2.scale.actor import Actor
from parlai_q2.scale.cluster import connect, count_actors, is_cut_off, share_resources
from parlai_q2.threads import LIMIT, read_threads

logger = logging.getLogger(__name__)

# Chunks for each actor that may be read but not yet yielded: those at work, and enough
# others that a slow chunk at the front does not leave the other actors idle.
AHEAD = 4
# The number of actors that may die of a record; and, for each actor of a run, before a
# first one has loaded the job.
MAX_DEATHS = 3
# The number of actors, besides those of a run, that may die without a result between.
MAX_DEATHS_IN_A_ROW = 30
# Seconds after which a wait for a first actor is reported, again and again.
PATIENCE_SECONDS = 30.0
INSTALLED = (
    'Each node needs the same version of parlai_q2, the same models at the same paths, '
    'and the module of your own scorer: PYTHONPATH=folder ray start ...'
)
ALL_DIE = (
    '{} actors died one after the other, the last with: {}\nA killed process has often '
    'run out of memory: use fewer --ray-actors, or more --ray-cpus for each. '
    f'{INSTALLED}\nWhat was written is kept: run the same command again to continue.'
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
    """A chunk that is under way: its tag, and the results that it has so far."""

    tag: Any
    results: list[Any]
    missing: int


@dataclass(eq=False)
class ChunkPiece:
    """
    All items of a chunk, or the one at an index, which an actor gets in one call; and
    how many actors have died of it.
    """

    slot: Slot
    start: int
    items: list[Any]
    deaths: int = 0

    def finish(self, results: list[Any]) -> None:
        self.slot.results[self.start : self.start + len(results)] = results
        self.slot.missing -= len(results)


class RayEngine(JobEngine):
    """
    Runs a job in actors; see :class:`~parlai_q2.runs.file_run.JobEngine`. Connects at
    once, and waits until a first actor has loaded the job.

    :raises WorkerError: if no actor can load it.
    :raises ConfigError: if the cluster is not there, or cannot hold an actor.
    """

    def __init__(self, job: Job, resources: Resources):
        self._job, self._resources = job, resources
        # The calls under way: the actor of each, and its piece, None while it loads.
        self._calls: dict[Any, tuple[Any, ChunkPiece | None]] = {}
        self._idle: list[Any] = []
        self._waiting: deque[ChunkPiece] = deque()
        # Actors that died since the last result.
        self._deaths = 0
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
            for _ in range(self._count):
                self._start()
            while not self.signature:
                self._wait()
        except BaseException:
            self._stack.close()
            raise

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def run(
        self, chunks: Iterator[tuple[Tag, Sequence[Any]]]
    ) -> Generator[tuple[Tag, list[Any]], None, None]:
        slots: deque[Slot] = deque()
        self._waiting.clear()
        while True:
            # One piece more than the idle actors take, so that the next one need not
            # wait.
            while (
                len(slots) < AHEAD * self._count
                and len(self._waiting) <= len(self._idle)
                and (chunk := next(chunks, None)) is not None
            ):
                tag, items = chunk
                slots.append(Slot(tag, [None] * len(items), len(items)))
                if items:
                    self._waiting.append(ChunkPiece(slots[-1], 0, list(items)))
            while self._idle and self._waiting:
                actor, piece = self._idle.pop(), self._waiting.popleft()
                self._calls[actor.work.remote(piece.items)] = actor, piece
            if not slots:
                return
            if slots[0].missing:
                self._wait()
            else:
                slot = slots.popleft()
                yield slot.tag, slot.results

    def _wait(self) -> None:
        """Wait until an actor has loaded, given results or died."""
        ready, _ = self._ray.wait(list(self._calls), timeout=PATIENCE_SECONDS)
        if not ready:
            self._check_connected()
            if not self._idle and not any(piece for _, piece in self._calls.values()):
                logger.warning(
                    'No actor could be started yet. Each needs %g CPUs and %g GPUs; '
                    'the cluster has %s, of which %s are free.',
                    self._resources.cpus,
                    self._resources.gpus,
                    self._ray.cluster_resources(),
                    self._ray.available_resources(),
                )
        errors = self._ray.exceptions
        for call in ready:
            actor, piece = self._calls.pop(call)
            try:
                answer = self._ray.get(call)
            except (errors.RayTaskError, errors.UnserializableException) as e:
                raise WorkerError(self._explain(e)) from e
            except errors.RayError as e:
                self._replace(actor, piece, e)
                continue
            self._idle.append(actor)
            if piece is None:
                self._check_signature(answer)
            else:
                piece.finish(answer)
                self._deaths = 0

    def _check_signature(self, signature: str) -> None:
        self.signature = self.signature or signature
        if signature != self.signature:
            raise ConfigError(
                f"An actor's results would differ from the run's: {signature}, not "
                f'{self.signature}. {INSTALLED}'
            )

    def _check_connected(self) -> None:
        # No actor can then be started, and Ray would wait for ever.
        if is_cut_off(self._ray):
            raise WorkerError(CUT_OFF)

    def _explain(self, error: Any) -> str:
        """What a job raised in an actor, as one message."""
        # An exception that cannot be unpickled comes without a cause.
        cause = getattr(error, 'cause', error)
        problem = str(cause)
        if not isinstance(cause, Q2Error):
            logger.error('An actor failed:\n%s', error)
            problem = f'{type(cause).__name__}: {problem}'
        if self._resources.address:
            problem = f'On the Ray cluster: {problem}\n{INSTALLED}'
        return problem

    def _replace(self, actor: Any, piece: ChunkPiece | None, error: Exception) -> None:
        """Start another actor for one that has died, and process its piece again."""
        self._check_connected()
        self._ray.kill(actor)
        cause = describe_death(error)
        self._deaths += 1
        most = MAX_DEATHS_IN_A_ROW + self._count
        if self._deaths >= (most if self.signature else MAX_DEATHS * self._count):
            raise WorkerError(ALL_DIE.format(self._deaths, cause))
        if piece is not None:
            self._retry(piece, cause)
        self._start()

    def _retry(self, piece: ChunkPiece, cause: str) -> None:
        """Process a piece again that an actor has died of, or give it up."""
        piece.deaths += 1
        place = piece.items[0].place
        if len(piece.items) > 1:
            place += f' to {piece.items[-1].place}'
        logger.warning('An actor died while it worked on %s: %s', place, cause)
        if len(piece.items) > 1:
            singles = [
                ChunkPiece(piece.slot, start, [item])
                for start, item in enumerate(piece.items)
            ]
            self._waiting.extendleft(reversed(singles))
        elif piece.deaths < MAX_DEATHS:
            self._waiting.appendleft(piece)
        else:
            problem = f'a process died of it {piece.deaths} times, the last with: '
            piece.finish([self._job.report_lost(piece.items[0], problem + cause)])

    def _start(self) -> None:
        actor = self._ray.remote(Actor).options(
            num_cpus=self._resources.cpus,
            num_gpus=self._resources.gpus,
            max_restarts=0,
            max_task_retries=0,
        )
        handle = actor.remote(
            self._ray.cloudpickle.dumps(self._job),
            'cuda' if self._resources.gpus else None,
            # What the user set here counts first.
            read_threads(LIMIT) or max(1, int(self._resources.cpus)),
        )
        self._calls[handle.load.remote()] = handle, None

    def _stop(self) -> None:
        for actor in [*self._idle, *(actor for actor, _ in self._calls.values())]:
            self._ray.kill(actor)


def describe_death(error: Exception) -> str:
    """How an actor ended, in a line; Ray adds advice for its own users."""
    if getattr(error, 'actor_init_failed', False):
        # Our package, or what it needs, is not there; the last line says so.
        return str(error).strip().splitlines()[-1]
    text = ' '.join(str(error).split())
    _, _, detail = text.partition('Worker exit detail: ')
    return (detail or text).partition(' Some common causes')[0][:300]
