"""The version of parlai_q2, defined only here."""

__version__ = '0.14.0'
