"""
Streams what the upstream server streams: as it comes, if it is not scored, or sentence
by sentence, each after it was scored, up to the first that the knowledge does not
support. Only one reply is asked for, so there is nothing to choose from.

What cannot be taken back is sent late: thoughts with the first sentence, and, if the
rule abstains from what cannot be verified, all sentences before the first that can. The
first reply of a model is sent at its end: only then is it known whether the model's
replies begin with thoughts that no tag opens.
"""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from parlai_q2.claims import Label, Score
from parlai_q2.generate.chat_completions import STREAM_END
from parlai_q2.json_values import JsonObject
from parlai_q2.rerank import Pool, Ranking
from parlai_q2.serve.answers import (
    rounded,
    unscored_grounding,
    write_chunk,
    write_delta,
    write_event,
)
from parlai_q2.serve.grounded import GroundedChat
from parlai_q2.serve.request import ChatRequest, Unscored, find_unscored
from parlai_q2.text.messages import Reply, split_message
from parlai_q2.text.sentences import may_go_on, sentences
from parlai_q2.turns import Span, as_field

THOUGHTS, NOTHING = 'reasoning_content', Reply('')
# A sentence that ended, and the first letter after it.
_BEGUN = re.compile(r'(?:[.!?]["\')\]]*\s|\n)\s*\S')
# Letters before a piece in which its beginning may end a sentence.
_BEFORE = 20
# For how many models, with their settings, is kept that their replies begin plainly.
MAX_MODELS = 1000
SCORED, STOPPED = 'each sentence was scored', 'stopped before an unsupported sentence'


async def pass_on(
    chat: GroundedChat, request: ChatRequest, authorization: str
) -> AsyncIterator[bytes]:
    """The events of a reply that is not scored."""
    assert request.unscored is not None
    grounding = unscored_grounding(request.unscored)
    async with aclosing(_stream(chat, request, authorization)) as chunks:
        async for chunk in chunks:
            if any(choice.get('finish_reason') for choice in chunk['choices']):
                chunk['grounding'] = grounding
            yield write_event(chunk)
    chat.count(grounding)
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
            # The usage comes last.
            if reply.is_over and not request.has_usage:
                break
    async for delta in reply.end():
        yield write_delta(last, delta)
    grounding = reply.grounding()
    chat.count(grounding)
    reason = reply.finish_reason or 'stop'
    yield write_delta(last, {}, 0, reason, grounding=grounding)
    if reply.usage and request.has_usage:
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

    :param raw: all that came so far.
    :param reply: what people see of that, and its thoughts.
    :param scored_end: the offset in the visible text up to which it was scored.
    :param sent_end: the offset in the visible text up to which it was sent.
    :param early_length: the length of what was sent before, and was thoughts after all.
    :param held_fields: other fields, such as thoughts, to send with the next sentence.
    :param sent_thoughts: whether the thoughts were sent, or are held.
    :param scores: the sentences that were scored, with offsets in all that was sent.
    :param unsupported: the score of the sentence that it stopped before.
    :param unscored: why it is not scored; None if it is.
    :param reason: why it stopped, or may be sent without a sentence that was verified.
    """

    chat: GroundedChat
    request: ChatRequest
    raw: str = ''
    reply: Reply = NOTHING
    scored_end: int = 0
    sent_end: int = 0
    early_length: int = 0
    held_fields: list[JsonObject] = field(default_factory=list)
    sent_thoughts: bool = False
    scores: list[tuple[Span, Score]] = field(default_factory=list)
    unsupported: Score | None = None
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
    def _model_settings(self) -> int:
        """The hash of what decides whether a reply begins with thoughts."""
        fields = self.request.fields
        return hash((str(fields.get('model')), str(fields.get('chat_template_kwargs'))))

    async def add(self, delta: JsonObject) -> AsyncIterator[JsonObject]:
        """Add a piece, and give what may be sent."""
        content = delta.get('content')
        piece = content if isinstance(content, str) else ''
        self.raw += piece
        rest = {n: v for n, v in delta.items() if v and n not in ('role', 'content')}
        unscored = find_unscored({'message': {**rest, 'content': '.'}})
        self.unscored = self.unscored or unscored
        if self.unscored is not None:
            self._split_thoughts()
            for ready in self._release(len(self.visible)):
                yield ready
            if rest:
                yield rest
            return
        if rest:
            self.held_fields.append(rest)
        # Reading all that came so far, again for each piece, would take long.
        if piece and _BEGUN.search(self.raw[-len(piece) - _BEFORE :]):
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
        elif not self.is_stopped and self.sent_end < self.scored_end:
            ranking = await self._rank(self.visible, self.request.history)
            self.is_stopped, self.reason = ranking.abstain, str(ranking.reason)
            if not self.is_stopped:
                for piece in self._release(self.scored_end):
                    yield piece
        if self.is_stopped:
            self.finish_reason = 'stop'
            if not self.sent_end + self.early_length:
                self.abstained = True
                yield {'content': self.chat.settings.abstain_text}

    async def _send(self, is_complete: bool) -> AsyncIterator[JsonObject]:
        """Score the sentences that are complete, and give those that may be sent."""
        if self.is_stopped:
            return
        self._split_thoughts()
        models = self.chat.plain_models
        if is_complete and self.raw:
            models.discard(self._model_settings)
            if len(models) >= MAX_MODELS:
                models.clear()
            if not _begins_with_thoughts(self.raw, self.reply):
                models.add(self._model_settings)
        elif self._model_settings not in models and not self.reply.thoughts:
            # What came so far may be thoughts, whose end has a tag.
            return
        spans, offset = sentences(self.visible[self.scored_end :]), self.scored_end
        if not is_complete:
            last = spans.pop().text if spans else ''
            if spans and may_go_on(spans[-1].text, last):
                spans.pop()
        for span in spans:
            ranking = await self._rank(span.text)
            score = ranking.chosen.score
            self.scored_end = offset + span.end
            if score is not None:
                if self._is_unsupported(score):
                    self.is_stopped, self.reason = True, STOPPED
                    self.unsupported = score
                    return
                shift = self.early_length + offset
                place = Span(span.text, shift + span.start, shift + span.end)
                self.scores.append((place, score))
            if not self._must_wait():
                for piece in self._release(self.scored_end):
                    yield piece

    @property
    def visible(self) -> str:
        """What people see of it so far."""
        return self.reply.text

    def _split_thoughts(self) -> None:
        """Tell apart what people see and the thoughts in all that came so far."""
        sent = self.visible[: self.sent_end]
        self.reply = split_message(self.raw.lstrip())
        if not self.visible.startswith(sent):
            self.early_length += self.sent_end
            self.scored_end = self.sent_end = 0

    async def _rank(self, text: str, history: Sequence[str] = ()) -> Ranking:
        return await self.chat.rank(Pool(self.request.passages, [text], history))

    def _release(self, end: int) -> Iterator[JsonObject]:
        """What may be sent now: fields that were held, and the text up to a place."""
        text, self.sent_end = self.visible[self.sent_end : end], end
        thoughts = self.reply.thoughts
        if thoughts and not self.sent_thoughts:
            self.sent_thoughts = True
            if not any(THOUGHTS in fields for fields in self.held_fields):
                self.held_fields.append({THOUGHTS: thoughts})
        yield from self.held_fields
        self.held_fields = []
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
        """
        The field ``grounding``: what was sent, with the score of each sentence; of a
        reply that is withheld, the score that it was withheld for.
        """
        if self.unscored is not None:
            return unscored_grounding(self.unscored)
        judged = [score for _, score in self.scores if score.verifiable]
        label: str = Label.CONSISTENT if judged else Label.NOT_VERIFIABLE
        if self.scores and all(s.label == Label.GENERIC for _, s in self.scores):
            label = Label.GENERIC
        is_scored = bool(self.scores)
        if self.abstained and self.unsupported is not None:
            judged, is_scored = [self.unsupported], True
            label = self.unsupported.label
        scores = [] if self.abstained else self.scores
        claims: list[JsonObject] = []
        for span, score in scores:
            claims += [
                shift_claim(claim.to_dict(), span.start) for claim in score.claims
            ]
        return {
            'scored': is_scored,
            'score': rounded(min((s.value for s in judged), default=None)),
            'label': str(label) if is_scored else None,
            'reason': self.reason,
            'abstained': self.abstained,
            'knowledge': str(self.request.source),
            'passages': as_field(self.request.passages),
            'claims': claims,
            'sentences': [
                {
                    'text': span.text,
                    'span': [span.start, span.end],
                    'score': rounded(score.value),
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
