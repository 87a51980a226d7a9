"""
Evidence people can read: scores shown in a terminal and as a page. No torch, no parlai.
"""

from parlai_q2.report.html import write_report
from parlai_q2.report.terminal import render_candidates, render_score, use_colour

__all__ = ['render_candidates', 'render_score', 'use_colour', 'write_report']
