"""
Two runs over the same responses, side by side: what changed, and why.
"""
