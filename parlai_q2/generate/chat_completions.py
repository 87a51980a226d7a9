"""
Reads the answers of servers of the chat-completions protocol: replies, log
probabilities, usage and the events of a stream.
"""

import codecs
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parlai_q2.errors import ServerError
from parlai_q2.json_values import JsonMapping, JsonObject, is_number
from parlai_q2.text.messages import visible_text

# The event that ends a stream.
STREAM_END = '[DONE]'
# The largest answer that is read, in bytes.
MAX_ANSWER = 16 * 2**20
# A longer event of a stream is not read to its end.
MAX_EVENT = 2**20

# An answer: ``choices``, ``usage`` and others.
Completion = JsonObject


@dataclass(frozen=True)
class ServerReply:
    """
    One reply; if the server gives them, the log probability of its tokens, in nats, and
    their number.
    """

    text: str
    logprob: float | None = None
    tokens: int = 0


def read_reply(choice: JsonObject) -> ServerReply:
    """Read the reply in a choice of the protocol, as people see it."""
    text = visible_text(choice['message'], choice.get('finish_reason') or '')
    logprobs = read_logprobs(choice)
    if not logprobs:
        return ServerReply(text)
    return ServerReply(text, sum(logprobs), len(logprobs))


def read_logprobs(choice: JsonObject) -> list[float]:
    """Read the log probabilities of a choice's tokens; empty unless all are known."""
    tokens = (choice.get('logprobs') or {}).get('content')
    if not isinstance(tokens, list) or not all(isinstance(t, dict) for t in tokens):
        return []
    values = [token.get('logprob') for token in tokens]
    return values if all(map(is_number, values)) else []


def shorten(content: bytes) -> str:
    """Shorten an answer, or the message in it, to one line."""
    text = content.decode('utf-8', 'replace')
    try:
        error = json.loads(text)['error']
        text = str(error['message'] if isinstance(error, dict) else error)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    return repr(' '.join(text.split())[:200])


def has_choices(value: object) -> bool:
    """Whether an answer, or a chunk of one, has choices that are messages."""
    choices = value.get('choices') if isinstance(value, dict) else None
    return isinstance(choices, list) and all(
        isinstance(choice, dict)
        and isinstance(choice.get('message', choice.get('delta')), dict)
        and isinstance(choice.get('logprobs') or {}, dict)
        for choice in choices
    )


def merge_answers(answers: Sequence[Completion], choices: Sequence[Any]) -> Completion:
    """Merge answers into the first one, with the choices and the usage of all."""
    merged = {**answers[0]}
    merged['choices'] = [{**choice, 'index': n} for n, choice in enumerate(choices)]
    if usages := [u for a in answers if isinstance(u := a.get('usage'), dict)]:
        merged['usage'] = add_usage(usages)
    return merged


def add_usage(usages: Sequence[JsonMapping]) -> JsonObject:
    """
    Add up the usage of requests.

    >>> add_usage([{'total_tokens': 3}, {'total_tokens': 4, 'details': {'cached': 1}}])
    {'total_tokens': 7, 'details': {'cached': 1}}
    """
    total: JsonObject = {}
    for usage in usages:
        for name, value in usage.items():
            if isinstance(value, Mapping):
                total[name] = add_usage([total.get(name) or {}, value])
            elif is_number(value):
                total[name] = (total.get(name) or 0) + value
            else:
                total.setdefault(name, value)
    return total


async def read_answer(
    blocks: AsyncIterator[bytes], max_bytes: int = MAX_ANSWER
) -> bytes:
    """The bytes of an answer; of a longer one, little more than ``max_bytes``."""
    content = b''
    async for block in blocks:
        content += block
        if len(content) > max_bytes:
            break
    return content


async def read_events(blocks: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """Yield the data of each server-sent event, without comments and other fields."""
    decode = codecs.getincrementaldecoder('utf-8')('replace').decode
    text = ''
    async for block in blocks:
        *lines, text = (text + decode(block)).split('\n')
        if len(text) > MAX_EVENT:
            raise ServerError('The server sends an event that is too long.', 502)
        for line in lines:
            # In this protocol, an event has one line of data.
            name, _, data = line.partition(':')
            if name == 'data' and data.strip():
                yield data.strip()
