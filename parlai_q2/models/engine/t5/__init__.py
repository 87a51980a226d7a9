"""
An implementation of T5 for beam search (Raffel et al. 2020, arXiv 1910.10683).

``layers`` has the parts and the encoder, ``decoder`` the other stack and ``search`` the
loop that drives them; ``beams`` does the bookkeeping.

Letters: S spans (inputs), K beams, R = S * K rows, T decoded tokens, L tokens in an
input, H heads, D features per head, M features per token, V words.
"""
