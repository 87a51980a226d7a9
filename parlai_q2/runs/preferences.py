"""
Pairs of a preferred and a rejected reply, made from ranked candidates, in the format
that TRL's DPO trainer reads: ``prompt``, ``chosen`` and ``rejected``.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from parlai_q2.claims import Kind, Label
from parlai_q2.errors import InputError
from parlai_q2.io.fields import NO_NAMES
from parlai_q2.io.files import Location, shards_in
from parlai_q2.io.formats import Format
from parlai_q2.io.parquet import is_parquet
from parlai_q2.io.read import Record, knowledge_of, parse_lines, read_history
from parlai_q2.models.prompts import Prompt
from parlai_q2.turns import joined, passages_of

# The minimum difference of the scores of a pair.
DEFAULT_MARGIN = 0.3


def choose_pair(
    rows: Sequence[Mapping[str, Any]], margin: float = DEFAULT_MARGIN
) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    """
    Choose the rows of the best and the worst candidate of a ranking.

    :param margin: the minimum difference of their scores after the guards.
    :return: None if the best one is no good example (not consistent, or caught by a
        guard), or no other is worse by the margin.
    """
    scored = [
        row
        for row in rows
        if row['guarded_score'] is not None and row['label'] != Label.NOT_VERIFIABLE
    ]
    if not scored or scored[0] is not rows[0]:
        return None
    best, worst = scored[0], min(scored, key=lambda row: row['guarded_score'])
    if best['label'] != Label.CONSISTENT or best['guards']:
        return None
    enough = best['guarded_score'] - worst['guarded_score'] >= margin
    return (best, worst) if enough and worst is not best else None


def pair_record(
    fields: Mapping[str, Any], prompt: Prompt, margin: float = DEFAULT_MARGIN
) -> dict[str, Any] | None:
    """
    Make the pair of a turn, as TRL reads it, with both scores.

    :param fields: a turn with ``rerank`` and ``knowledge``, and perhaps ``history``.
    :return: None if no two of its candidates make a pair.
    :raises InputError: when these are missing, or not as ``rerank`` writes them; or for
        a turn that could not be ranked.
    """
    rows = fields.get('rerank')
    try:
        if fields.get('kind') == Kind.ERROR:
            raise InputError(str(fields['error']))
        pair = None
        if rows and not _is_withheld(rows, fields):
            pair = choose_pair(rows, margin)
        if rows is None or 'knowledge' not in fields:
            raise TypeError
        passages = passages_of(knowledge_of(fields))
        knowledge = joined(passages)
        if pair is None:
            return None
        best, worst = pair
        return {
            'prompt': prompt.render(read_history(fields), knowledge),
            'chosen': best['text'],
            'rejected': worst['text'],
            'score_chosen': best['guarded_score'],
            'score_rejected': worst['guarded_score'],
        }
    except (TypeError, KeyError) as e:
        raise InputError(
            'has no ranked candidates with their knowledge ("rerank", "knowledge"). '
            'Rank them first: parlai_q2 rerank'
        ) from e


def _is_withheld(rows: Sequence[Mapping[str, Any]], fields: Mapping[str, Any]) -> bool:
    """Whether another text was returned instead of the best candidate."""
    if fields.get('kind') == Kind.RANKING:
        return bool(fields.get('abstained'))
    # The fields are a turn of a log.
    reply = str(fields.get('response', rows[0]['text']))
    return reply.strip() != str(rows[0]['text']).strip()


def read_pairs(path: Location, prompt: Prompt, margin: float) -> Iterator[Record]:
    """
    Yield the turns of a file that ``rerank`` wrote, or of the reranking agent's log
    (``--world-logs``), each parsed to its pair (:func:`pair_record`); or those of a
    folder of such files, with its manifest.
    """
    if path.is_dir():
        for shard in shards_in(path):
            yield from read_pairs(shard, prompt, margin)
        return
    format = Format.PARQUET if is_parquet(path) else Format.JSONL
    parse = partial(pair_record, prompt=prompt, margin=margin)
    yield from parse_lines(path, format, NO_NAMES, (), parse)
