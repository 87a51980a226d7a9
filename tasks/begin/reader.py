"""
Reads the tsv files of BEGIN, from the 2022 release and from the earlier one.

Fields are separated by tabs and never quoted: a quotation mark is an ordinary
character. The 2022 release has three labels. The 2021 release has five, and the
annotators' answers.
"""

from pathlib import Path
from typing import Iterator, Sequence

from parlai_q2.errors import ConfigError, RecordError
from parlai_q2.evaluate.sets import AnnotatedResponse, AnnotatedSet, chosen_words
from parlai_q2.records import Label
from parlai_q2.tasks.begin.build import build

COLUMNS = (
    'model_name',
    'data_source',
    'knowledge',
    'message',
    'response',
    'begin_label',
)
EARLIER_COLUMNS = (
    'evidence',
    'previous turn',
    'response',
    'gold label',
    'coarse label',
    'full label set',
)

# The published labels, and the classes that they become here.
LABELS = {
    'Fully attributable': Label.CONSISTENT,
    'Not fully attributable': Label.INCONSISTENT,
    'Generic': Label.GENERIC,
}
# A response that is off the topic is not grounded in its knowledge either.
EARLIER_LABELS = {
    'entailment': Label.CONSISTENT,
    'contradiction': Label.INCONSISTENT,
    'hallucination': Label.INCONSISTENT,
    'generic': Label.GENERIC,
    'off-topic': Label.INCONSISTENT,
}

CLASSES = (Label.CONSISTENT, Label.INCONSISTENT, Label.GENERIC)
FOLDS = ('dev', 'test')
# Corpora by their folder names in the repository, with their names in its files.
CORPORA = {'wow': 'wow', 'cmu': 'cmu', 'topicalchat': 'tc'}
# Corpora by their names in the files, which messages show.
ALIASES = {theirs: (ours,) for ours, theirs in CORPORA.items()}
SYSTEMS = ('gpt2', 't5', 'ctrl', 'doha')
GROUPS = {'corpus': [*CORPORA], 'system': SYSTEMS, 'class': CLASSES, 'fold': FOLDS}
EARLIER_FILES = {'dev': 'dev_05_24_21.tsv', 'test': 'test_05_24_21.tsv'}
# The word for the earlier release, whose teachers are V1Teacher and so on.
EARLIER = 'v1'


def annotated_set(datapath: str, words: Sequence[str], fold: str) -> AnnotatedSet:
    """
    The dev set, or the test set if a word or the fold asks for it. The word ``v1``
    chooses that set of the earlier release.
    """
    folds = [word for word in dict.fromkeys(words) if word in FOLDS]
    if len(folds) > 1:
        raise ConfigError('An annotated set has one fold: dev or test. Name one.')
    fold = folds[0] if folds else fold
    others = [word for word in words if word not in (*FOLDS, EARLIER)]
    if EARLIER in words:
        found = read_earlier_part(datapath, others, fold)
        return AnnotatedSet('begin', f'BEGIN v1 {fold}', tuple(found))
    found = read_part(datapath, others, fold)
    return AnnotatedSet(
        'begin', f'BEGIN {fold}', tuple(found), fitted_on=fold == FOLDS[0]
    )


def read_part(
    datapath: str, words: Sequence[str] = (), fold: str = 'dev'
) -> list[AnnotatedResponse]:
    """
    Read the chosen responses of the 2022 release.

    :param words: corpora, systems, classes and folds; of a kind that no word names, all
        are taken.
    :param fold: the fold to read when no word names one.
    :return: the responses, one corpus after the other.
    :raises UnknownNameError: for any other word.
    """
    chosen = chosen_words('begin', words, GROUPS, ALIASES)
    names = [
        f'begin_{fold}_{CORPORA[corpus]}.tsv'
        for fold in chosen['fold'] or [fold]
        for corpus in chosen['corpus'] or CORPORA
    ]
    folder = build(datapath, names)
    return [
        response
        for name in names
        for response in read_file(folder / name)
        if response.label in (chosen['class'] or CLASSES)
        and (not chosen['system'] or response.system in chosen['system'])
    ]


def read_earlier_part(
    datapath: str, words: Sequence[str] = (), fold: str = 'dev'
) -> list[AnnotatedResponse]:
    """
    Read the chosen responses of the 2021 release.

    :param words: folds, our classes, and the five labels.
    :param fold: the fold to read when no word names one.
    :return: the responses.
    :raises UnknownNameError: for any other word.
    """
    chosen = chosen_words(
        'begin:v1',
        words,
        {
            'class': CLASSES,
            # "generic" is one of our classes already.
            'label': [label for label in EARLIER_LABELS if label not in CLASSES],
            'fold': FOLDS,
        },
    )
    names = [EARLIER_FILES[fold] for fold in chosen['fold'] or [fold]]
    folder = build(datapath, names)
    responses = [t for n in names for t in read_earlier_file(folder / n)]
    keep = {*chosen['class'], *chosen['label']}
    return [
        response
        for response in responses
        if not keep or keep & {response.label, response.more['begin_label']}
    ]


def read_file(path: Path) -> list[AnnotatedResponse]:
    """
    Read a file of the 2022 release.

    :return: its rows, each a conversation of its own.
    :raises RecordError: when a column is missing or a row is broken.
    """
    found = []
    for number, row in _rows(path, COLUMNS):
        label = row['begin_label'].strip()
        found.append(
            AnnotatedResponse(
                text=row['message'].strip(),
                knowledge=row['knowledge'],
                response=row['response'],
                label=_class_of(path, number, label, LABELS),
                corpus=row['data_source'],
                system=row['model_name'],
                episode=f'{row["data_source"]}-{number}',
                more={
                    'begin_label': label,
                    'system': row['model_name'],
                    'corpus': row['data_source'],
                },
            )
        )
    return found


def read_earlier_file(path: Path) -> list[AnnotatedResponse]:
    """
    Read a file of the 2021 release, all of whose rows come from Wizard of Wikipedia.

    :return: its rows, each a conversation of its own.
    :raises RecordError: when a column is missing or a row is broken.
    """
    found = []
    for number, row in _rows(path, EARLIER_COLUMNS):
        label = row['gold label'].strip()
        found.append(
            AnnotatedResponse(
                text=row['previous turn'].strip(),
                knowledge=row['evidence'],
                response=row['response'],
                label=_class_of(path, number, label, EARLIER_LABELS),
                corpus='wow',
                episode=f'wow-{number}',
                more={
                    'begin_label': label,
                    'coarse_label': row['coarse label'].strip(),
                    'annotations': row['full label set'].strip().split(';'),
                    'corpus': 'wow',
                },
            )
        )
    return found


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    """A file's rows, each with its line number."""
    # Even without quoting, the csv module stops at a lone CR inside a field.
    with open(path, encoding='utf-8', newline='\n') as lines:
        header: list[str] = []
        number = 0
        try:
            for number, line in enumerate(lines, 1):
                fields = line.rstrip('\n').removesuffix('\r').split('\t')
                if not header:
                    header = fields
                    missing = [c for c in columns if c not in header]
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


def _class_of(path: Path, number: int, label: str, classes: dict[str, str]) -> str:
    if label not in classes:
        raise RecordError(
            str(path),
            number,
            f'the label is {label!r}; it must be {", ".join(classes)}',
        )
    return classes[label]
