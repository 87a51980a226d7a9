"""
Makes the detector's rows from published NLI and FEVER files, and orders them.

    python -m parlai_q2.zoo.train.detector_rows --nli snli_1.0_train.jsonl \\
      --name snli --outfile cons.snli.jsonl
    python -m parlai_q2.zoo.train.detector_rows --fever train.jsonl \\
      --pages wiki-pages --name fever --outfile cons.fever.jsonl
    python -m parlai_q2.zoo.train.detector_rows --order cons.train.jsonl.xz \\
      --outfile detector.train.jsonl.gz

Rows have ``p`` (premise, or knowledge), ``h`` (hypothesis, or response), ``y`` (0
entailed, 1 unsupported, 2 contradicted, 3 generic) and ``src``.

SNLI, MultiNLI and sets in their format have ``sentence1``, ``sentence2`` and
``gold_label``; pairs without an agreed label ("-") are left out. FEVER (Thorne et al.
2018) has ``claim``, ``label`` and ``evidence``, which refers to sentences of pages in a
separate download; a claim with too little information has no evidence and is left out.

``--order`` puts first what is nearest to the detector's use, so that a run may end
early: dialogue turns with their knowledge, claims checked against an encyclopedia, and
premises as long as documents, at most :data:`MOST` rows of one source and class. All
other rows follow; each part is shuffled. ANLI is left out, since its licence (CC BY-NC
4.0) forbids commercial use.
"""

import argparse
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any, Iterable, Iterator, Mapping, Optional, Sequence

from parlai.utils import logging

from parlai_q2.errors import ConfigError, RecordError
from parlai_q2.zoo.train.data import Row, read_rows, write_rows

NLI_CLASSES = {'entailment': 0, 'neutral': 1, 'contradiction': 2}
FEVER_CLASSES = {'SUPPORTS': 0, 'REFUTES': 2}
LEFT_OUT = ('anli',)
# Sources of the first part, by how their names begin.
FIRST = (
    'd-',
    'fever',
    'climate-fever',
    'fool-me-twice',
    'halueval',
    'healthver',
    'wice',
    'scitail',
    'rte',
    'control',
)
MOST = 6500
# Sentence pairs that teach entailment in general, so many of each class.
GENERAL = {'mnli': 1500, 'lingnli': 2500, 'sick': 500, 'dnc': 500}


def nli_rows(records: Iterable[Mapping[str, Any]], name: str) -> Iterator[Row]:
    """
    The rows of an NLI file.

    :param records: ``sentence1`` (premise), ``sentence2`` (hypothesis), ``gold_label``.
    :param name: the source's name, for ``src``.
    :raises RecordError: for a label that is neither one of the three nor "-".
    """
    for line, record in enumerate(records, 1):
        label = record.get('gold_label')
        if label == '-':
            continue
        if label not in NLI_CLASSES:
            raise RecordError(
                name,
                line,
                f'gold_label is {label!r}, not one of {", ".join(NLI_CLASSES)} or "-".',
            )
        yield {
            'p': record['sentence1'],
            'h': record['sentence2'],
            'y': NLI_CLASSES[label],
            'src': name,
        }


def fever_rows(
    records: Iterable[Mapping[str, Any]],
    pages: Mapping[str, Mapping[int, str]],
    name: str,
) -> Iterator[Row]:
    """
    The rows of a FEVER file: each claim with each annotator's evidence.

    :param records: records with ``claim``, ``label`` and ``evidence``: sets of
        [annotation, evidence, page, sentence number].
    :param pages: for each page, its sentences by number.
    :param name: the source's name, for ``src``.
    :return: one row for each distinct set whose sentences are all known, with the
        sentences in the order of their numbers.
    """
    for record in records:
        label = FEVER_CLASSES.get(record['label'])
        if label is None:
            continue
        seen = set()
        for group in record['evidence']:
            places = tuple(sorted({(page, number) for _, _, page, number in group}))
            known = [pages.get(page, {}).get(number) for page, number in places]
            if places in seen or not all(known):
                continue
            seen.add(places)
            premise = ' '.join(s for s in known if s)
            yield {'p': premise, 'h': record['claim'], 'y': label, 'src': name}


def needed_pages(records: Iterable[Mapping[str, Any]]) -> set[str]:
    """The pages that the evidence in a FEVER file refers to."""
    return {
        page
        for record in records
        if record['label'] in FEVER_CLASSES
        for group in record['evidence']
        for _, _, page, _ in group
    }


def read_pages(folder: Path, wanted: set[str]) -> dict[str, dict[int, str]]:
    """
    The sentences of some pages in FEVER's dump of Wikipedia.

    :param folder: the folder with its ``*.jsonl``; each line is a page with ``id`` and
        ``lines``.
    :param wanted: the pages.
    :return: for each page, its sentences by number, with escaped brackets restored.
    """
    pages: dict[str, dict[int, str]] = {}
    for path in sorted(folder.glob('*.jsonl')):
        with open(path, encoding='utf-8') as stream:
            for line in stream:
                page = json.loads(line)
                if page['id'] in wanted:
                    pages[page['id']] = _sentences(page['lines'])
    return pages


def _sentences(lines: str) -> dict[int, str]:
    found = {}
    for line in lines.split('\n'):
        number, _, rest = line.partition('\t')
        text = rest.split('\t')[0].strip()
        for written, meant in (('-LRB-', '('), ('-RRB-', ')')):
            text = text.replace(written, meant)
        if number.isdigit() and text:
            found[int(number)] = text
    return found


def ordered(rows: Sequence[Row], seed: int = 1) -> list[Row]:
    """
    The rows in the order in which they are learnt from.

    :param rows: rows with ``src`` and ``y``.
    :param seed: shuffles each part, and decides which rows are over the limits.
    """
    rng = random.Random(seed)
    taken: Counter[tuple[str, int]] = Counter()
    first: list[dict[str, Any]] = []
    second: list[dict[str, Any]] = []
    for row in rng.sample(list(rows), len(rows)):
        source, kind = row['src'], (row['src'], row['y'])
        if source in LEFT_OUT:
            continue
        most = MOST if source.startswith(FIRST) else GENERAL.get(source, 0)
        part = first if taken[kind] < most else second
        taken[kind] += 1
        part.append(row)
    return first + second


def main(argv: Optional[Sequence[str]] = None) -> None:
    """Write a file of rows."""
    parser = argparse.ArgumentParser(description="The detector's rows")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument('--nli', help='a file with sentence1, sentence2, gold_label')
    source.add_argument('--fever', help='a file with claim, label, evidence')
    source.add_argument('--order', help='a file of rows to put in order')
    parser.add_argument('--pages', type=Path, help="FEVER's pages")
    parser.add_argument('--name', help='name of the set, written as src')
    parser.add_argument('--outfile', required=True)
    args = parser.parse_args(argv)
    if bool(args.fever) != bool(args.pages) or bool(args.order) == bool(args.name):
        raise ConfigError(
            'Give --nli and --name, or --fever, --pages and --name, or --order alone.'
        )
    records = read_rows(args.nli or args.fever or args.order)
    rows: Iterable[Row]
    if args.order:
        rows = ordered(records)
    elif args.nli:
        rows = nli_rows(records, args.name)
    else:
        pages = read_pages(args.pages, needed_pages(records))
        rows = fever_rows(records, pages, args.name)
    logging.info(f'{write_rows(args.outfile, rows)} rows: {args.outfile}')


if __name__ == '__main__':
    main()
