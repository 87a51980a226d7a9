"""
ParlAI tasks, installed as ``parlai_q2.tasks``; ``NAME/agents.py`` holds the teachers.
"""

# Importing it bridges what changed under ParlAI, whatever command loads a task.
import parlai_q2.parlai  # noqa: F401
