"""
Reranks any ParlAI generator's candidates by how well each is grounded in the knowledge,
and how well it answers its turn.
"""

# The agent's name for -m.
AGENT = 'parlai_q2.agents.grounded_rerank.grounded_rerank:GroundedRerankAgent'
