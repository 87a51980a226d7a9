"""A ParlAI generator behind a server that speaks the chat-completions protocol."""
