"""
The version of parlai_q2, in one place.
"""

__version__ = '0.4.0'
