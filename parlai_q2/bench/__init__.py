"""
What ``parlai_q2 bench`` times: Q2 and reranking (``measuring``), large files
(``scale``), and more candidates (``candidates``).
"""
