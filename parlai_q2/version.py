"""The version of parlai_q2, defined only here."""

__version__ = '0.12.0'
