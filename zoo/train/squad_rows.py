"""
Makes rows for the reader and the question generator from files in SQuAD's format.

    python -m parlai_q2.zoo.train.squad_rows --files train-v2.0.json --name squad \\
      --qa qa.train.jsonl --qg qg.train.jsonl

SQuAD 1.1 and 2.0 (Rajpurkar et al. 2016, 2018), SQuADShifts, PolicyQA and others share
the format: ``data``, ``paragraphs``, ``qas``. Responses and the knowledge of dialogues
are short, so the texts are too: one or two sentences around the answer. The rows of
``q``, ``c``, ``s``, ``a`` and ``src`` (see :mod:`parlai_q2.zoo.train.train_qa`) are

- ``<name>``: the answer within its sentence, alone or with a neighbour;
- ``<name>_imp``: a question marked impossible, with its plausible answer's sentence;
- ``neg_para:<name>``, ``neg_art:<name>``: a question with a sentence from the same
  paragraph or article that lacks the answer's words, so that there is no answer.

Two rows in five are in lower case. The rows for the generator have ``a``, ``c`` and
``q``.
"""

import argparse
import json
import random
from pathlib import Path
from typing import Any, Iterator, NamedTuple, Optional, Sequence

from parlai.utils import logging

from parlai_q2.errors import InputError
from parlai_q2.text.content_words import content_words
from parlai_q2.text.sentences import sentences
from parlai_q2.zoo.train.data import Row, write_rows

NEGATIVE_SHARE = 0.4  # further rows without an answer, for an answerable question
LOWERED_SHARE = 0.4


class Asked(NamedTuple):
    """
    One question of a file.

    :param question: the question.
    :param paragraph: the whole paragraph.
    :param start: the offset of its answer, or of the plausible answer.
    :param answer: the answer, or the plausible answer.
    :param possible: whether the paragraph answers it.
    :param article: the number of its article, among all files that are read together.
    """

    question: str
    paragraph: str
    start: int
    answer: str
    possible: bool
    article: int


def read_squad(path: Path) -> list[Asked]:
    """
    Read the questions of a file.

    :param path: a JSON file in SQuAD's format.
    :return: the questions whose answer, or plausible answer, is found at its offset.
    :raises InputError: when the file has another format.
    """
    try:
        articles = json.loads(path.read_text(encoding='utf-8'))['data']
        return [
            one
            for number, article in enumerate(articles)
            for paragraph in article['paragraphs']
            for one in _of_paragraph(paragraph, number)
        ]
    except (ValueError, KeyError, TypeError) as e:
        raise InputError(
            f"{path} is not in SQuAD's format (data, paragraphs, qas): {e!r}"
        ) from e


def read_all(paths: Sequence[Path]) -> list[Asked]:
    """
    Read the questions of several files, with their articles numbered consecutively.
    """
    asked: list[Asked] = []
    for path in paths:
        first = asked[-1].article + 1 if asked else 0
        asked += [one._replace(article=first + one.article) for one in read_squad(path)]
    return asked


def _of_paragraph(paragraph: dict[str, Any], article: int) -> Iterator[Asked]:
    text = paragraph['context']
    for asked in paragraph['qas']:
        possible = not asked.get('is_impossible', False)
        answers = asked['answers'] if possible else asked.get('plausible_answers')
        for answer in (answers or [])[:1]:
            start, words = answer['answer_start'], answer['text']
            if words.strip() and text[start : start + len(words)] == words:
                yield Asked(asked['question'], text, start, words, possible, article)


def narrowed(
    one: Asked, neighbours: int, rng: random.Random
) -> Optional[tuple[str, int]]:
    """
    The sentences around an answer.

    :param one: the question.
    :param neighbours: the number of further sentences, before or after.
    :param rng: decides which sentences.
    :return: the text and the answer's offset in it; None where the answer spans several
        sentences.
    """
    spans, end = sentences(one.paragraph), one.start + len(one.answer)
    held = [i for i, s in enumerate(spans) if s.start <= one.start and end <= s.end]
    if not held:
        return None
    first = last = held[0]
    for _ in range(neighbours):
        if rng.random() < 0.5 and first > 0:
            first -= 1
        elif last + 1 < len(spans):
            last += 1
    start = spans[first].start
    return one.paragraph[start : spans[last].end], one.start - start


def qa_rows(asked: Sequence[Asked], name: str, seed: int = 0) -> Iterator[Row]:
    """
    The reader's rows.

    :param asked: the questions.
    :param name: the name of the set, for ``src``.
    :param seed: decides every choice.
    """
    rng = random.Random(seed)
    of_article: dict[int, dict[str, None]] = {}
    for one in asked:
        of_article.setdefault(one.article, {})[one.paragraph] = None
    for one in asked:
        found = narrowed(one, rng.choice((0, 0, 1)), rng)
        if found is None:
            continue
        text, start = found
        if one.possible:
            row = {'q': one.question, 'c': text, 's': start, 'a': one.answer}
            yield _finished(row, name, rng)
        else:
            yield _finished(no_answer(one.question, text), f'{name}_imp', rng)
        if one.possible and rng.random() < NEGATIVE_SHARE:
            others = [p for p in of_article[one.article] if p != one.paragraph]
            far = others and rng.random() < 0.5
            paragraph = rng.choice(others) if far else one.paragraph
            other = without_answer(paragraph, one, rng)
            if other is not None:
                source = f'{"neg_art" if far else "neg_para"}:{name}'
                yield _finished(no_answer(one.question, other), source, rng)


def without_answer(paragraph: str, one: Asked, rng: random.Random) -> Optional[str]:
    """
    A sentence without any of the answer's content words and without some of the
    question's, so that it can hardly answer the question in other words.
    """
    told, wanted = set(content_words(one.answer)), set(content_words(one.question))
    fitting = []
    for span in sentences(paragraph):
        known = set(content_words(span.text))
        own = span.start <= one.start < span.end and paragraph == one.paragraph
        if known and told and not own and not told & known and wanted - known:
            fitting.append(span.text)
    return rng.choice(fitting) if fitting else None


def qg_rows(asked: Sequence[Asked], seed: int = 0) -> Iterator[Row]:
    """The generator's rows: the answerable questions."""
    rng = random.Random(seed)
    for one in asked:
        found = narrowed(one, 0, rng) if one.possible else None
        if found is None:
            continue
        row = {'a': one.answer, 'c': found[0], 'q': one.question}
        low = rng.random() < LOWERED_SHARE
        yield {k: v.lower() if low and k != 'q' else v for k, v in row.items()}


def no_answer(question: str, text: str) -> Row:
    """A row whose text does not answer its question."""
    return {'q': question, 'c': text, 's': -1, 'a': ''}


def lowered(row: Row) -> Row:
    """A row in lower case; unchanged if lower case would move its offsets."""
    low = {**row, **{field: row[field].lower() for field in 'qca'}}
    same = all(len(low[field]) == len(row[field]) for field in 'qca')
    return low if same else row


def _finished(row: Row, source: str, rng: random.Random) -> Row:
    row = lowered(row) if rng.random() < LOWERED_SHARE else row
    return {**row, 'src': source}


def main(argv: Optional[Sequence[str]] = None) -> None:
    """Write the rows of some files."""
    parser = argparse.ArgumentParser(description='Rows from files in SQuAD format')
    parser.add_argument('--files', type=Path, nargs='+', required=True)
    parser.add_argument('--name', required=True, help='name of the set, written as src')
    parser.add_argument('--qa', help='file to write the rows for the reader to')
    parser.add_argument('--qg', help='file to write the rows for the generator to')
    parser.add_argument('--seed', type=int, default=0)
    args = parser.parse_args(argv)
    asked = read_all(args.files)
    if args.qa:
        count = write_rows(args.qa, qa_rows(asked, args.name, args.seed))
        logging.info(f'{count} rows: {args.qa}')
    if args.qg:
        count = write_rows(args.qg, qg_rows(asked, args.seed))
        logging.info(f'{count} rows: {args.qg}')


if __name__ == '__main__':
    main()
