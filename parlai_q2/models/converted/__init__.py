"""
Models in CTranslate2's format, and the library that runs them.

``binary`` reads and writes a model file, ``layout`` names the weights of each
architecture, ``check`` refuses a file that native code should not see, ``folder`` finds
and verifies what a folder has, ``library`` opens it; ``encoder`` and ``seq2seq`` run
it, ``to_torch`` gives it back to transformers.

Letters: B inputs, L tokens of an input, M features of a token.
"""
