"""
Text processing: normalisation, word overlap, sentences, spans. None of it needs torch.
"""
