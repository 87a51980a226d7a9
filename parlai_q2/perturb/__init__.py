"""
Ways to make a response or its knowledge wrong, for Conv-FEVER (Santhanam et al. 2021)
and for the examples that ``grounded`` is fitted on.
"""
