"""
Reranks any ParlAI generator's candidates by how far each stays with the knowledge.
"""

# What follows -m.
AGENT = 'parlai_q2.agents.grounded_rerank.grounded_rerank:GroundedRerankAgent'
