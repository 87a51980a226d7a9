"""
The browser chat: a conversation, and a Starlette application that uvicorn serves. It
needs the extra ``web``.

``server`` serves until it is stopped; ``access`` turns away what should not come in;
``app`` answers requests.
"""
