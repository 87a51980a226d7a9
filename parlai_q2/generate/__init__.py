"""
Finds candidates with models in CTranslate2's format, in this process.

``strategies`` has the searches and their settings, ``generator`` opens a ``model`` and
its ``tokenizer``, ``chat`` writes knowledge and history for it, and ``writer`` runs the
searches. Nothing here needs ParlAI.
"""
