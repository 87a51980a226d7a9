"""
How long things take: what ``parlai_q2 bench`` runs.
"""
