"""
Measurements beside the package: what ``parlai_q2 bench --parts scale,candidates`` and
the like run in a checkout, and scripts of their own.
"""
