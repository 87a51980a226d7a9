"""
``parlai_q2 retrieve``: finds passages in an index, for words or for the turns of a
file, and measures how often they are those that replies rest on.
"""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from parlai_q2.cli import log
from parlai_q2.cli.log import Progress
from parlai_q2.errors import ConfigError, InputError
from parlai_q2.io.write import (
    AGAIN,
    as_write_error,
    locate_summary,
    writable,
    write_lines,
    write_text,
)
from parlai_q2.json_values import JsonMapping, JsonObject, write_json
from parlai_q2.options import OptionParser, Options
from parlai_q2.report.terminal import render_passages
from parlai_q2.retrieve.index import Index
from parlai_q2.retrieve.measure import (
    GoldTurn,
    Recall,
    find_rank,
    measure_recall,
    read_gold_turns,
)
from parlai_q2.retrieve.retriever import Hit
from parlai_q2.retrieve.search import QueryFrom, SearchBy

CHUNK = 64
# The number of passages to search for the mean reciprocal rank.
DEPTH = 100


def add_options(parser: OptionParser) -> None:
    parser.add_argument('query', nargs='*', help='what to look for')
    parser.add_argument('--knowledge-index', help='an index that parlai_q2 index wrote')
    parser.add_argument(
        '--knowledge-passages',
        type=int,
        help='how many passages to show; default: the setting of the index',
    )
    parser.add_argument(
        '--knowledge-search',
        choices=tuple(SearchBy),
        help='search by words, by the vectors of an encoder (dense), or by '
        'both (fused); default: the setting of the index',
    )
    parser.add_argument(
        '--infile',
        help='instead of a query, a file of turns with history and, to '
        'measure recall, the knowledge of the reply: jsonl, csv or tsv, also '
        'gzip or xz',
    )
    parser.add_argument('--outfile', help='JSON lines file for the results')
    parser.add_argument(
        '--query-from',
        choices=tuple(QueryFrom),
        help='the turns that make the query: last, two (the last two), names (these '
        'and the names in earlier ones) or turns (all); default: the setting of the '
        'index',
    )
    parser.add_argument(
        '--held-out',
        type='bool',
        default=False,
        help='use only the fifth of the passages that no shipped model was fitted to',
    )
    parser.add_argument(
        '--num-examples', type=int, default=-1, help='how many turns to use; -1: all'
    )


def run(opt: Options) -> Any:
    """
    Search for the words or the file that options name. Return the hits for words; for a
    file with knowledge, the recall.
    """
    if not opt['knowledge_index']:
        raise ConfigError('--knowledge-index is missing. Give a folder: INDEX')
    if bool(opt['query']) == bool(opt['infile']):
        raise ConfigError(
            'Give either words to look for, or a file of turns with --infile.'
        )
    outfile = Path(opt['outfile']) if opt['outfile'] else None
    if outfile is not None:
        outfile = writable(outfile, *([Path(opt['infile'])] if opt['infile'] else []))
    index = Index(
        opt['knowledge_index'],
        by=opt['knowledge_search'],
        query=opt['query_from'],
        passages=opt['knowledge_passages'],
    )
    k = index.how.passages
    log.info(f'{index.folder}: {len(index):,} passages. Signature: {index.signature}')
    if opt['query']:
        query = ' '.join(opt['query'])
        (hits,) = index.search([query], k)
        log.show_result(
            render_passages([hit.passage for hit in hits], [hit.score for hit in hits])
        )
        if outfile is not None:
            _write(
                outfile, [describe_hits(query, hits)], {'signature': index.signature}
            )
        return hits
    turns = [
        turn
        for turn in read_gold_turns(Path(opt['infile']))
        if turn.is_held_out or not opt['held_out']
    ]
    if opt['num_examples'] >= 0:
        turns = turns[: opt['num_examples']]
    if not turns:
        raise InputError(f'{opt["infile"]} has no turn with a history.')
    if outfile is None and not any(turn.gold for turn in turns):
        raise ConfigError(
            f'{opt["infile"]} has no knowledge to measure with. To write the '
            'results, give --outfile found.jsonl'
        )
    return _search_turns(index, turns, outfile)


def _search_turns(
    index: Index, turns: Sequence[GoldTurn], outfile: Path | None
) -> Recall | None:
    k, how = index.how.passages, index.how
    ranks, lines = list[int](), list[JsonObject]()
    with Progress('retrieve', len(turns), 'turns') as bar:
        for start in range(0, len(turns), CHUNK):
            chunk = turns[start : start + CHUNK]
            queries = [index.query(turn.history) for turn in chunk]
            results = index.search(queries, max(k, DEPTH))
            for turn, query, hits in zip(chunk, queries, results, strict=True):
                line = describe_hits(query, hits[:k])
                if turn.gold:
                    rank = find_rank(turn.gold, [hit.passage.text for hit in hits])
                    ranks.append(rank)
                    line['rank'] = rank
                lines.append(line)
            bar.update(len(chunk))
    recall = measure_recall(ranks) if ranks else None
    if recall is not None:
        for cut, interval in recall.recall.items():
            log.show_result(f'recall@{cut:<3} {interval}')
        log.show_result(
            f'MRR@{DEPTH}   {recall.mrr}  '
            f'({recall.count:,} turns, {how.by}, query: {how.query})'
        )
    if outfile is not None:
        summary = {
            **(asdict(recall) if recall else {}),
            'query': how.query,
            'search': how.by,
            'signature': index.signature,
        }
        _write(outfile, lines, summary)
    return recall


def describe_hits(query: str, hits: Sequence[Hit]) -> JsonObject:
    """The hits for a query, as JSON-safe values."""
    passages = [
        {
            'text': hit.passage.text,
            'title': hit.passage.title,
            'source': hit.passage.source and hit.passage.source._asdict(),
            'score': hit.score,
        }
        for hit in hits
    ]
    return {'query': query, 'passages': passages}


def _write(outfile: Path, lines: Sequence[Any], summary: JsonMapping) -> None:
    with as_write_error(outfile, AGAIN):
        write_lines(outfile, lines)
        write_text(locate_summary(outfile), write_json(summary, indent=1) + '\n')
    log.info(f'Wrote {outfile}.')
