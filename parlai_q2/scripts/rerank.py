"""
``parlai_q2 rerank``: ranks candidates that were generated elsewhere by how grounded
each is in its knowledge and, if they are labelled, reports how much that helps.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Optional

from parlai_q2.bootstrap import Interval, mean_interval
from parlai_q2.cli import log
from parlai_q2.cli.files import given_files, tell_signature
from parlai_q2.cli.progress import Progress
from parlai_q2.cli.rerank_options import add_choice_options, reranker_from_opt
from parlai_q2.cli.scorer_options import add_scorer_options
from parlai_q2.errors import InputError
from parlai_q2.io.strict_json import write_json
from parlai_q2.io.write import AGAIN, meta_of, whole_file, writable, write_text, writing
from parlai_q2.records import Label
from parlai_q2.rerank import Pool, Ranking, Reranker, read_pools
from parlai_q2.rerank.reranker import DEFAULT_SCORER

# Pools in one call of the scorer.
CHUNK = 16
# The fields of a reranked pool; those of an earlier run say nothing about this one.
WRITTEN = ('text', 'order', 'reason', 'abstained', 'rerank', 'rerank_signature')
POLICIES = ('chosen', 'first', 'random', 'oracle')


def add_options(parser: Any) -> None:
    """Add the command's options."""
    group = parser.add_argument_group('Reranking a file')
    group.add_argument(
        '--infile',
        help='JSON lines file with knowledge, candidates and, optionally, history and '
        'id',
    )
    group.add_argument('--outfile', help='JSON lines file to write')
    add_choice_options(parser)
    add_scorer_options(parser, scorer=DEFAULT_SCORER)


def run(opt: Mapping[str, Any]) -> dict[str, Any]:
    """Rerank the file that options name; return the summary written beside it."""
    infile, outfile = given_files(opt)
    outfile = writable(outfile, infile)
    reranker = reranker_from_opt(opt)
    pools = list(read_pools(infile))
    if not pools:
        raise InputError(f'{infile} has no records.')
    for pool in pools:
        if pool.error:
            log.error(f'Not reranked: {pool.error}')
    good = [pool for pool in pools if not pool.error]
    found = rank(good, reranker)
    rankings = [ranking for ranking, _ in found]
    signature, abstain_text = str(reranker.scorer.signature), opt['abstain_text']
    of_pools, lines = iter(found), []
    for pool in pools:
        ranking, rows = (None, []) if pool.error else next(of_pools)
        line = line_of(pool, ranking, rows, abstain_text, signature)
        lines.append(write_json(line) + '\n')
    summary: dict[str, Any] = {
        'signature': signature,
        'pools': len(pools),
        'bad': len(pools) - len(good),
        'changed': sum(r.chosen is not r.first for r in rankings),
    }
    nulled = Counter(name for pool in pools for name in pool.nulled)
    if nulled:
        summary['nulled'] = dict(nulled)
        log.warning(f'Null was written for NaN or Infinity in: {", ".join(nulled)}.')
    pairs = zip(good, rankings, strict=True)
    labelled = [(pool, ranking) for pool, ranking in pairs if pool.labelled]
    if labelled:
        rates = hallucination_rates(labelled)
        summary['labelled'] = len(labelled)
        summary['hallucination_rate'] = {k: v._asdict() for k, v in rates.items()}
        log.info(f'Hallucination rate over {len(labelled)} labelled pools:')
        for policy, interval in rates.items():
            log.info(f'  {policy:<7} {interval}')
    with writing(outfile, AGAIN):
        with whole_file(outfile) as unfinished:
            unfinished.write_bytes(''.join(lines).encode('utf-8'))
            # Deleted first, so that no summary is ever beside another run's file.
            meta_of(outfile).unlink(missing_ok=True)
        write_text(meta_of(outfile), json.dumps(summary, indent=1) + '\n')
    log.info(
        f'Wrote {outfile}: {len(good)} reranked, {summary["changed"]} of them '
        'with a different first choice.'
    )
    tell_signature(signature, outfile)
    if not good:
        raise InputError(
            f'None of the {len(pools)} pools in {infile} could be reranked. '
            f'{outfile} says what is wrong with each.'
        )
    return summary


def rank(
    pools: Sequence[Pool], reranker: Reranker
) -> list[tuple[Ranking, list[dict[str, Any]]]]:
    """The ranking of each pool, and its rows with the evidence of the choices."""
    found = []
    with Progress(reranker.scorer.name, len(pools), 'pools') as bar:
        for start in range(0, len(pools), CHUNK):
            chunk = pools[start : start + CHUNK]
            ranked = [(r, r.rows()) for r in reranker.rank_batch(chunk)]
            reranker.explain(
                [
                    (ranking.passages, pool.history, rows)
                    for pool, (ranking, rows) in zip(chunk, ranked, strict=True)
                ]
            )
            found += ranked
            bar.update(len(chunk))
    return found


def line_of(
    pool: Pool,
    ranking: Optional[Ranking],
    rows: list[dict[str, Any]],
    abstain_text: str,
    signature: str,
) -> dict[str, Any]:
    """
    The line to write for a pool: its fields, the chosen text, the order and the
    evidence; or an error, if there is no ranking.
    """
    given = {name: value for name, value in pool.fields.items() if name not in WRITTEN}
    if ranking is None:
        return {**given, 'line': pool.line, 'error': str(pool.error)}
    return {
        **given,
        'text': abstain_text if ranking.abstain else ranking.chosen.text,
        'order': ranking.order,
        'reason': ranking.reason,
        'abstained': ranking.abstain,
        'rerank': rows,
        'rerank_signature': signature,
    }


def hallucination_rates(ranked: Sequence[tuple[Pool, Ranking]]) -> dict[str, Interval]:
    """
    How often each way of choosing gives an inconsistent response, by the labels of
    pools: the rate of each policy, with its 95 % interval over pools. The policies are
    the reranker's choice (which says nothing where it abstains), the first candidate, a
    random choice (in expectation), and the best possible choice.
    """
    values: dict[str, list[float]] = {policy: [] for policy in POLICIES}
    for pool, ranking in ranked:
        wrong = [float(label == Label.INCONSISTENT) for label in pool.labels]
        chosen = 0.0 if ranking.abstain else wrong[ranking.chosen.place]
        values['chosen'].append(chosen)
        values['first'].append(wrong[0])
        values['random'].append(sum(wrong) / len(wrong))
        values['oracle'].append(min(wrong))
    return {policy: mean_interval(found) for policy, found in values.items()}
