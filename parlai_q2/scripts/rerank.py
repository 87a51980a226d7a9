"""
``parlai_q2 rerank``: ranks candidates that were generated elsewhere by how grounded
each is in its knowledge and, if they are labelled, reports how much that helps.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Optional

from parlai_q2.bootstrap import Interval, mean_interval
from parlai_q2.claims import Label
from parlai_q2.cli import log
from parlai_q2.cli.files import given_files, tell_signature
from parlai_q2.cli.progress import Progress
from parlai_q2.cli.rerank_options import add_choice_options, reranker_from_opt
from parlai_q2.cli.scorer_options import add_scorer_options
from parlai_q2.errors import InputError
from parlai_q2.io.strict_json import write_json
from parlai_q2.io.write import AGAIN, meta_of, whole_file, writable, write_text, writing
from parlai_q2.rerank import Pool, PoolRecord, Ranking, Reranker, read_pools
from parlai_q2.scorers.roles import Role

# Pools in one call of the scorer.
CHUNK = 16
# The fields of a reranked pool; those of an earlier run say nothing about this one.
KIND = 'ranking'
WRITTEN = (
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
    add_scorer_options(parser, Role.CHOOSE, Role.EXPLAIN)


def run(opt: Mapping[str, Any]) -> dict[str, Any]:
    """Rerank the file that options name; return the summary written beside it."""
    infile, outfile = given_files(opt)
    outfile = writable(outfile, infile)
    reranker = reranker_from_opt(opt)
    records = list(read_pools(infile))
    if not records:
        raise InputError(f'{infile} has no records.')
    problems = log.Named('Not reranked')
    for record in records:
        if record.error:
            problems.add(record.error)
    good = [record for record in records if record.pool is not None]
    rankings = rank([record.pool for record in good if record.pool], reranker)
    signature, abstain_text = str(reranker.chooser.signature), opt['abstain_text']
    of_pools, lines = iter(rankings), []
    for record in records:
        ranking = next(of_pools) if record.pool else None
        line = line_of(record, ranking, abstain_text, signature)
        lines.append(write_json(line) + '\n')
    summary: dict[str, Any] = {
        'signature': signature,
        'pools': len(records),
        'bad': len(records) - len(good),
        'changed': sum(r.chosen is not r.first for r in rankings),
        'nothing_grounded': sum(bool(r.passages) and not r.grounded for r in rankings),
    }
    nulled = Counter(name for record in records for name in record.nulled)
    if nulled:
        summary['nulled'] = dict(nulled)
        log.warning(f'Null was written for NaN or Infinity in: {", ".join(nulled)}.')
    pairs = zip(good, rankings, strict=True)
    labelled = [(one, ranking) for one, ranking in pairs if one.labelled]
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
        f'with a different first choice; {summary["bad"]} not reranked.'
    )
    if summary['nothing_grounded']:
        log.warning(
            f'Nothing grounded in {summary["nothing_grounded"]} of them: no candidate '
            'is consistent with its knowledge ("grounded": false).'
        )
    tell_signature(reranker.chooser, outfile)
    if not good:
        raise InputError(
            f'None of the {len(records)} pools in {infile} could be reranked. '
            f'{outfile} says what is wrong with each.'
        )
    if summary['bad']:
        # The others are written; whoever goes on from here should know.
        raise InputError(
            f'{summary["bad"]} of the {len(records)} pools in {infile} were not '
            f'reranked. {outfile} has the others, and what is wrong with these.'
        )
    return summary


def rank(pools: Sequence[Pool], reranker: Reranker) -> list[Ranking]:
    """The ranking of each pool, with the evidence of the choices."""
    found: list[Ranking] = []
    with Progress(reranker.chooser.name, len(pools), 'pools') as bar:
        for start in range(0, len(pools), CHUNK):
            chunk = pools[start : start + CHUNK]
            found += reranker.explained(reranker.rank_batch(chunk))
            bar.update(len(chunk))
    return found


def line_of(
    record: PoolRecord, ranking: Optional[Ranking], abstain_text: str, signature: str
) -> dict[str, Any]:
    """
    The line to write for a pool: its fields, the chosen text, the order and the
    evidence; or an error, if there is no ranking.
    """
    fields = record.fields
    given = {name: value for name, value in fields.items() if name not in WRITTEN}
    if ranking is None:
        return {**given, 'line': record.line, 'error': str(record.error)}
    return {
        **given,
        'kind': KIND,
        'text': abstain_text if ranking.abstain else ranking.chosen.text,
        **ranking.to_dict(),
        'rerank_signature': signature,
    }


def hallucination_rates(
    ranked: Sequence[tuple[PoolRecord, Ranking]],
) -> dict[str, Interval]:
    """
    How often each way of choosing gives an inconsistent response, by the labels of
    pools: the rate of each policy, with its 95 % interval over pools. The policies are
    the reranker's choice (which says nothing where it abstains), the first candidate, a
    random choice (in expectation), and the best possible choice.
    """
    values: dict[str, list[float]] = {policy: [] for policy in POLICIES}
    for record, ranking in ranked:
        wrong = [float(label == Label.INCONSISTENT) for label in record.labels]
        chosen = 0.0 if ranking.abstain else wrong[ranking.chosen.place]
        values['chosen'].append(chosen)
        values['first'].append(wrong[0])
        values['random'].append(sum(wrong) / len(wrong))
        values['oracle'].append(min(wrong))
    return {policy: mean_interval(found) for policy, found in values.items()}
