"""
The arithmetic of the shipped models: int8 weights and products, BERT, T5, batching.
"""

from collections import Counter

# The names of the kernels taken so far in this process, by choice, shape of weights and
# number of rows tried; see kernels.py.
TAKEN: dict[tuple[str, int, int, int], str] = {}


def kernels_taken() -> dict[str, int]:
    """
    For how many shapes each kernel was taken in this process; empty before the first
    int8 product. Scores do not depend on it.
    """
    return dict(Counter(TAKEN.values()).most_common())
