"""
Where an agent or a teacher finds the knowledge of a turn.
"""

from parlai_q2.files.messages import as_text, find_knowledge

__all__ = ['as_text', 'find_knowledge']
