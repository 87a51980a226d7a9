"""
The one interface through which the reranking agent asks a generator for candidates
(``candidates``), and the base class of agents whose model ParlAI does not search
(``agent``), with the histories that they read.
"""
