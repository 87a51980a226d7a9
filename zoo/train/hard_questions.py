"""
Makes question-answering rows that only a reader who knows when to abstain gets right.

    python -m parlai_q2.zoo.train.hard_questions --rows qa.train.jsonl.xz \\
      --most 9000 --outfile qa_hard.train.jsonl

Q2 (Honovich et al. 2021, section 2) asks about a response and reads the knowledge. A
response that says more than its knowledge is found out when the reader gives no answer,
even though the knowledge is about the same things. SQuAD's own unanswerable questions
(Rajpurkar et al. 2018) and random pairs seldom train this. From each row of ``q``
(question), ``c`` (text), ``s`` (offset of the answer in it) and ``a`` (answer), at most
one of these is made:

=================  ========================================================  =========
``hard-other``     the question with another text that shares its words      no answer
``hard-removed``   the phrase with the answer taken out of the text          no answer
``hard-question``  an entity of the question replaced by another             no answer
``edit-answer``    the answer replaced in the text by one of its kind        that one
``edit-more``      another text put before or after the text                 the same
=================  ========================================================  =========

The last two keep the reader from abstaining wherever a text looks odd or is long. Every
second row is in lower case, as responses of dialogue models are. Changes that would
leave the label in doubt are not made: see :mod:`parlai_q2.zoo.train.edits`.
"""

import argparse
import random
import re
from collections import Counter
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Iterator,
    NamedTuple,
    Optional,
    Sequence,
)

from parlai.utils import logging

from parlai_q2.text.pipeline import parse_all
from parlai_q2.zoo.train.data import read_rows, write_rows
from parlai_q2.zoo.train.edits import (
    GROUPS,
    EntityPool,
    asks_for,
    could_answer,
    entity_at,
    occurs_once,
    without,
    words,
)
from parlai_q2.zoo.train.topics import TopicIndex

if TYPE_CHECKING:
    from spacy.tokens import Doc

Row = dict[str, Any]
MOST_WORDS = 60  # of a text
# The kinds of entities by which a question names what it is about.
NAMES = ('PERSON', 'NORP', 'ORG', 'GPE', 'LOC', 'FAC', 'EVENT', 'WORK_OF_ART')


class Parsed(NamedTuple):
    """
    A row with the parses of its text and its question.
    """

    row: Row
    text: 'Doc'
    question: 'Doc'


class HardQuestions:
    """
    Makes one hard row from each answerable row.

    :param rows: answerable rows with cased texts; the entities and other texts come
        from them.
    :param seed: decides every choice.
    """

    def __init__(self, rows: Sequence[Row], seed: int = 0):
        texts = list(dict.fromkeys(row['c'] for row in rows))
        docs = dict(zip(texts, parse_all(texts), strict=True))
        questions = parse_all([row['q'] for row in rows])
        self.parsed = [
            Parsed(row, docs[row['c']], question)
            for row, question in zip(rows, questions, strict=True)
        ]
        self.pool, self.topics = EntityPool(docs.values()), TopicIndex(texts)
        self.rng = random.Random(seed)
        self.made: Counter[str] = Counter()
        self.kinds: dict[str, Callable[[Parsed], Optional[Row]]] = {
            'hard-other': self.other,
            'hard-removed': self.removed,
            'hard-question': self.question,
            'edit-answer': self.answer,
            'edit-more': self.more,
        }

    def rows(self) -> Iterator[Row]:
        """
        The rows made. Of the kinds that a row allows, the one made least often so far
        is chosen.
        """
        for one in self.parsed:
            for kind in sorted(self.kinds, key=lambda k: self.made[k]):
                row = self.kinds[kind](one)
                if row is not None:
                    self.made[kind] += 1
                    row['src'] = kind
                    yield lowered(row) if self.rng.random() < 0.5 else row
                    break

    def other(self, one: Parsed) -> Optional[Row]:
        """
        The question with another text that has some of its words but not the answer's.
        """
        text = self.topics.near(one.row['q'], one.row['c'], one.row['a'])
        return no_answer(one.row['q'], text) if text else None

    def removed(self, one: Parsed) -> Optional[Row]:
        """
        The text without the phrase that holds the answer, which is an entity.

        Nothing that remains may be of the answer's kind.
        """
        row = one.row
        entity = entity_at(one.text, row['s'], row['a'])
        group = GROUPS.get(entity.label_) if entity is not None else None
        if group is None or not asks_for(row['q'], group):
            return None
        if not occurs_once(row['c'], row['a']):
            return None
        found = without(one.text, row['s'], row['s'] + len(row['a']))
        if found is None or could_answer(one.text, found[0], group, found[1]):
            return None
        return no_answer(row['q'], found[0])

    def question(self, one: Parsed) -> Optional[Row]:
        """
        The question with one of the text's names replaced by a name that the text
        lacks.
        """
        known = words(one.row['c']) | words(one.row['q'])
        for entity in self.rng.sample(one.question.ents, len(one.question.ents)):
            in_text = re.search(rf'\b{re.escape(entity.text)}\b', one.row['c'])
            dated = entity.label_ == 'DATE' and re.search(r'\d', entity.text)
            if in_text and (dated or entity.label_ in NAMES):
                new = self.pool.another(entity.text, entity.label_, known, self.rng)
                if new is not None:
                    question = one.row['q']
                    changed = question[: entity.start_char] + new
                    return no_answer(
                        changed + question[entity.end_char :], one.row['c']
                    )
        return None

    def answer(self, one: Parsed) -> Optional[Row]:
        """
        The text with its answer, an entity, replaced by another of the same kind.
        """
        row = one.row
        entity = entity_at(one.text, row['s'], row['a'])
        if entity is None or not occurs_once(row['c'], row['a']):
            return None
        known = words(row['c']) | words(row['q'])
        new = self.pool.another(row['a'], entity.label_, known, self.rng)
        if new is None:
            return None
        text = row['c'][: row['s']] + new + row['c'][row['s'] + len(row['a']) :]
        return {'q': row['q'], 'c': text, 's': row['s'], 'a': new}

    def more(self, one: Parsed) -> Optional[Row]:
        """
        The text with another text, which lacks the answer, before or after it.
        """
        row = one.row
        text = self.topics.near(row['q'], row['c'], row['a'])
        if text is None:
            return None
        if self.rng.random() < 0.5:
            return {**row, 'c': f'{row["c"]} {text}'}
        return {**row, 'c': f'{text} {row["c"]}', 's': len(text) + 1 + row['s']}


def no_answer(question: str, text: str) -> Row:
    """
    A row whose text does not answer its question.
    """
    return {'q': question, 'c': text, 's': -1, 'a': ''}


def lowered(row: Row) -> Row:
    """
    A row in lower case; unchanged if lower case would move its offsets.
    """
    low = {**row, **{field: row[field].lower() for field in 'qca'}}
    same = all(len(low[field]) == len(row[field]) for field in 'qca')
    return low if same else row


def usable(row: Row) -> bool:
    """
    Whether a row can be changed: it is answerable, and its text is cased and not too
    long.
    """
    return (
        row['s'] >= 0
        and row['c'] != row['c'].lower()
        and len(row['c'].split()) <= MOST_WORDS
        and row['c'][row['s'] : row['s'] + len(row['a'])] == row['a']
    )


def main(argv: Optional[Sequence[str]] = None) -> None:
    """
    Write the rows and log how many of each kind there are.
    """
    parser = argparse.ArgumentParser(description='Rows that teach a reader to abstain')
    parser.add_argument(
        '--rows', required=True, help='file of rows with q, c, s, a and src'
    )
    parser.add_argument(
        '--sources', default='', help='comma-separated src values: take only their rows'
    )
    parser.add_argument(
        '--most', type=int, default=9000, help='number of rows to start from'
    )
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--outfile', required=True)
    args = parser.parse_args(argv)
    rows = [row for row in read_rows(args.rows, args.sources) if usable(row)]
    random.Random(args.seed).shuffle(rows)
    maker = HardQuestions(rows[: args.most], args.seed)
    made = list(maker.rows())
    write_rows(args.outfile, made)
    for kind, count in sorted(maker.made.items()):
        logging.info(f'{kind}: {count}')
    logging.info(f'{len(made)} rows of {min(len(rows), args.most)}: {args.outfile}')


if __name__ == '__main__':
    main()
