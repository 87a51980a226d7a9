"""
Q2, step for step (Honovich et al., EMNLP 2021, arXiv 2104.08202, section 2).

``ask`` generates the questions, ``compare`` judges the answers, and ``metric`` runs
both over a batch and applies the fallback to responses without questions. ``settings``
holds the metric's settings.
"""
