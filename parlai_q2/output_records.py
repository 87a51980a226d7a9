"""
The JSON lines that runs write, one for each record, and reading them back. Each has a
``kind``:

- ``score``: a record with its :class:`~parlai_q2.claims.Score`;
- ``ranking``: a pool with its :class:`~parlai_q2.rerank.Ranking`, and the ``text`` of
  the reply;
- ``error``: a record that could not be processed, with its ``line`` and ``error``.

A turn of a world log, which ParlAI writes, has the same in fields of its messages: the
score in ``q2_evidence``, the ranking in ``rerank`` and ``rerank_...``.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from parlai_q2.claims import Kind, Score, not_verifiable
from parlai_q2.errors import InputError, RecordError
from parlai_q2.io.fields import free_name
from parlai_q2.io.read import read_history
from parlai_q2.json_values import JsonMapping, JsonObject, mapping, text_in
from parlai_q2.rerank.ranking import Ranking
from parlai_q2.turns import Example, Passage, passages_of, stripped

# The fields of each kind of line besides those of its record.
FIELDS: Mapping[Kind, tuple[str, ...]] = {
    Kind.SCORE: (
        *('kind', 'score', 'label', 'fallback', 'claims', 'parts', 'signature'),
    ),
    Kind.RANKING: (
        *('kind', 'text', 'order', 'reason', 'abstained', 'grounded'),
        *('rerank', 'rerank_knowledge', 'rerank_turn', 'rerank_signature'),
    ),
    Kind.ERROR: ('kind', 'line', 'error'),
}
OUR_FIELDS = frozenset(itertools.chain.from_iterable(FIELDS.values()))


@dataclass(frozen=True)
class Judged:
    """
    A response with its score, for reports; with a human annotation, the ranking that it
    was chosen from, and annotations of the candidates in the ranking's order, if any.
    """

    example: Example
    score: Score
    annotation: str = ''
    ranking: Ranking | None = None
    annotations: Sequence[str | None] = ()

    @property
    def abstained(self) -> bool:
        """Whether the response is a text instead of a candidate."""
        ranking, text = self.ranking, self.example.response.strip()
        if ranking is None:
            return False
        return ranking.abstain or all(c.text.strip() != text for c in ranking)


def score_line(fields: JsonMapping, score: Score) -> JsonObject:
    """Make the line of a scored record; the file has the signature only once."""
    ours = score.to_dict()
    del ours['signature']
    return {**keep_own_fields(fields, Kind.SCORE), **ours}


def ranking_line(
    fields: JsonMapping, ranking: Ranking, text: str, signature: str
) -> JsonObject:
    """
    Make the line of a pool with its ranking, the reply and the choice's signature.
    """
    ours = {**ranking.to_dict(), 'text': text, 'rerank_signature': signature}
    return {**keep_own_fields(fields, Kind.RANKING), **ours}


def error_line(
    fields: JsonMapping, line: int, error: RecordError, kind: Kind
) -> JsonObject:
    """Make the line of a record for which a line of this ``kind`` failed."""
    ours = {'kind': str(Kind.ERROR), 'line': line, 'error': str(error)}
    return {**keep_own_fields(fields, kind), **ours}


def keep_own_fields(fields: JsonMapping, kind: Kind) -> JsonObject:
    """
    Select a record's own fields for a line of some kind.

    Fields that an earlier run wrote are left out. Any other field with one of our
    names, such as an annotator's ``label``, is kept as ``given_label``.
    """
    reserved = {*FIELDS[kind], *FIELDS[Kind.ERROR]}
    if fields.get('rerank') and not has_ranking(fields):
        reserved.add('rerank')
    own_fields = {name: value for name, value in fields.items() if name not in reserved}
    earlier_kind = find_kind(fields)
    replaced = set(FIELDS[earlier_kind]) if earlier_kind else set()
    if not replaced - {'signature'} <= fields.keys():
        replaced = set()
    for name in fields:
        if name in reserved and name not in replaced:
            own_fields[free_name(name, own_fields)] = fields[name]
    return own_fields


def find_kind(fields: JsonMapping) -> Kind | None:
    """The kind of a line; None for a record that no run has written."""
    return next((kind for kind in Kind if fields.get('kind') == kind), None)


def has_ranking(fields: JsonMapping) -> bool:
    """
    Whether ``rerank`` has candidates as a reranker writes them. It may be a user's own
    field or, in a world log that could not hold it, a text.
    """
    rows = fields.get('rerank')
    return (
        isinstance(rows, list)
        and bool(rows)
        and all(isinstance(row, Mapping) for row in rows)
        and 'chosen' in rows[0]
    )


def read_line(fields: Mapping[str, Any]) -> Judged:
    """
    Read the response of a line with its score. A line without a kind, of another
    program, is read as a score; an InputError names a field of another type.
    """
    kind = find_kind(mapping(fields, 'a scored record'))
    if kind == Kind.ERROR:
        raise InputError(f'it was not scored: {fields["error"]}')
    if kind == Kind.RANKING:
        return _read_pool(fields)
    example = _example(fields, 'response')
    # Only the file's first line with a score has the signature.
    return Judged(
        example,
        Score.from_dict(fields),
        str(fields.get('q2_label') or ''),
        _ranking(fields, example.knowledge) if has_ranking(fields) else None,
    )


def read_logged_turn(fields: Mapping[str, Any]) -> Judged:
    """
    Read the reply of a turn of a world log with its score; an InputError without one.
    """
    example, ranking = _example(fields, 'response'), None
    if has_ranking(fields):
        ranking = _ranking(fields, example.knowledge)
    annotation, evidence = str(fields.get('q2_label') or ''), fields.get('q2_evidence')
    if isinstance(evidence, Mapping) and 'score' in evidence:
        return Judged(example, Score.from_dict(evidence), annotation, ranking)
    if ranking is None:
        raise InputError(
            f'turn {fields.get("id")} has neither q2_evidence nor a reranked choice. '
            'Evaluate with a Q2 teacher or the reranking agent, and --world-logs.'
        )
    return _judge_choice(example, ranking, annotation)


def _example(fields: JsonMapping, response: str) -> Example:
    knowledge = fields.get('knowledge')
    if knowledge is not None and not isinstance(knowledge, (str, list, tuple)):
        raise InputError(
            "'knowledge' must be a string or a list of passages, not a "
            f'{type(knowledge).__name__}'
        )
    name = fields.get('id')
    return Example(
        knowledge or '',
        text_in(fields, response),
        read_history(fields),
        None if name is None else str(name),
    )


def _ranking(fields: Mapping[str, Any], knowledge: tuple[Passage, ...]) -> Ranking:
    passages = passages_of(fields.get('rerank_knowledge') or '') or knowledge
    return Ranking.from_dict({**fields, 'rerank_knowledge': passages})


def _read_pool(fields: Mapping[str, Any]) -> Judged:
    example = _example(fields, 'text')
    # The reranker stripped the knowledge, and spans are offsets into that text.
    passages = stripped(example.knowledge)
    try:
        values = [fields['candidates'][index] for index in fields['order']]
        ranking = Ranking.from_dict({**fields, 'rerank_knowledge': passages})
        pairs = list(zip(ranking.candidates, values, strict=True))
    except (LookupError, TypeError, ValueError) as e:
        raise InputError(
            "'candidates', 'order' and 'rerank' do not match each other. Rerank "
            'the pools again: parlai_q2 rerank'
        ) from e
    labels = [
        value.get('label') if isinstance(value, Mapping) else None for _, value in pairs
    ]
    annotation = '' if ranking.abstain else str(labels[0] or '')
    judged = _judge_choice(example, ranking, annotation)
    return replace(judged, annotations=labels)


def _judge_choice(example: Example, ranking: Ranking, annotation: str) -> Judged:
    """The chosen response, with the score that it was chosen by."""
    chosen = ranking.chosen
    if ranking.passages and chosen.score is None:
        raise InputError(f'turn {example.id} was reranked without scores')
    score = chosen.displayed_score or not_verifiable()
    if chosen.text.strip() != example.response.strip():
        # The reply is a text instead of a candidate, so there is nothing to verify.
        score = not_verifiable(ranking.signature)
    passages = ranking.passages or example.knowledge
    example = Example(passages, example.response, example.history, example.id)
    return Judged(example, score, annotation, ranking)
