"""
ParlAI tasks, installed as ``parlai_q2.tasks``: ``NAME/reader.py`` fetches and reads the
files and needs no ParlAI, ``NAME/agents.py`` holds the teachers. A ``build.py`` makes
files for which ParlAI is needed.
"""
