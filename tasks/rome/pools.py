"""
Writes the crowd's annotations as pools of candidates for ``parlai_q2 rerank``::

    python -m parlai_q2.tasks.rome.pools --part gt --outfile pools.jsonl

A pool is one context with the responses of twelve generators. The largest model with
beam search comes first: its response is what a system without reranking would say. A
candidate's label is ``inconsistent`` if the crowd saw a hallucination, else
``consistent``: a response with nothing to verify makes nothing up.
"""

import json
from collections import Counter
from typing import Any, Iterable, Sequence

import parlai.utils.logging as logging
from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript

from parlai_q2.cli.files import given_file
from parlai_q2.cli.log import run_module
from parlai_q2.evaluate.sets import AnnotatedResponse
from parlai_q2.io.write import write_text
from parlai_q2.records import Label
from parlai_q2.tasks.rome.reader import (
    CROWD_PARTS,
    DECODINGS,
    HALLUCINATION_RULE,
    MODELS,
    read_part,
)

ORDER = [(model, how) for model in MODELS.values() for how in DECODINGS.values()]


class RomePools(ParlaiScript):
    """Write the crowd's annotations as pools of candidates."""

    @classmethod
    def setup_args(cls):
        parser = ParlaiParser(True, False, 'Write the pools of rome')
        group = parser.add_argument_group('Pools')
        group.add_argument(
            '--part',
            choices=CROWD_PARTS,
            default='gt',
            help='which knowledge the generators were given: the true one (gt), or '
            'one retrieved by nearest neighbours (knn) or by DPR (dpr)',
        )
        group.add_argument(
            '--only-verifiable',
            type='bool',
            default=False,
            help='leave out candidates with nothing to verify, and pools that are '
            'then left with fewer than two candidates',
        )
        group.add_argument(
            '--outfile', type=str, default=None, help='JSON lines file to write'
        )
        return parser

    def run(self) -> list[dict[str, Any]]:
        outfile = given_file(self.opt, 'outfile')
        turns = read_part(self.opt['datapath'], [self.opt['part'], HALLUCINATION_RULE])
        if self.opt['only_verifiable']:
            turns = [turn for turn in turns if turn.label != Label.GENERIC]
        pools = pools_of(turns)
        if self.opt['only_verifiable']:
            pools = [pool for pool in pools if len(pool['candidates']) > 1]
        write_text(outfile, ''.join(json.dumps(pool) + '\n' for pool in pools))
        sizes = Counter(len(pool['candidates']) for pool in pools)
        shown = ', '.join(f'{n} of {size}' for size, n in sorted(sizes.items()))
        logging.info(f'Wrote {outfile}: {len(pools)} pools ({shown} candidates).')
        return pools


def pools_of(turns: Sequence[AnnotatedResponse]) -> list[dict[str, Any]]:
    """
    Group the responses to the same context.

    :param turns: the turns of one part.
    :return: pools that :mod:`parlai_q2.rerank.pools` can read, in the order in which
        their contexts first occur.
    """
    contexts: dict[tuple[str, str], list[AnnotatedResponse]] = {}
    for turn in turns:
        contexts.setdefault((turn.more['conv_index'], turn.text), []).append(turn)
    return [
        _pool(knowledge, members)
        for found in contexts.values()
        for knowledge, members in _by_knowledge(found).items()
    ]


def _by_knowledge(
    turns: Iterable[AnnotatedResponse],
) -> dict[str, list[AnnotatedResponse]]:
    """Group turns by knowledge; a passage cut at different lengths counts as one."""
    found: dict[str, list[AnnotatedResponse]] = {}
    for turn in sorted(turns, key=lambda turn: -len(turn.knowledge)):
        whole = [k for k in found if turn.knowledge and k.startswith(turn.knowledge)]
        found.setdefault(whole[0] if whole else turn.knowledge, []).append(turn)
    return found


def _pool(knowledge: str, turns: list[AnnotatedResponse]) -> dict[str, Any]:
    first = turns[0].more
    ordered = sorted(
        turns, key=lambda t: ORDER.index((t.more['model'], t.more['decoding']))
    )
    return {
        'id': f'{first["part"]}-{first["conv_index"]}',
        'history': first['history'],
        'knowledge': knowledge,
        'candidates': [_candidate(turn) for turn in ordered],
    }


def _candidate(turn: AnnotatedResponse) -> dict[str, Any]:
    inconsistent = turn.label == Label.INCONSISTENT
    return {
        'text': turn.response,
        'label': Label.INCONSISTENT if inconsistent else Label.CONSISTENT,
        'model': turn.more['model'],
        'decoding': turn.more['decoding'],
        'verifiable': turn.more['verifiable'],
        'factual': turn.more['factual'],
        'hallucination': turn.more['hallucination'],
    }


if __name__ == '__main__':
    run_module(RomePools.main)
