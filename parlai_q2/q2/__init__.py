"""
Q2, step for step (Honovich et al., EMNLP 2021, arXiv 2104.08202, section 2).

``ask`` makes the questions, ``compare`` judges the answers, ``metric`` runs them over a
batch and speaks where there is no question; ``settings`` holds the choices.
"""
