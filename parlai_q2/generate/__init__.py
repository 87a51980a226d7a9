"""
Finds candidates with models in CTranslate2's format, in this process, or asks servers
of the chat-completions protocol for them. Nothing here needs ParlAI.

``strategies`` has the searches and their settings, ``generator`` opens the model at a
``model_place`` and its ``tokenizer``, ``chat`` writes knowledge and history for it, and
``writer`` runs the searches. ``server`` and ``chat_completions`` are for servers.
"""
