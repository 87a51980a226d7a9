"""
Reranks any ParlAI generator's candidates by how well each is grounded in the knowledge.
"""

# The agent's name for -m.
AGENT = 'parlai_q2.agents.grounded_rerank.grounded_rerank:GroundedRerankAgent'
