"""
Answers a chat request: asks the upstream server for replies, ranks them by the
knowledge, has the best one revised if requested, and reports the result.
"""

import asyncio
import logging
import re
import time
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import chain

from parlai_q2.claims import Label, Status
from parlai_q2.cli.serve_settings import ServeSettings
from parlai_q2.errors import ServerError
from parlai_q2.generate.chat_completions import Completion, add_usage, read_logprobs
from parlai_q2.generate.server import ChatServer, Connection
from parlai_q2.io.knowledge import KnowledgeGrounder
from parlai_q2.json_values import JsonMapping, JsonObject
from parlai_q2.options import Word
from parlai_q2.rerank import Candidate, Pool, Ranking, Reranker
from parlai_q2.rerank.choice import SURE_RELEVANCE, Reason
from parlai_q2.rerank.subjects import SubjectKind, find_subject_kinds
from parlai_q2.runs.file_run import CALLS
from parlai_q2.serve.batches import MAX_ITEMS, Batcher
from parlai_q2.serve.metrics import Metrics, ServeStep
from parlai_q2.serve.request import (
    ChatRequest,
    KnowledgeOrigin,
    Unscored,
    check_knowledge,
    find_unscored,
    read_request,
)
from parlai_q2.text.messages import split_message, visible_text
from parlai_q2.text.questions import only_greets
from parlai_q2.text.sentences import sentences
from parlai_q2.turns import Span

UPSTREAM = ('upstream',)
TOOL_FIELDS = ('tools', 'tool_choice', 'parallel_tool_calls')
# The characters of knowledge, turn and replies from which on a pool takes so long that
# others do not wait for it.
LONG = 10_000
# Stands for the label of a reply without one.
NOT_SCORED = 'not_scored'
REVISE = """\
The knowledge does not support this in your last reply:
{claims}
Write the reply again without that. What you say must agree with this knowledge. Give
only the reply.

{knowledge}"""
_UNSUPPORTED = (Status.UNSUPPORTED, Status.CONTRADICTED)
# A sentence that begins so leans on the one before.
_LEANS = re.compile(r'(and|also|but|so|then|thus|therefore|however|otherwise)\b', re.I)

log = logging.getLogger('parlai_q2.serve')


class Revision(Word):
    """What was done about a reply with unsupported claims."""

    REVISED = 'revised'  # the upstream server wrote it again
    SHORTENED = 'shortened'  # unsupported sentences were removed
    UNCHANGED = 'kept'  # neither was better


@dataclass(frozen=True)
class ChatAnswer:
    """
    An answer to a chat request.

    :param completion: the upstream server's, with the chosen replies.
    :param source: where the knowledge was from.
    :param ranking: None if the reply was not scored.
    :param unscored: why not.
    :param revision: what was done about unsupported claims; None if nothing was.
    :param is_declined: whether the documents have no answer, so that nobody was asked.
    """

    completion: Completion
    source: KnowledgeOrigin = KnowledgeOrigin.NONE
    ranking: Ranking | None = None
    unscored: Unscored | None = None
    revision: Revision | None = None
    is_declined: bool = False


class GroundedChat:
    """
    Answers chat requests.

    :param server: the upstream server.
    :param reranker: ranks the replies; its models are loaded by :meth:`open`.
    :param grounder: searches documents, if there are some.
    """

    def __init__(
        self,
        server: ChatServer,
        reranker: Reranker,
        settings: ServeSettings,
        grounder: KnowledgeGrounder | None = None,
    ):
        self.server, self.reranker, self.settings = server, reranker, settings
        self.grounder, self.metrics = grounder, Metrics()
        # Hashes of models and their settings, whose replies begin with no unmarked
        # thoughts.
        self.plain_models: set[int] = set()
        self.connection: Connection
        self._asking = 0

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Load the models, and connect to the upstream server."""
        seconds = self.settings.window_ms / 1000
        calls, others = (CALLS, 2) if self.reranker.is_thread_safe else (1, 0)
        with ThreadPoolExecutor(calls + others, 'models') as threads:
            self._rank = self._rank_long = Batcher(
                self._rank_pools, threads, seconds, calls, lambda: self._asking
            )
            if others:
                self._rank_long = Batcher(self._rank_pools, threads, 0.0, max_items=1)
            if self.grounder is not None:
                self._search = Batcher(self.grounder.ground, threads, seconds)
            await asyncio.get_running_loop().run_in_executor(
                threads, load_models, self.reranker
            )
            async with self.server.connect() as self.connection:
                yield

    def count(self, grounding: JsonMapping) -> None:
        """Count an answer by what its evidence says."""
        self.metrics.labels.labels(grounding.get('label') or NOT_SCORED).inc()
        if grounding['abstained']:
            self.metrics.abstentions.inc()

    def _rank_pools(self, pools: Sequence[Pool]) -> list[Ranking]:
        return self.reranker.explained(self.reranker.rank_batch(pools))

    async def rank(self, pool: Pool) -> Ranking:
        """Rank a pool, together with those of other requests if it is not long."""
        replies = (candidate.text for candidate in pool.candidates)
        is_long = sum(map(len, (*pool.texts, pool.text, *replies))) > LONG
        with self.metrics.timed(ServeStep.SCORE):
            return await (self._rank_long if is_long else self._rank)(pool)

    async def rank_all(self, pools: Sequence[Pool]) -> list[Ranking]:
        """Rank pools, a few at a time, so that other requests need not wait for all."""
        free = asyncio.Semaphore(CALLS * MAX_ITEMS)

        async def rank(pool: Pool) -> Ranking:
            async with free:
                return await self.rank(pool)

        return await asyncio.gather(*map(rank, pools))

    async def read(self, body: JsonObject) -> ChatRequest:
        """Read a request, and find its knowledge."""
        settings = self.settings
        request = read_request(body, settings.markers, settings.prompt)
        request = await self._search_for(request)
        if request.unscored is None and not request.is_declined:
            check_knowledge(request.passages, settings.max_knowledge)
        return request

    async def _search_for(self, request: ChatRequest) -> ChatRequest:
        """The request with knowledge of the documents, if they have some for it."""
        if (
            request.unscored is None
            and self.grounder is not None
            and request.source != KnowledgeOrigin.FIELD
        ):
            with self.metrics.timed(ServeStep.SEARCH):
                found = await self._search(request.history)
            source = KnowledgeOrigin.INDEX
            in_messages = request.source == KnowledgeOrigin.MESSAGES
            if found.declined and not in_messages:
                return replace(request, source=source, is_declined=True)
            if found.passages and not found.declined:
                prompt = self.settings.prompt
                request = request.with_knowledge(found.passages, source, prompt)
            elif found.courtesy:
                return replace(request, courtesy=found.courtesy)
        return request if request.unscored else self._unscored_without(request)

    def _unscored_without(self, request: ChatRequest) -> ChatRequest:
        """The request, as one that is not scored if there is nothing to score by."""
        rule = self.reranker.rule
        abstains = rule.abstain_below is not None and rule.abstain_unverified
        if request.passages or abstains:
            return request
        return replace(request, unscored=Unscored.NO_KNOWLEDGE)

    async def _search_replies(
        self, request: ChatRequest, replies: Sequence[str]
    ) -> ChatRequest:
        """
        The request with what the documents have on replies to small talk, which itself
        asks nothing of them.
        """
        with self.metrics.timed(ServeStep.SEARCH):
            searches = (self._search((reply,)) for reply in dict.fromkeys(replies))
            results = await asyncio.gather(*searches)
        passages = dict.fromkeys(chain.from_iterable(r.passages for r in results))
        if passages:
            source = KnowledgeOrigin.INDEX
            request = replace(request, passages=tuple(passages), source=source)
        return self._unscored_without(request)

    async def answer(self, request: ChatRequest, authorization: str) -> ChatAnswer:
        """
        Answer a request.

        :param authorization: the client's header, for the upstream server.
        :raises ServerError: if that fails.
        """
        if request.is_declined:
            return self._decline(request)
        # Without sampling, all replies are the same.
        is_sampled = request.fields.get('temperature') != 0
        wants_several = request.unscored is None and is_sampled
        number = max(request.choices, self.settings.candidates if wants_several else 1)
        completion = await self._ask(request.fields, number, authorization)
        choices = completion['choices']
        readable = [c for c in choices if find_unscored(c) is None]
        unscored = request.unscored or find_unscored(choices[0])
        if unscored == Unscored.EMPTY and readable:
            unscored = None
        candidates = list(map(_candidate, readable))
        if unscored is None and request.courtesy:
            polite = [c for c in candidates if only_greets(c.text)]
            if len(polite) >= request.choices:
                candidates, unscored = polite, Unscored.SMALL_TALK
            else:
                texts = [candidate.text for candidate in candidates]
                request = await self._search_replies(request, texts)
                unscored = request.unscored
            choices = list(map(_choice, candidates))
        if unscored is not None:
            completion = _with_choices(completion, choices[: request.choices])
            return ChatAnswer(completion, request.source, unscored=unscored)
        ranking = await self.rank(Pool(request.passages, candidates, request.history))
        score = ranking.chosen.score
        if request.courtesy and score is not None and score.label == Label.GENERIC:
            ranking = replace(ranking, abstain=False, reason=Reason.COURTESY)
        answer = ChatAnswer(completion, request.source, ranking)
        if self.settings.revise and _is_unsupported(ranking):
            with self.metrics.timed(ServeStep.REVISE):
                answer = await self._revise(request, answer, authorization)
        return self._choose(answer, request)

    async def _ask(
        self, fields: JsonMapping, number: int, authorization: str
    ) -> Completion:
        self._asking += 1
        try:
            with self.metrics.timed(ServeStep.UPSTREAM):
                return await self.connection.complete(fields, number, authorization)
        finally:
            self._asking -= 1

    def _choose(self, answer: ChatAnswer, request: ChatRequest) -> ChatAnswer:
        """The answer with only the replies that the client gets, best first."""
        assert answer.ranking is not None
        chosen = list(map(_choice, answer.ranking.candidates[: request.choices]))
        if answer.ranking.abstain:
            chosen = [abstention(request.courtesy or self.settings.abstain_text)]
        completion = _with_choices(answer.completion, chosen)
        return replace(answer, completion=completion)

    def _decline(self, request: ChatRequest) -> ChatAnswer:
        completion = {
            'id': 'chatcmpl-abstained',
            'object': 'chat.completion',
            'created': int(time.time()),
            'model': str(request.fields.get('model') or ''),
            'choices': [abstention(self.settings.abstain_text)],
            'usage': {'prompt_tokens': 0, 'completion_tokens': 0, 'total_tokens': 0},
        }
        return ChatAnswer(completion, request.source, is_declined=True)

    async def _revise(
        self, request: ChatRequest, answer: ChatAnswer, authorization: str
    ) -> ChatAnswer:
        """Have the best reply written again, or shorten it, if that is better."""
        ranking = answer.ranking
        assert ranking is not None
        best = ranking.chosen
        claims = '\n'.join(f'- {text}' for text in _find_unsupported(best))
        revision_request = REVISE.format(claims=claims, knowledge=ranking.knowledge)
        messages = [
            *request.fields['messages'],
            {'role': 'assistant', 'content': best.text},
            {'role': 'user', 'content': revision_request},
        ]
        fields = {n: v for n, v in request.fields.items() if n not in TOOL_FIELDS}
        try:
            revised = await self._ask(
                {**fields, 'messages': messages}, 1, authorization
            )
        except ServerError as error:
            # There is a reply, if not a better one.
            log.warning(f'A reply was not revised: {error.status}')
            revised = {'choices': []}
        usage_fields = (answer.completion.get('usage'), revised.get('usage'))
        if usages := [usage for usage in usage_fields if isinstance(usage, dict)]:
            answer.completion['usage'] = add_usage(usages)
        for choice in revised['choices']:
            if find_unscored(choice) is None:
                better = await self._put_first(ranking, _candidate(choice), request)
                if better is not None:
                    return replace(answer, ranking=better, revision=Revision.REVISED)
        shorter = await self._shorten(best, request)
        if shorter is not None:
            better = await self._put_first(ranking, shorter, request)
            if better is not None:
                return replace(answer, ranking=better, revision=Revision.SHORTENED)
        return replace(answer, revision=Revision.UNCHANGED)

    async def _put_first(
        self, ranking: Ranking, other: Candidate, request: ChatRequest
    ) -> Ranking | None:
        """
        The ranking with another candidate first, if that is better: it wins against the
        best one, is better grounded, and answers as well or well enough; else None.
        """
        best = replace(ranking.chosen, evidence=None, answer=None)
        pool = Pool(request.passages, [best, other], request.history)
        duel = await self.rank(pool)
        winner = duel.chosen
        if winner.place != 1 or winner.score is None or best.score is None:
            return None
        if winner.score.value <= best.score.value:
            return None
        if (winner.relevance or 0.0) < min(best.relevance or 0.0, SURE_RELEVANCE):
            return None  # grounded, but beside the point
        winner = replace(winner, place=len(ranking.candidates))
        return replace(
            ranking,
            candidates=(winner, *ranking.candidates),
            reason=duel.reason,
            abstain=duel.abstain,
        )

    async def _shorten(self, best: Candidate, request: ChatRequest) -> Candidate | None:
        """
        The reply without its unsupported sentences, if the rest reads well.

        Each sentence is ranked alone. Claims do not tell: some scorers have none, and
        those of the scorer that explains mark parts of sentences that are consistent.
        """
        spans = sentences(best.text)
        if len(spans) < 2:
            return None
        pools = [Pool(request.passages, [span.text]) for span in spans]
        rankings = await asyncio.gather(*map(self.rank, pools))
        scores = [ranking.chosen.score for ranking in rankings]
        is_kept = [s is None or s.label != Label.INCONSISTENT for s in scores]
        text = _keep_sentences(best.text, spans, is_kept)
        if all(is_kept) or text is None:
            return None
        choice = _choice(best)
        # Log probabilities are those of the whole reply.
        rest = {name: value for name, value in choice.items() if name != 'logprobs'}
        return _candidate({**rest, 'message': {**choice['message'], 'content': text}})


def load_models(reranker: Reranker) -> None:
    """Load what a reranker loads when it is first used."""
    pool = Pool('Keller built it in 1903.', ['Keller built it.'], ['Who built it?'])
    reranker.explained(reranker.rank_batch([pool]))


def abstention(text: str) -> JsonObject:
    """The choice of a reply that is withheld."""
    message = {'role': 'assistant', 'content': text}
    return {'index': 0, 'message': message, 'finish_reason': 'stop'}


def _candidate(choice: JsonObject) -> Candidate:
    text = visible_text(choice['message']).strip()
    logprobs = read_logprobs(choice)
    total = sum(logprobs) if logprobs else None
    mean = None if total is None else total / len(logprobs)
    return Candidate(text, UPSTREAM, total, mean, source=dict(choice))


def _choice(candidate: Candidate) -> JsonObject:
    """
    A candidate as a choice of the protocol, whose content is the text that was scored.
    """
    choice = candidate.source
    message = {**choice['message'], 'content': candidate.text}
    thoughts = split_message(choice['message']).thoughts
    if thoughts and not message.get('reasoning_content'):
        message['reasoning_content'] = thoughts
    return {**choice, 'message': message}


def _with_choices(completion: Completion, choices: Sequence[JsonObject]) -> Completion:
    numbered = [{**choice, 'index': place} for place, choice in enumerate(choices)]
    return {**completion, 'choices': numbered}


def _find_unsupported(candidate: Candidate) -> list[str]:
    """The words that a reply is wrong or unsupported in; all, if nothing is marked."""
    score = candidate.displayed_score
    claims = score.claims if score is not None else ()
    texts = [claim.span.text for claim in claims if claim.status in _UNSUPPORTED]
    return texts or [candidate.text]


def _is_unsupported(ranking: Ranking) -> bool:
    score = ranking.chosen.displayed_score
    return score is not None and (
        score.label == Label.INCONSISTENT
        or any(claim.status in _UNSUPPORTED for claim in score.claims)
    )


def _keep_sentences(
    text: str, spans: Sequence[Span], is_kept: Sequence[bool]
) -> str | None:
    """
    Some sentences of a text, each with what stands before it, such as a line break;
    None if nothing is kept, or a kept sentence leans on one that is not.
    """
    kept_text, end, is_last_kept = '', 0, True
    for span, is_span_kept in zip(spans, is_kept, strict=True):
        if is_span_kept:
            if not is_last_kept and _leans(span.text):
                return None
            kept_text += text[end : span.end]
        end, is_last_kept = span.end, is_span_kept
    return kept_text if kept_text.strip() else None


def _leans(sentence: str) -> bool:
    """Whether a sentence cannot do without the one before it."""
    (kind,) = find_subject_kinds([sentence])
    return kind == SubjectKind.PRONOUN or bool(_LEANS.match(sentence))
