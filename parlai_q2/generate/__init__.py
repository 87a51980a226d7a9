"""
Candidates from models in CTranslate2's format, in this process.

``strategies`` says what to search for, ``decoding`` how, ``open`` finds a model and its
``words``, ``chat`` writes knowledge and history for it, ``seeded`` lets it sample
reproducibly, and ``writer`` runs the searches. None of it knows ParlAI.

Letters: B contexts, N candidates, L tokens of a context.
"""
