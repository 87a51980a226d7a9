"""
Draws figures with matplotlib, which the extra ``plots`` installs. The functions draw
plain numbers, and know nothing of scorers and sets.
"""
