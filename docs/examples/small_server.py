"""
A small server of the chat-completions protocol with the reply model that ships, to try
``parlai_q2 serve`` where there is no other server: ``python small_server.py 8000``.
"""

import asyncio
import json
import sys
import time

import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

from parlai_q2.generate.generator import open_shipped
from parlai_q2.generate.strategies import SearchMethod, Strategy
from parlai_q2.text.messages import visible_text

MODEL = 'shipped'
generator = open_shipped()
turn = asyncio.Lock()


def complete(request):
    """Write the replies: the system's message is the knowledge."""
    knowledge = [visible_text(m) for m in request['messages'] if m['role'] == 'system']
    turns = [
        (m['role'], visible_text(m))
        for m in request['messages']
        if m['role'] in ('user', 'assistant')
    ]
    context, _ = generator.context(turns, '\n'.join(knowledge))
    number = request.get('n') or 1
    search = SearchMethod.BEAM if number > 1 else SearchMethod.GREEDY
    [written] = generator.writer.write([context], [[Strategy(search, number)]])
    return [generator.text(candidate.tokens, context) for candidate in written], len(
        context
    )


async def chat(request):
    fields = await request.json()
    # In a thread, so that new connections are accepted meanwhile; one at a time.
    async with turn:
        texts, read = await asyncio.to_thread(complete, fields)
    common = {'id': 'chatcmpl-small', 'created': int(time.time()), 'model': MODEL}
    if fields.get('stream'):
        return StreamingResponse(
            stream(common, texts[0]), media_type='text/event-stream'
        )
    choices = [
        {
            'index': n,
            'message': {'role': 'assistant', 'content': text},
            'finish_reason': 'stop',
        }
        for n, text in enumerate(texts)
    ]
    tokens = sum(len(text.split()) for text in texts)
    usage = {'prompt_tokens': read, 'completion_tokens': tokens}
    usage['total_tokens'] = read + tokens
    kind = 'chat.completion'
    return JSONResponse({**common, 'object': kind, 'choices': choices, 'usage': usage})


def stream(common, text):
    for word in text.split(' '):
        yield chunk(common, {'content': f'{word} '})
    yield chunk(common, {}, 'stop')
    yield 'data: [DONE]\n\n'


def chunk(common, delta, finish_reason=None):
    choice = {'index': 0, 'delta': delta, 'finish_reason': finish_reason}
    fields = {**common, 'object': 'chat.completion.chunk', 'choices': [choice]}
    return f'data: {json.dumps(fields)}\n\n'


async def models(request):
    return JSONResponse({'object': 'list', 'data': [{'id': MODEL, 'object': 'model'}]})


app = Starlette(
    routes=[
        Route('/v1/chat/completions', chat, methods=['POST']),
        Route('/v1/models', models),
    ]
)

if __name__ == '__main__':
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    uvicorn.run(app, host='127.0.0.1', port=port)
