"""
The commands' frame: which commands there are, their options, their log. It needs
neither ParlAI nor torch, and imports a command only to run it or to show its help.
"""
