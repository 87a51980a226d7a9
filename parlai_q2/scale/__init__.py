"""
Scores files that are larger than memory, on several processes, GPUs or machines.

A file is split into chunks (:mod:`parlai_q2.io.chunks`). An engine scores each chunk
in one call of a scorer and returns the results in order. There are three engines: in
this process (:func:`in_process`), in worker processes on this machine
(:mod:`parlai_q2.scale.pool`) and on Ray (:mod:`parlai_q2.scale.ray_engine`). All of
them produce the same output.
"""

from parlai_q2.scale.score_chunk import ScoredChunk, in_process

__all__ = ['ScoredChunk', 'in_process']
