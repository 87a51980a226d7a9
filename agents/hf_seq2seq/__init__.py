"""A ParlAI generator around any Hugging Face encoder-decoder."""
