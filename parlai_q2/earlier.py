"""
Reads evidence as releases up to 0.6 wrote it: ``verdicts`` on questions or marked
words, and ``statements``, which are :class:`~parlai_q2.claims.Claim` now.
"""

from collections.abc import Mapping
from typing import Any

from parlai_q2.claims import STANCES, Comparison, Stance, Status
from parlai_q2.errors import InputError
from parlai_q2.typed import list_in, mapping

_STATUSES = {
    Comparison.EXACT: Status.SUPPORTED,
    Comparison.ENTAILMENT: Status.SUPPORTED,
    Comparison.NO_ANSWER: Status.UNSUPPORTED,
    Comparison.CONTRADICTION: Status.CONTRADICTED,
}
_LABELS = {'consistent': Status.SUPPORTED, 'generic': Status.GENERIC}
# Above this, a neutral verdict's F1, or the score of an unknown comparison, supported.
_AGREE = 0.5


def upgraded(fields: Mapping[str, Any]) -> dict[str, Any]:
    """
    A line, or the fields of a turn of a world log, with claims in place of verdicts and
    statements, also in the rows of its candidates. What has none is left as it is.

    :raises InputError: when they cannot be read.
    """
    found = _with_claims(fields)
    if isinstance(found.get('q2_evidence'), Mapping):
        found['q2_evidence'] = _with_claims(found['q2_evidence'])
    if isinstance(found.get('rerank'), (list, tuple)):
        found['rerank'] = [
            _row(row) if isinstance(row, Mapping) else row for row in found['rerank']
        ]
    return found


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    found, evidence = _with_claims(row), row.get('evidence')
    if isinstance(evidence, Mapping):
        found['evidence'] = _with_claims(evidence)
    elif evidence is not None:
        # Before 0.6, a signature: the evidence was in the row itself.
        found['evidence'] = {**found, 'signature': str(evidence)}
        if found.get('score') is None:
            found['evidence'] = None
    return found


def _with_claims(fields: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(fields)
    if 'claims' in found or not {'verdicts', 'statements'} & found.keys():
        return found
    verdicts, statements = list_in(found, 'verdicts'), list_in(found, 'statements')
    try:
        claims = [_of_verdict(mapping(one, 'a verdict')) for one in verdicts]
        # Marked words stand for the sentences that they are in.
        if all(claim['question'] for claim in claims):
            claims += [_of_statement(mapping(one, 'a statement')) for one in statements]
    except (KeyError, TypeError) as e:
        raise InputError(
            f'its evidence, of an earlier release, cannot be read: {e!r}'
        ) from e
    return {**found, 'claims': claims}


def _of_verdict(fields: Mapping[str, Any]) -> dict[str, Any]:
    comparison, f1, score = fields['comparison'], fields['f1'], fields['score']
    status = _STATUSES.get(comparison)
    if status is None:
        by_tokens = comparison in (Comparison.NEUTRAL, Comparison.F1)
        agrees = (f1 if by_tokens else score) > _AGREE
        status = Status.SUPPORTED if agrees else Status.UNSUPPORTED
    evidence = []
    if fields['knowledge_answer'] is not None:
        evidence.append(
            {
                'passage': fields.get('passage') or 0,
                'text': fields['knowledge_answer'],
                'span': fields['knowledge_span'],
                'stance': STANCES.get(status, Stance.NEITHER),
            }
        )
    return {
        'text': fields['response_answer'],
        'span': fields['response_span'],
        'support': score,
        'status': status,
        'evidence': evidence,
        'question': fields['question'],
        'comparison': comparison,
        'f1': f1,
    }


def _of_statement(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        'text': fields['text'],
        'span': fields['span'],
        'support': fields['score'],
        'status': _LABELS.get(fields['label'], Status.UNSUPPORTED),
        'evidence': [
            {
                'passage': one['passage'],
                'text': one['sentence'],
                'span': one['span'],
                'stance': Stance.FOR,
            }
            for one in fields['evidence']
        ],
    }
