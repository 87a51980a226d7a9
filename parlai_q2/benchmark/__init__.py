"""
Benchmarks, which ``parlai_q2 bench`` and ``parlai_q2 bench_scale`` run.
"""
