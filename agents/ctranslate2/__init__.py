"""A ParlAI generator around any model that CTranslate2 runs."""
