"""
Filters a dialogue dataset: keeps the turns that are grounded in their knowledge. An
episode is a list of messages, as ParlAI's teachers send them.
"""
