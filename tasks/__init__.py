"""
ParlAI tasks, installed as ``parlai_q2.tasks``: ``NAME/reader.py`` reads the files and
needs no ParlAI, ``NAME/build.py`` fetches them, ``NAME/agents.py`` holds the teachers.
"""
