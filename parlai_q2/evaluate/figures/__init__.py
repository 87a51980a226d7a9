"""
Figures for a paper, written as PNG and as SVG that keeps its text as text. They need
matplotlib, which the extra ``plots`` installs.
"""

from parlai_q2.evaluate.figures.reliability import reliability_plot

__all__ = ['reliability_plot']
