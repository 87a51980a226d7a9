"""
ParlAI tasks, installed as ``parlai_q2.tasks``: ``NAME/reader.py`` fetches and reads the
files and needs no ParlAI, ``NAME/agents.py`` holds the teachers. A ``build.py`` makes
files for which ParlAI is needed.

A reader of annotated responses has ``annotated_set(datapath, words)`` for the
meta-evaluation, and ``read_part(datapath, words, fold)`` for teachers. Words choose
responses, e.g. by class or system. Where they name no class, all classes are taken, and
so on; where they name no fold, it is ``fold``. Any other word is an UnknownNameError.
"""
