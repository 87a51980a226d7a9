"""
Shows scores and their evidence to people, in a terminal or as an HTML page. It imports
neither torch nor parlai.
"""

from parlai_q2.report.page import write_report
from parlai_q2.report.terminal import render_candidates, render_score, use_colour

__all__ = ['render_candidates', 'render_score', 'use_colour', 'write_report']
