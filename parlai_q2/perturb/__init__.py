"""
Ways to make a response wrong, or its knowledge: what Conv-FEVER (Santhanam et al. 2021)
and the examples that ``grounded`` is fitted on share.
"""
