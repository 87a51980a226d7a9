"""
Reads the tsv files of BEGIN (Dziri et al. 2022), from the authors' repository. Fields
are separated by tabs and never quoted: a quotation mark is an ordinary character.

The repository publishes no checksums. They were taken from copies of the named commit.
The test files of CMU-DoG and Topical-Chat have none: they are fetched from the newest
commit, and checked row by row when they are read.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, product
from pathlib import Path

from parlai_q2.claims import Label
from parlai_q2.errors import RecordError
from parlai_q2.evaluate.sets import (
    AnnotatedResponse,
    AnnotatedSet,
    one_fold,
    select_words,
)
from parlai_q2.io.data_sets import PublishedFile, fetch_files, list_files

REPOSITORY = 'https://raw.githubusercontent.com/google/BEGIN-dataset/'
RELEASE = '78e2215a158744b14d080e90c8135a2039f52eb8/'
CHECKSUMS = """
wow/begin_dev_wow.tsv
2ebfc95a1ff267e12dcce3250da4d158e1811c62e9e1a0d56f110efc9ace0178
cmu-dog/begin_dev_cmu.tsv
9482294df23cf08a976773ca73203b84f7178534ecab1a206eaade365e97071c
topicalchat/begin_dev_tc.tsv
d799a8cb3635de41b7f284dcfc872544ddeadcbae0c2ffd684270cce671f7711
wow/begin_test_wow.tsv
d5c106a42042c3abd481563f1157e07c95c107dbcdf67f23564d874e8a4d6e7e
"""
PUBLISHED = [
    *list_files(REPOSITORY + RELEASE, CHECKSUMS),
    PublishedFile(REPOSITORY + 'HEAD/cmu-dog/begin_test_cmu.tsv'),
    PublishedFile(REPOSITORY + 'HEAD/topicalchat/begin_test_tc.tsv'),
]
# Fetches the needed files into the task's folder.
build = partial(fetch_files, task='begin', files=PUBLISHED)

COLUMNS = (
    'model_name',
    'data_source',
    'knowledge',
    'message',
    'response',
    'begin_label',
)

# The published labels with their classes here.
LABELS = {
    'Fully attributable': Label.CONSISTENT,
    'Not fully attributable': Label.INCONSISTENT,
    'Generic': Label.GENERIC,
}

CLASSES = (Label.CONSISTENT, Label.INCONSISTENT, Label.GENERIC)
FOLDS = ('dev', 'test')
# Corpora by their folder names in the repository, with their names in its files.
CORPORA = {'wow': 'wow', 'cmu': 'cmu', 'topicalchat': 'tc'}
# Corpora by their names in the files, which messages show.
ALIASES = {theirs: (ours,) for ours, theirs in CORPORA.items()}
SYSTEMS = ('gpt2', 't5', 'ctrl', 'doha')
GROUPS = {'corpus': [*CORPORA], 'system': SYSTEMS, 'class': CLASSES, 'fold': FOLDS}


def annotated_set(datapath: str, words: Sequence[str]) -> AnnotatedSet:
    """Return the dev set, or the test set if a word asks for it."""
    fold = one_fold(words, FOLDS)
    responses = read_part(datapath, words, fold)
    return AnnotatedSet(
        'begin', f'BEGIN {fold}', tuple(responses), fitted_on=fold == FOLDS[0]
    )


def read_part(
    datapath: str, words: Sequence[str] = (), fold: str = 'dev'
) -> list[AnnotatedResponse]:
    """Read the responses of corpora, systems, classes and folds, corpus by corpus."""
    chosen = select_words('begin', words, GROUPS, ALIASES)
    parts = product(chosen['fold'] or [fold], chosen['corpus'] or CORPORA)
    names = [f'begin_{fold}_{CORPORA[corpus]}.tsv' for fold, corpus in parts]
    folder = build(datapath, names)
    return [
        response
        for response in chain.from_iterable(read_file(folder / name) for name in names)
        if response.label in (chosen['class'] or CLASSES)
        and (not chosen['system'] or response.system in chosen['system'])
    ]


def read_file(path: Path) -> list[AnnotatedResponse]:
    """Read a tsv file, each row a conversation; a RecordError for a broken row."""
    responses = []
    for number, row in _rows(path):
        label = row['begin_label'].strip()
        if label not in LABELS:
            problem = f'the label is {label!r}; it must be {", ".join(LABELS)}'
            raise RecordError(str(path), number, problem)
        responses.append(
            AnnotatedResponse(
                text=row['message'].strip(),
                knowledge=row['knowledge'],
                response=row['response'],
                label=LABELS[label],
                corpus=row['data_source'],
                system=row['model_name'],
                episode=f'{row["data_source"]}-{number}',
                extra={
                    'begin_label': label,
                    'system': row['model_name'],
                    'corpus': row['data_source'],
                },
            )
        )
    return responses


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield a file's rows, each with its line number."""
    # Even without quoting, the csv module stops at a lone CR inside a field.
    with open(path, encoding='utf-8', newline='\n') as lines:
        header: list[str] = []
        number = 0
        try:
            for number, line in enumerate(lines, 1):
                fields = line.rstrip('\n').removesuffix('\r').split('\t')
                if not header:
                    header = fields
                    missing = [c for c in COLUMNS if c not in header]
                    if missing:
                        raise RecordError(
                            str(path), 1, f'there is no column {missing[0]!r}'
                        )
                elif len(fields) == len(header):
                    yield number, dict(zip(header, fields))
                else:
                    raise RecordError(
                        str(path),
                        number,
                        f'the row has {len(fields)} fields, and the header '
                        f'{len(header)}',
                    )
        except UnicodeDecodeError as e:
            raise RecordError(str(path), number + 1, f'is not UTF-8: {e}') from e
    if not header:
        raise RecordError(str(path), 1, 'the file is empty')
