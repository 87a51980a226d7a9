"""
The browser chat: its page, the requests it makes, and the server that answers them.
"""
