"""Writes answers in the protocol's form: whole or as chunks, and their evidence."""

import re
from collections.abc import Iterator

from starlette.responses import Response

from parlai_q2.generate.chat_completions import STREAM_END
from parlai_q2.json_values import JsonMapping, JsonObject, write_json
from parlai_q2.rerank.choice import Reason
from parlai_q2.serve.grounded import NOT_SCORED, ChatAnswer
from parlai_q2.serve.request import Unscored
from parlai_q2.turns import as_field

SSE = 'text/event-stream; charset=utf-8'
_WORD = re.compile(r'\s*\S+\s*')
_DIGITS = 4
# What a candidate's row says of its words, and how its score is made up.
_LEFT_OUT = frozenset({'claims', 'parts', 'evidence', 'answer'})


class Json(Response):
    """JSON in ASCII: texts may have lone surrogates, which UTF-8 has no bytes for."""

    media_type = 'application/json'

    def render(self, content: object) -> bytes:
        return encode(content)


def encode(content: object) -> bytes:
    """A value as JSON."""
    return write_json(content, separators=(',', ':')).encode()


def write_event(content: object) -> bytes:
    """A server-sent event with a value, or with the text that ends a stream."""
    return b'data: %s\n\n' % (
        STREAM_END.encode() if content == STREAM_END else encode(content)
    )


def error_body(problem: str, kind: str = 'invalid_request_error') -> JsonObject:
    """An error as the protocol has it."""
    return {'error': {'message': problem, 'type': kind, 'param': None, 'code': None}}


def unscored_grounding(reason: Unscored) -> JsonObject:
    """The evidence of a reply that was not scored: none, and why."""
    return {'scored': False, 'reason': str(reason), 'abstained': False}


def describe_grounding(answer: ChatAnswer) -> JsonObject:
    """
    The field ``grounding`` of an answer: the score, the label and the claims of the
    chosen reply with offsets into it and into ``passages``, and the rows of all
    candidates, best first, without their claims.
    """
    ranking = answer.ranking
    if answer.is_declined:
        reason = {'reason': str(Reason.DECLINED), 'knowledge': str(answer.source)}
        return {'scored': False, 'abstained': True, **reason}
    if ranking is None:
        assert answer.unscored is not None
        return unscored_grounding(answer.unscored)
    chosen = ranking.chosen.displayed_score
    is_shown = chosen is not None and not ranking.abstain
    return {
        'scored': chosen is not None,
        'score': rounded(chosen.value if chosen else None),
        'label': chosen and str(chosen.label),
        'reason': str(ranking.reason),
        'abstained': ranking.abstain,
        'revision': answer.revision and str(answer.revision),
        'knowledge': str(answer.source),
        'passages': as_field(ranking.passages),
        # Offsets into a reply that is withheld would be of no use.
        'claims': [c.to_dict() for c in chosen.claims] if chosen and is_shown else [],
        'candidates': list(map(_shorten, ranking.rows())),
        'signature': ranking.signature,
    }


def _shorten(row: JsonMapping) -> JsonObject:
    """A candidate's row without its claims, and with fewer digits."""
    return {
        name: rounded(value) if isinstance(value, float) else value
        for name, value in row.items()
        if name not in _LEFT_OUT
    }


def rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


def make_headers(grounding: JsonObject) -> dict[str, str]:
    """The score and the label, for clients that drop fields they do not know."""
    label = grounding.get('label') or NOT_SCORED
    headers = {'X-Grounding-Label': label}
    if grounding.get('score') is not None:
        headers['X-Grounding-Score'] = f'{grounding["score"]:.{_DIGITS}f}'
    if grounding.get('abstained'):
        headers['X-Grounding-Abstained'] = 'true'
    return headers


def write_chunk(
    completion: JsonMapping, *choices: JsonMapping, **fields: object
) -> bytes:
    """The event with a chunk of a streamed answer."""
    dropped = ('choices', 'usage', 'object')
    base = {name: value for name, value in completion.items() if name not in dropped}
    kind = 'chat.completion.chunk'
    return write_event({**base, 'object': kind, 'choices': [*choices], **fields})


def write_delta(
    completion: JsonMapping,
    delta: JsonMapping,
    index: int = 0,
    finish_reason: object = None,
    **fields: object,
) -> bytes:
    """The event with a piece of a reply."""
    choice = {'index': index, 'delta': delta, 'finish_reason': finish_reason}
    return write_chunk(completion, choice, **fields)


def stream_answer(
    completion: JsonObject, grounding: JsonObject, has_usage: bool
) -> Iterator[bytes]:
    """A complete answer as the events of a stream."""
    for choice in completion['choices']:
        place, message = choice['index'], dict(choice['message'])
        first = {'role': message.pop('role', 'assistant'), 'content': ''}
        yield write_delta(completion, first, place)
        content = message.pop('content', None) or ''
        if calls := message.get('tool_calls'):
            message['tool_calls'] = [{'index': n, **c} for n, c in enumerate(calls)]
        if rest := {name: value for name, value in message.items() if value}:
            yield write_delta(completion, rest, place)
        for word in _WORD.findall(content if isinstance(content, str) else ''):
            yield write_delta(completion, {'content': word}, place)
        # With what else a choice has, such as the log probabilities of all tokens.
        last = {name: v for name, v in choice.items() if name != 'message'}
        last |= {'delta': {}, 'finish_reason': choice.get('finish_reason') or 'stop'}
        # The first choice is the one that was ranked.
        fields = {} if place else {'grounding': grounding}
        yield write_chunk(completion, last, **fields)
    if has_usage:
        yield write_chunk(completion, usage=completion.get('usage'))
    yield write_event(STREAM_END)
