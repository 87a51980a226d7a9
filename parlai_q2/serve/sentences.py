"""
Streams what the upstream server streams: as it comes, if it is not scored, or sentence
by sentence, each after it was scored, up to the first that the knowledge does not
support. Only one reply is asked for, so there is nothing to choose from.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from parlai_q2.claims import Label, Score
from parlai_q2.generate.protocol import STREAM_END
from parlai_q2.io.knowledge import as_field
from parlai_q2.json_values import JsonMapping, JsonObject
from parlai_q2.rerank import Pool
from parlai_q2.serve.answers import (
    make_chunk,
    make_delta,
    unscored_grounding,
    write_event,
)
from parlai_q2.serve.grounded import GroundedChat
from parlai_q2.serve.request import ChatRequest, Unscored
from parlai_q2.text.messages import split_message
from parlai_q2.text.sentences import sentences
from parlai_q2.turns import Span

SCORED, STOPPED = 'each sentence was scored', 'stopped before an unsupported sentence'


async def pass_on(
    chat: GroundedChat, request: ChatRequest, authorization: str
) -> AsyncIterator[bytes]:
    """The events of a reply that is not scored."""
    assert request.unscored is not None
    grounding = unscored_grounding(request.unscored)
    chat.count(grounding)
    async with aclosing(_stream(chat, request, authorization)) as chunks:
        async for chunk in chunks:
            if any(choice.get('finish_reason') for choice in chunk['choices']):
                chunk['grounding'] = grounding
            yield write_event(chunk)
    yield write_event(STREAM_END)


async def stream_sentences(
    chat: GroundedChat, request: ChatRequest, authorization: str
) -> AsyncIterator[bytes]:
    """The events of a reply that is scored sentence by sentence."""
    reply = _Reply(chat, request)
    last: JsonObject = {}
    async with aclosing(_stream(chat, request, authorization)) as chunks:
        async for chunk in chunks:
            first = not last
            last = chunk
            if first:
                role = make_delta(0, {'role': 'assistant', 'content': ''})
                yield write_event(make_chunk(chunk, role))
            choice = chunk['choices'][0] if chunk['choices'] else {}
            delta = choice.get('delta') or {}
            if reply.is_text(delta):
                async for text in reply.add(delta.get('content') or ''):
                    yield write_event(
                        make_chunk(chunk, make_delta(0, {'content': text}))
                    )
                if reply.is_stopped:
                    break
                reply.finish_reason = choice.get('finish_reason') or reply.finish_reason
                if chunk['choices'] or not chunk.get('usage'):
                    continue
                reply.usage = chunk['usage']
            else:
                if choice.get('finish_reason'):
                    chunk['grounding'] = unscored_grounding(Unscored.TOOL_CALLS)
                yield write_event(chunk)
    if reply.is_scored:
        async for text in reply.end():
            yield write_event(make_chunk(last, make_delta(0, {'content': text})))
        grounding = reply.grounding()
        chat.count(grounding)
        end = make_delta(0, {}, reply.finish_reason or 'stop')
        yield write_event(make_chunk(last, end, grounding=grounding))
        if reply.usage:
            yield write_event(make_chunk(last, usage=reply.usage))
    yield write_event(STREAM_END)


def _stream(
    chat: GroundedChat, request: ChatRequest, authorization: str
) -> AsyncGenerator[JsonObject]:
    fields = {**request.fields, 'n': request.choices}
    if request.has_usage:
        fields['stream_options'] = {'include_usage': True}
    return chat.connection.stream(fields, authorization)


@dataclass
class _Reply:
    """A reply that grows, and the sentences of it that were sent."""

    chat: GroundedChat
    request: ChatRequest
    raw: str = ''
    sent: int = 0
    scores: list[tuple[Span, Score]] = field(default_factory=list)
    is_stopped: bool = False
    is_scored: bool = True
    abstained: bool = False
    finish_reason: str = ''
    usage: Any = None

    def is_text(self, delta: JsonMapping) -> bool:
        """Whether the reply is text so far; otherwise the rest is passed on."""
        names = ('tool_calls', 'function_call', 'refusal', 'audio')
        if any(delta.get(name) for name in names):
            self.is_scored = False
        return self.is_scored

    async def add(self, piece: str) -> AsyncIterator[str]:
        """Add a piece, and give the sentences that are complete and supported."""
        self.raw += piece
        # Without a mark, no sentence ends.
        if piece.strip(' ') and (piece.isspace() or any(c in '.!?\n ' for c in piece)):
            async for text in self._send(complete=False):
                yield text

    async def end(self) -> AsyncIterator[str]:
        """Give the last sentence, or what stands for a reply without any."""
        if not self.is_stopped:
            async for text in self._send(complete=True):
                yield text
        if self.is_stopped and not self.sent:
            self.abstained = True
            yield self.chat.settings.abstain_text

    async def _send(self, complete: bool) -> AsyncIterator[str]:
        visible = split_message(self.raw.lstrip()).text
        spans = sentences(visible[self.sent :])
        offset = self.sent
        for span in spans if complete else spans[:-1]:
            pool = Pool(self.request.passages, [span.text])
            score = (await self.chat.rank(pool)).chosen.score
            start, end = offset + span.start, offset + span.end
            if score is not None:
                if self._is_unsupported(score):
                    self.is_stopped = True
                    return
                self.scores.append((Span(span.text, start, end), score))
            text, self.sent = visible[self.sent : end], end
            yield text

    def _is_unsupported(self, score: Score) -> bool:
        least = self.chat.reranker.rule.abstain_below
        return score.label == Label.INCONSISTENT or (
            least is not None and score.verifiable and score.value < least
        )

    def grounding(self) -> JsonObject:
        """The field ``grounding``: what was sent, with the score of each sentence."""
        judged = [score for _, score in self.scores if score.verifiable]
        label = Label.CONSISTENT if judged else Label.NOT_VERIFIABLE
        claims: list[JsonObject] = []
        for span, score in self.scores:
            claims += [
                shift_claim(claim.to_dict(), span.start) for claim in score.claims
            ]
        return {
            'scored': bool(self.scores),
            'score': min((score.value for score in judged), default=None),
            'label': str(label) if self.scores else None,
            'reason': STOPPED if self.is_stopped else SCORED,
            'abstained': self.abstained,
            'knowledge': str(self.request.source),
            'passages': as_field(self.request.passages),
            'claims': claims,
            'sentences': [
                {
                    'text': span.text,
                    'span': [span.start, span.end],
                    'score': score.value,
                    'label': str(score.label),
                }
                for span, score in self.scores
            ],
        }


def shift_claim(claim: JsonObject, offset: int) -> JsonObject:
    """A claim's fields with the offsets of a reply that begins so far before it."""
    fields = {**claim, 'span': [place + offset for place in claim['span']]}
    if 'mistake' in claim:
        fields['mistake'] = shift_claim(claim['mistake'], offset)
    return fields
