"""
Scores files that are larger than memory, on several processes or GPUs.

A file is split into chunks (:mod:`parlai_q2.io.chunks`). An engine scores each chunk
in one call of a scorer and returns the results in order, in this process
(:mod:`parlai_q2.scale.score_chunk`) or in worker processes
(:mod:`parlai_q2.scale.workers`). Both produce the same output.
"""
