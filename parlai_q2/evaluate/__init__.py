"""
Meta-evaluation: measures how well each scorer agrees with human annotations.

It follows Honovich et al. 2021 (Q2), sections 4 and 5, and Dziri et al. 2022 (BEGIN),
section 5. The command is ``parlai_q2 meta_eval``.
"""
