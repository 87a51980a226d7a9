"""Asks a chat server for four replies and chooses one."""

from parlai_q2 import Reranker
from parlai_q2.generate.server import ChatServer

knowledge = 'The museum opened in 1903. It was designed by Anna Keller.'
question = 'Who designed the museum?'
server = ChatServer('http://localhost:8000/v1', {'model': 'NAME', 'temperature': 0.9})
messages = [
    {'role': 'system', 'content': f'Reply by this: {knowledge}'},
    {'role': 'user', 'content': question},
]
[replies] = server.replies([messages], [4])
ranking = Reranker().rank(knowledge, [reply.text for reply in replies], [question])
print(ranking.chosen.text, ranking.chosen.score.label)
