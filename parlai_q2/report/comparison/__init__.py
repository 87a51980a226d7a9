"""
Compares two runs over the same responses: what changed, and why.
"""
