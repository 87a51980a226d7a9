"""
Pure text: normalisation, overlap, sentences, spans. Nothing here needs torch.
"""
