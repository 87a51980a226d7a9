"""
An implementation of T5 for beam search (Raffel et al. 2020, arXiv 1910.10683).

The layers and weights are those of a Hugging Face model, without everything that a
search does not need. ``layers`` has the parts and the encoder, ``decoder`` the other
stack and ``search`` the loop that drives them; ``beams`` does the bookkeeping.
``search.T5Search`` finds the same sequences and scores as ``model.generate``.

Letters: S spans (inputs), K beams, R = S * K rows, T decoded tokens, L tokens in an
input, H heads, D features per head, M features per token, V words.
"""
