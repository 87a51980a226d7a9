"""
The code that runs in Ray's processes: the reading task and the scoring actors.

These processes import this module by name, from the parlai_q2 that is installed there.
"""

import os
import pickle
from typing import Any, Iterable, Iterator, Optional

import pyarrow
from ray.data.block import BlockMetadata
from ray.data.datasource import Datasource, ReadTask

from parlai_q2.errors import is_out_of_memory
from parlai_q2.io.chunks import Chunk
from parlai_q2.scale.placement import use_threads
from parlai_q2.scale.score_chunk import MakeScorer, checked, score_chunk
from parlai_q2.scale.work import Source
from parlai_q2.scale.worker import FAILED, NO_MEMORY, SCORED, reason
from parlai_q2.scorers.base import Scorer


class ChunkSource(Datasource):
    """
    A file's chunks, one per block, streamed by a single reading task.

    :param source: the file.
    :param first: the index of the first chunk to score.
    """

    def __init__(self, source: Source, first: int):
        super().__init__()
        self._source, self._first = source, first

    def estimate_inmemory_data_size(self) -> Optional[int]:
        return None

    def get_read_tasks(
        self, parallelism: int, *args: Any, **options: Any
    ) -> list[ReadTask]:
        source, first = self._source, self._first

        def read() -> Iterable[pyarrow.Table]:
            return _blocks(source, first)

        unknown = BlockMetadata(
            num_rows=None, size_bytes=None, input_files=None, exec_stats=None
        )
        return [ReadTask(read, unknown)]


def _blocks(source: Source, first: int) -> Iterator[pyarrow.Table]:
    try:
        for chunk in source.chunks():
            if chunk.number >= first:
                yield _block(chunk)
    except Exception as e:
        # If this were raised, Ray would show its own advice instead of the cause.
        yield _block((FAILED, reason(e)))


def _block(value: Any) -> pyarrow.Table:
    return pyarrow.table({'chunk': [pickle.dumps(value)]})


class ScoreActor:
    """
    Scores one chunk per call.

    :param make: creates the scorer when the first chunk arrives.
    :param signature: the signature that the scorer must have.
    :param threads: the number of CPU threads.
    :param folder: the folder that relative paths of presets and models start from.
    """

    def __init__(self, make: MakeScorer, signature: str, threads: int, folder: str):
        use_threads(threads)
        if os.path.isdir(folder):
            os.chdir(folder)
        self._make, self._signature = make, signature
        self._scorer: Optional[Scorer] = None

    def __call__(self, batch: pyarrow.Table) -> pyarrow.Table:
        answers = [self._answer(chunk.as_py()) for chunk in batch['chunk']]
        return pyarrow.table({'answer': [pickle.dumps(answer) for answer in answers]})

    def _answer(self, pickled: bytes) -> tuple[str, Any]:
        try:
            chunk = pickle.loads(pickled)
            if not isinstance(chunk, Chunk):
                return chunk  # an error of the reading task
            if self._scorer is None:
                self._scorer = checked(self._make, None, self._signature)
            return SCORED, score_chunk(chunk, self._scorer)
        except Exception as e:
            if is_out_of_memory(e):
                # Ray retries the chunk, as if the system had killed this process.
                os._exit(NO_MEMORY)
            return FAILED, reason(e)
