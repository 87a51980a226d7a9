"""
Models in CTranslate2's format, and the library that runs them.

``binary`` reads, checks and writes a model file, ``weights`` names the weights and
converts those of transformers, ``int8`` makes sums of int8 weights exact, ``reader``
reads and verifies a model, ``engine`` opens and runs it, and ``convert`` writes one.

Letters: B inputs, L tokens of an input, M features of a token.
"""
