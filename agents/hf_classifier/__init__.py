"""A ParlAI classifier around any Hugging Face sequence classifier."""
