"""
The browser chat: a conversation, and a Starlette application that uvicorn serves. It
needs the extra ``web``.

``server`` opens the port and ends it; ``connections`` and ``guards`` turn away what
should not come in; ``app`` answers requests, and ``page`` draws what they are about.
"""
