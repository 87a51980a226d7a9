"""
The lines of JSON that runs write, one a record, and reading them back. Each has a
``kind``:

- ``score``: a record with its :class:`~parlai_q2.claims.Score`;
- ``ranking``: a pool with its :class:`~parlai_q2.rerank.Ranking`, and the ``text`` that
  is said;
- ``error``: a record that could be neither, with its ``line`` and its ``error``.

A turn of a world log, which ParlAI writes, has the same in fields of its messages: the
score in ``q2_evidence``, the ranking in ``rerank`` and the fields that begin so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Optional

from parlai_q2.claims import Kind, Score, not_verifiable
from parlai_q2.earlier import upgraded
from parlai_q2.errors import InputError, RecordError
from parlai_q2.io.knowledge import stripped
from parlai_q2.io.read import history_of
from parlai_q2.rerank.candidate import Ranking
from parlai_q2.turns import Example, Passage, passages_of
from parlai_q2.typed import is_number, list_in, mapping, text_in

# The fields that each kind of line has besides those of its record.
SCORE_FIELDS = ('kind', 'score', 'label', 'fallback', 'claims', 'parts', 'signature')
ERROR_FIELDS = ('kind', 'line', 'error')
RANKING_FIELDS = (
    'kind',
    'text',
    'order',
    'reason',
    'abstained',
    'grounded',
    'rerank',
    'rerank_knowledge',
    'rerank_signature',
)
# Scores up to 0.6 had these, without a kind; those from 0.5 also statements.
EARLIER = ('score', 'label', 'fallback', 'verdicts', 'parts')
EARLIER_ALSO = ('statements', 'signature')
# What no record's own field may be called beside a score.
OURS = (*SCORE_FIELDS, *ERROR_FIELDS, *EARLIER, *EARLIER_ALSO)


@dataclass(frozen=True)
class Judged:
    """
    A response with its score, as it is reported.

    :param example: the response, its knowledge (as it was read) and its history.
    :param annotation: what a person called it; empty if nobody did.
    :param ranking: the candidates that it was chosen from, if it was.
    :param annotations: what people called them, in the ranking's order, or None.
    """

    example: Example
    score: Score
    annotation: str = ''
    ranking: Optional[Ranking] = None
    annotations: Sequence[Optional[str]] = ()


def score_line(fields: Mapping[str, Any], score: Score) -> dict[str, Any]:
    """The line of a record with its score; the signature stands once a file."""
    found = score.to_dict()
    del found['signature']
    return {**passed_through(fields), **found}


def ranking_line(
    fields: Mapping[str, Any], ranking: Ranking, said: str, signature: str
) -> dict[str, Any]:
    """
    The line of a pool with its ranking.

    :param said: the reply: the chosen candidate, or another text.
    :param signature: of the scorer that chose.
    """
    given = {k: v for k, v in fields.items() if k not in RANKING_FIELDS}
    found = {**ranking.to_dict(), 'text': said, 'rerank_signature': signature}
    return {**given, **found}


def error_line(
    fields: Mapping[str, Any], line: int, error: RecordError, kind: Kind
) -> dict[str, Any]:
    """The line of a record that could not be scored or ranked, as ``kind`` says."""
    if kind == Kind.RANKING:
        given = {k: v for k, v in fields.items() if k not in RANKING_FIELDS}
    else:
        given = passed_through(fields)
    return {**given, 'kind': str(Kind.ERROR), 'line': line, 'error': str(error)}


def passed_through(fields: Mapping[str, Any]) -> dict[str, Any]:
    """
    A record's own fields, as they are written next to its score or error.

    Fields that an earlier run wrote are left out. Any other field with one of our
    names, such as an annotator's ``label``, is kept as ``given_label``.
    """
    passed = {k: v for k, v in fields.items() if k not in OURS}
    written = _written_before(fields)
    for name in (n for n in fields if n in OURS and n not in written):
        given = f'given_{name}'
        while given in passed:
            given = f'given_{given}'
        passed[given] = fields[name]
    return passed


def _written_before(fields: Mapping[str, Any]) -> set[str]:
    """The names of the fields that an earlier run wrote."""
    written: set[str] = set()
    if fields.keys() >= set(SCORE_FIELDS) - {'signature'}:
        written.update(SCORE_FIELDS)
    if fields.keys() >= set(EARLIER):
        written.update(EARLIER, EARLIER_ALSO)
    # A message of RecordError, left in a record that somebody has since corrected.
    place = f', line {fields.get("line")}: '
    if 'line' in fields and place in str(fields.get('error')):
        written.update(ERROR_FIELDS)
    # Of a file that was ranked before.
    if fields.get('kind') in tuple(Kind):
        written.add('kind')
    return written


def kind_of(fields: Mapping[str, Any]) -> Kind:
    """The kind of a line; of one without, such as of an earlier release, what it is."""
    for kind in Kind:
        if fields.get('kind') == kind:
            return kind
    # A pool that could not be ranked may have a label of its own.
    failed = 'error' in fields and ('label' not in fields or 'line' in fields)
    if failed and not {'abstained', 'verdicts'} & fields.keys():
        return Kind.ERROR
    # A pool that was made of scored records has verdicts too, on its old response.
    response = fields.get('response')
    scored_again = 'verdicts' in fields and fields.get('text', response) == response
    ranked = 'abstained' in fields and not scored_again
    return Kind.RANKING if ranked else Kind.SCORE


def read_line(fields: Mapping[str, Any]) -> Judged:
    """
    What a line says of its response.

    :raises InputError: when it is the line of an error, or a field, which is named, has
        another type.
    """
    fields, kind = mapping(fields, 'a scored record'), kind_of(fields)
    if kind == Kind.ERROR:
        raise InputError(f'it was not scored: {fields["error"]}')
    fields = upgraded(fields)
    if kind == Kind.RANKING:
        return _of_pool(fields)
    example = _example(fields, 'response')
    # Of a record whose score comes later, the signature stands in its first line.
    return Judged(
        example,
        Score.from_dict(fields),
        str(fields.get('q2_label') or ''),
        _ranking(fields, example.knowledge) if list_in(fields, 'rerank') else None,
    )


def read_logged_turn(fields: Mapping[str, Any]) -> Judged:
    """
    What a turn of a world log says of the reply.

    :param fields: as :func:`~parlai_q2.io.world_logs.turns_of` gives them.
    :raises InputError: when it has neither a score nor a ranking.
    """
    fields, ranking = upgraded(fields), None
    example = _example(fields, 'response')
    rows = fields.get('rerank')
    # A log has a string in place of a field that could not be written, and an empty
    # field where it was not used.
    if isinstance(rows, list) and rows and all(isinstance(r, Mapping) for r in rows):
        ranking = _ranking(fields, example.knowledge)
    annotation, evidence = str(fields.get('q2_label') or ''), fields.get('q2_evidence')
    if isinstance(evidence, Mapping) and 'score' in evidence:
        return Judged(example, Score.from_dict(evidence), annotation, ranking)
    if ranking is None:
        raise InputError(
            f'turn {fields.get("id")} has neither q2_evidence nor a reranked choice. '
            'Evaluate with a Q2 teacher or the reranking agent, and --world-logs.'
        )
    return _chosen(example, ranking, annotation)


def _example(fields: Mapping[str, Any], response: str) -> Example:
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
        history_of(fields),
        None if name is None else str(name),
    )


def _ranking(fields: Mapping[str, Any], known: tuple[Passage, ...]) -> Ranking:
    judged_by = passages_of(fields.get('rerank_knowledge') or '') or known
    return Ranking.from_dict({**fields, 'rerank_knowledge': judged_by})


def _of_pool(fields: Mapping[str, Any]) -> Judged:
    example = _example(fields, 'text')
    # The reranker stripped the knowledge, and spans are offsets into what it saw.
    passages = stripped(example.knowledge)
    try:
        given = [fields['candidates'][place] for place in fields['order']]
        ranking = Ranking.from_dict({**fields, 'rerank_knowledge': passages})
        pairs = list(zip(ranking.candidates, given, strict=True))
    except (LookupError, TypeError, ValueError) as e:
        raise InputError(
            "'candidates', 'order' and 'rerank' do not match each other. Rerank "
            'the pools again: parlai_q2 rerank'
        ) from e
    said = [one if isinstance(one, Mapping) else {} for one in given]
    # The row itself has 0 for a missing generator's score.
    scores: list[Any] = [one.get('score') for one in said]
    candidates = tuple(
        replace(one, generator_score=float(s) if is_number(s) else float('-inf'))
        for (one, _), s in zip(pairs, scores, strict=True)
    )
    ranking = replace(ranking, candidates=candidates)
    labels = [one.get('label') for one in said]
    annotation = '' if ranking.abstain else str(labels[0] or '')
    judged = _chosen(example, ranking, annotation)
    return replace(judged, annotations=labels)


def _chosen(example: Example, ranking: Ranking, annotation: str) -> Judged:
    """What was chosen, with the score that it was chosen by."""
    chosen = ranking.chosen
    if ranking.passages and chosen.score is None:
        raise InputError(f'turn {example.id} was reranked without scores')
    score = chosen.shown or not_verifiable()
    if chosen.text.strip() != example.response.strip():
        # Something else was said, so there is nothing to verify.
        score = not_verifiable(ranking.signature)
    known = ranking.passages or example.knowledge
    example = Example(known, example.response, example.history, example.id)
    return Judged(example, score, annotation, ranking)
