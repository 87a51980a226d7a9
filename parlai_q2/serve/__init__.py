"""
A proxy between any chat client and any server of the chat-completions protocol: it asks
for several replies, ranks them by the knowledge in the request, and returns the best.

``request`` reads what a client asks and finds the knowledge; ``grounded`` asks, ranks
and revises; ``sentences`` streams one reply sentence by sentence; ``answers`` writes
the protocol's answers; ``batches`` lets clients share calls of the models; ``gate``
says who may come in; ``app`` puts it together. It needs the extra ``serve``.
"""

from parlai_q2.cli.serve_settings import ServeSettings
from parlai_q2.serve.app import make_app

__all__ = ['ServeSettings', 'make_app']
