"""
The interface through which the reranking agent asks a generator for candidates
(``candidates``), the base class of agents whose model ParlAI does not search
(``agent``), and the dialogue histories that these agents read.
"""
