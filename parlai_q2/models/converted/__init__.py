"""
Models in CTranslate2's format, and the library that runs them.

``binary`` reads and writes a model file, ``architectures`` names the weights and
converts them to and from transformers, ``check`` refuses a file that native code should
not read, ``folder`` and ``adapter`` read and verify a model, ``library`` opens it, and
``encoder`` and ``seq2seq`` run it.

Letters: B inputs, L tokens of an input, M features of a token.
"""
