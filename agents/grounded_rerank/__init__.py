"""
Reranks any ParlAI generator's candidates by how far each stays with the knowledge.
"""
