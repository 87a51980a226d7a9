"""
Meta-evaluation: measures how well each scorer agrees with human annotations.

It makes the tables of Honovich et al. 2021 (Q2, 2 to 11) and of Santhanam et al. 2021
(Rome, 2 and 4 to 12), and Table 2 and the figures of Dziri et al. 2022 (BEGIN). The
command is ``parlai_q2 meta_eval``.
"""
