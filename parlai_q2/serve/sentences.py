"""
Streams what the upstream server streams: as it comes, if it is not scored, or sentence
by sentence, each after it was scored, up to the first that the knowledge does not
support. Only one reply is asked for, so there is nothing to choose from.

What cannot be taken back is sent late: thoughts with the first sentence, and, if the
rule abstains from what cannot be verified, all sentences before the first that can. The
first reply of a model is sent at its end: only then is it known whether the model's
replies begin with thoughts that no tag opens.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from parlai_q2.claims import Label, Score
from parlai_q2.generate.protocol import STREAM_END
from parlai_q2.io.knowledge import as_field
from parlai_q2.json_values import JsonObject
from parlai_q2.rerank import Pool
from parlai_q2.serve.answers import (
    unscored_grounding,
    write_chunk,
    write_delta,
    write_event,
)
from parlai_q2.serve.grounded import GroundedChat
from parlai_q2.serve.request import ChatRequest, Unscored, find_unscored
from parlai_q2.text.messages import Reply, split_message
from parlai_q2.text.sentences import sentences
from parlai_q2.turns import Span

THOUGHTS, NOTHING = 'reasoning_content', Reply('')
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
            if not last:
                yield write_delta(chunk, {'role': 'assistant', 'content': ''})
            last = chunk
            reply.usage = chunk.get('usage') or reply.usage
            for choice in chunk['choices'][:1]:
                reply.finish_reason = choice.get('finish_reason') or reply.finish_reason
                async for delta in reply.add(choice.get('delta') or {}):
                    yield write_delta(chunk, delta)
            if reply.is_over:
                break
    async for delta in reply.end():
        yield write_delta(last, delta)
    grounding = reply.grounding()
    chat.count(grounding)
    reason = reply.finish_reason or 'stop'
    yield write_delta(last, {}, 0, reason, grounding=grounding)
    if reply.usage:
        yield write_chunk(last, usage=reply.usage)
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
    """
    A reply that grows, and what of it was sent.

    :param reply: what people see of it so far, and its thoughts.
    :param read: up to where that was scored, and ``sent``: up to where it was sent.
    :param before: the length of what was sent, and turned out to be thoughts.
    :param waiting: other fields, such as thoughts, which go with the first sentence.
    :param unscored: why it is not scored; None if it is.
    :param reason: why it stopped, or may be sent without a sentence that was verified.
    """

    chat: GroundedChat
    request: ChatRequest
    raw: str = ''
    reply: Reply = NOTHING
    read: int = 0
    sent: int = 0
    before: int = 0
    waiting: list[JsonObject] = field(default_factory=list)
    has_thoughts: bool = False
    scores: list[tuple[Span, Score]] = field(default_factory=list)
    unscored: Unscored | None = None
    is_stopped: bool = False
    abstained: bool = False
    reason: str = SCORED
    finish_reason: str = ''
    usage: Any = None

    @property
    def is_over(self) -> bool:
        """Whether nothing that may come will be sent: a call of a tool would be."""
        can_call = any(self.request.fields.get(n) for n in ('tools', 'functions'))
        return self.is_stopped and not can_call

    @property
    def _model(self) -> tuple[str, str]:
        """What decides whether a reply begins with thoughts."""
        fields = self.request.fields
        return str(fields.get('model')), str(fields.get('chat_template_kwargs'))

    async def add(self, delta: JsonObject) -> AsyncIterator[JsonObject]:
        """Add a piece, and give what may be sent."""
        content = delta.get('content')
        piece = content if isinstance(content, str) else ''
        self.raw += piece
        rest = {n: v for n, v in delta.items() if v and n not in ('role', 'content')}
        unscored = find_unscored({'message': {**rest, 'content': '.'}})
        self.unscored = self.unscored or unscored
        if self.unscored is not None:
            self._read()
            for ready in self._release(len(self.visible)):
                yield ready
            if rest:
                yield rest
            return
        if rest:
            self.waiting.append(rest)
        # Without a mark, no sentence ends.
        if piece.strip(' ') and (piece.isspace() or any(c in '.!?\n ' for c in piece)):
            async for text in self._send(is_complete=False):
                yield text

    async def end(self) -> AsyncIterator[JsonObject]:
        """Give the last sentences, or what stands for a reply without any."""
        if self.unscored is not None:
            return
        async for piece in self._send(is_complete=True):
            yield piece
        if not self.visible.strip():
            self.unscored = Unscored.EMPTY
            for piece in self._release(0):
                yield piece
        elif not self.is_stopped and self.sent < self.read:
            pool = Pool(self.request.passages, [self.visible], self.request.history)
            ranking = await self.chat.rank(pool)
            self.is_stopped, self.reason = ranking.abstain, str(ranking.reason)
            if not self.is_stopped:
                for piece in self._release(self.read):
                    yield piece
        if self.is_stopped:
            self.finish_reason = 'stop'
            if not self.sent + self.before:
                self.abstained = True
                yield {'content': self.chat.settings.abstain_text}

    async def _send(self, is_complete: bool) -> AsyncIterator[JsonObject]:
        """Score the sentences that are complete, and give those that may be sent."""
        if self.is_stopped:
            return
        self._read()
        models = self.chat.plain_models
        if is_complete and self.raw:
            models.discard(self._model)
            if not _begins_with_thoughts(self.raw, self.reply):
                models.add(self._model)
        elif self._model not in models and not self.reply.thoughts:
            # What came so far may be thoughts, whose end has a tag.
            return
        spans, offset = sentences(self.visible[self.read :]), self.read
        for span in spans if is_complete else spans[:-1]:
            ranking = await self.chat.rank(Pool(self.request.passages, [span.text]))
            score = ranking.chosen.score
            start, self.read = offset + span.start, offset + span.end
            if score is not None:
                if self._is_unsupported(score):
                    self.is_stopped, self.reason = True, STOPPED
                    return
                place = Span(span.text, self.before + start, self.before + self.read)
                self.scores.append((place, score))
            if not self._must_wait():
                for piece in self._release(self.read):
                    yield piece

    @property
    def visible(self) -> str:
        """What people see of it so far."""
        return self.reply.text

    def _read(self) -> None:
        """Read what came so far."""
        sent, self.reply = self.visible[: self.sent], split_message(self.raw.lstrip())
        if not self.visible.startswith(sent):
            self.before += self.sent
            self.read = self.sent = 0

    def _release(self, end: int) -> Iterator[JsonObject]:
        """What may be sent now: fields that were held, and the text up to a place."""
        text, self.sent = self.visible[self.sent : end], end
        thoughts = self.reply.thoughts
        if thoughts and not self.has_thoughts:
            self.has_thoughts = True
            if not any(THOUGHTS in fields for fields in self.waiting):
                self.waiting.append({THOUGHTS: thoughts})
        yield from self.waiting
        self.waiting = []
        if text:
            yield {'content': text}

    def _must_wait(self) -> bool:
        """Whether nothing may be sent before a sentence was verified."""
        rule = self.chat.reranker.rule
        if rule.abstain_below is None or not rule.abstain_unverified:
            return False
        return not any(score.verifiable for _, score in self.scores)

    def _is_unsupported(self, score: Score) -> bool:
        least = self.chat.reranker.rule.abstain_below
        return score.label == Label.INCONSISTENT or (
            least is not None and score.verifiable and score.value < least
        )

    def grounding(self) -> JsonObject:
        """The field ``grounding``: what was sent, with the score of each sentence."""
        if self.unscored is not None:
            return unscored_grounding(self.unscored)
        judged = [score for _, score in self.scores if score.verifiable]
        label = Label.CONSISTENT if judged else Label.NOT_VERIFIABLE
        if self.scores and all(s.label == Label.GENERIC for _, s in self.scores):
            label = Label.GENERIC
        scores = [] if self.abstained else self.scores
        claims: list[JsonObject] = []
        for span, score in scores:
            claims += [
                shift_claim(claim.to_dict(), span.start) for claim in score.claims
            ]
        return {
            'scored': bool(self.scores),
            'score': min((score.value for score in judged), default=None),
            'label': str(label) if self.scores else None,
            'reason': self.reason,
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
                for span, score in scores
            ],
        }


def _begins_with_thoughts(raw: str, reply: Reply) -> bool:
    """Whether a reply begins with thoughts, without a tag before them."""
    first = reply.thoughts.partition('\n')[0]
    return bool(first) and raw.lstrip().startswith(first)


def shift_claim(claim: JsonObject, offset: int) -> JsonObject:
    """A claim's fields with the offsets of a reply that begins so far before it."""
    fields = {**claim, 'span': [place + offset for place in claim['span']]}
    if 'mistake' in claim:
        fields['mistake'] = shift_claim(claim['mistake'], offset)
    return fields
