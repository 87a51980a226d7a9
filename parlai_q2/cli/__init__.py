"""
The frame of all commands: their names, options and log. It needs neither ParlAI nor
torch, and imports a command only to run it or to show its help.
"""
