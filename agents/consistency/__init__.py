"""A ParlAI agent that classifies responses with any scorer."""
