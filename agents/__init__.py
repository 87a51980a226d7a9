"""
ParlAI agents, installed as ``parlai_q2.agents``.

A folder, its main module and its class share a name, as ParlAI expects:
``agents/grounded_rerank/grounded_rerank.py`` holds ``GroundedRerankAgent``.
"""

# Importing it bridges what changed under ParlAI, whatever command loads an agent.
import parlai_q2.parlai  # noqa: F401
