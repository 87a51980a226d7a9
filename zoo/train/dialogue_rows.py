"""
Makes hard rows for the detector: responses in dialogue style that are nearly right.

    python -m parlai_q2.zoo.train.dialogue_rows --turns reply.train.jsonl.xz \\
      --most 4000 --outfile cons_hard.train.jsonl --valid cons_hard.valid.jsonl

The turns used are those whose response ``r`` has no word that its knowledge ``k``
lacks. They give rows of ``p`` (knowledge), ``h`` (response), ``y`` (0 entailed, 1
unsupported, 2 contradicted) and ``src``:

- wrong rows, one for each turn: an entity or a number replaced, two entities or roles
  swapped, a negation (2); knowledge of the same topic, a hedge lost, one of several
  called the only one, some called all, a superlative, a statement of another turn added
  (1);
- right rows (0), as many: the turn as it is, after a sentence of chit-chat, or with two
  turns' knowledge and both responses.

In every second row, the knowledge gets further sentences about something else; in every
third, the response begins with a sentence of chit-chat. Neither changes whether the
rest is supported.
"""

import argparse
import random
import zlib
from collections import Counter
from typing import Any, Callable, Iterator, Optional, Sequence

from parlai.utils import logging

from parlai_q2.text.content_words import content_words
from parlai_q2.text.pipeline import parse_all
from parlai_q2.zoo.train.data import read_rows, write_rows
from parlai_q2.zoo.train.hard_negatives import Grounded, HardNegatives, read_grounded
from parlai_q2.zoo.train.overstatements import (
    TEXT_CHANGES,
    keeps_support,
    swapped_roles,
)

ENTAILED, UNSUPPORTED, CONTRADICTED = 0, 1, 2
# The class of each change that HardNegatives makes.
CLASS_OF = {
    'entity': CONTRADICTED,
    'number': CONTRADICTED,
    'swap': CONTRADICTED,
    'negation': CONTRADICTED,
    'same_topic': UNSUPPORTED,
}
CHIT_CHAT = (
    "That's interesting!",
    'Wow, I did not know that.',
    'Yes, I agree.',
    'Oh, really?',
    'I love that.',
    'Good question!',
    'Nice!',
    "Me too, I'm a big fan.",
    'Sure, let me tell you.',
    "I'm not an expert, but I know a bit about it.",
)
MOST_WORDS = 45  # of the knowledge of one turn
LEAST_WORDS = 5  # of a response
DISTRACTORS = (2, 4)  # further sentences of knowledge, at least and at most
LEAST_NEW = 3  # content words of an added statement that the knowledge lacks
Row = dict[str, Any]
Change = Callable[[int], Optional[Row]]


class DialogueRows:
    """
    Makes two rows from each turn: one right, one wrong.

    :param grounded: turns whose responses are grounded in their knowledge.
    :param seed: decides every choice.
    """

    def __init__(self, grounded: Sequence[Grounded], seed: int = 0):
        self.grounded, self.rng = list(grounded), random.Random(seed)
        self.negatives = HardNegatives(self.grounded, seed)
        self.docs = list(parse_all([one.response for one in self.grounded]))
        self.words = [frozenset(content_words(o.knowledge)) for o in self.grounded]
        self.made: Counter[str] = Counter()
        self.changes: dict[str, Change] = {
            **{name: self._of_negatives(name) for name in CLASS_OF},
            **{name: self._of_text(of, label) for name, label, of in TEXT_CHANGES},
            'roles': self._roles,
            'added': self._added,
        }

    def rows(self) -> Iterator[Row]:
        """
        The rows: for each turn a right one, then a wrong one if a change applies.
        """
        for i in range(len(self.grounded)):
            for row in (self.right(i), self.wrong(i)):
                if row is not None:
                    self.made[row['src']] += 1
                    yield self.dressed(i, row)

    def right(self, i: int) -> Row:
        """
        A supported row of one turn, or of two turns with the knowledge of both.
        """
        one = self.grounded[i]
        if self.rng.random() < 0.7:
            return pair(one.knowledge, one.response, ENTAILED, 'hard-right')
        other = self.grounded[self.unrelated(i)]
        knowledge = [one.knowledge, other.knowledge]
        response = [one.response, other.response]
        if self.rng.random() < 0.5:
            knowledge.reverse()
        return pair(
            ' '.join(map(sentence, knowledge)),
            ' '.join(map(sentence, response)),
            ENTAILED,
            'hard-two',
        )

    def wrong(self, i: int) -> Optional[Row]:
        """
        An unsupported row, made by the applicable change that was made least often so
        far.
        """
        for name in sorted(self.changes, key=lambda c: self.made[f'hard-{c}']):
            row = self.changes[name](i)
            if row is not None:
                return {**row, 'src': f'hard-{name}'}
        return None

    def _of_negatives(self, name: str) -> Change:
        def change(i: int) -> Optional[Row]:
            made = self.negatives.changes[name](self.grounded[i])
            return pair(made[0], made[1], CLASS_OF[name]) if made else None

        return change

    def _of_text(self, of_text: Callable[[str], Optional[str]], label: int) -> Change:
        def change(i: int) -> Optional[Row]:
            text = of_text(self.grounded[i].response)
            return pair(self.grounded[i].knowledge, text, label) if text else None

        return change

    def _roles(self, i: int) -> Optional[Row]:
        text = swapped_roles(self.docs[i])
        return pair(self.grounded[i].knowledge, text, CONTRADICTED) if text else None

    def _added(self, i: int) -> Optional[Row]:
        one, added = self.grounded[i], self.grounded[self.unrelated(i)]
        if keeps_support(added.response, one.knowledge):
            return None
        text = f'{sentence(one.response)} {added.response}'
        return pair(one.knowledge, text, UNSUPPORTED)

    def dressed(self, i: int, row: Row) -> Row:
        """
        A row with more knowledge around it or chit-chat before it, or unchanged.
        """
        knowledge, response = row['p'], row['h']
        if self.rng.random() < 0.5:
            count = self.rng.randint(*DISTRACTORS)
            known = frozenset(content_words(response))
            others = [self.unrelated(i, known) for _ in range(count)]
            parts = [
                sentence(self.grounded[j].knowledge) for j in dict.fromkeys(others)
            ]
            parts.insert(self.rng.randint(0, len(parts)), sentence(knowledge))
            knowledge = ' '.join(parts)
        if self.rng.random() < 1 / 3:
            response = f'{self.rng.choice(CHIT_CHAT)} {response}'
        return {**row, 'p': knowledge, 'h': response}

    def unrelated(self, i: int, avoid: frozenset[str] = frozenset()) -> int:
        """
        Another turn, whose response has content words that this turn's knowledge lacks.

        :param avoid: words that the other's knowledge should not have; of twenty tries,
            the one with the fewest of them is taken.
        """
        best, fewest = (i + 1) % len(self.grounded), len(avoid) + 1
        for _ in range(20):
            j = self.rng.randrange(len(self.grounded))
            new = frozenset(content_words(self.grounded[j].response)) - self.words[i]
            shared = len(self.words[j] & avoid)
            if j != i and len(new) >= LEAST_NEW and shared < fewest:
                best, fewest = j, shared
            if fewest == 0:
                break
        return best


def pair(knowledge: str, response: str, label: int, source: str = '') -> Row:
    """
    One row.
    """
    return {'p': knowledge, 'h': response, 'y': label, 'src': source}


def sentence(text: str) -> str:
    """
    A text that ends with a mark, so that another can follow.

    >>> sentence('it is'), sentence('is it?')
    ('it is.', 'is it?')
    """
    text = text.rstrip()
    return text if text.endswith(('.', '!', '?', '"')) else f'{text}.'


def faithful(pairs: Sequence[tuple[str, str]]) -> list[Grounded]:
    """
    The turns that are certainly supported: statements in the knowledge's own words.

    Chit-chat itself would do no harm, but a change made in it would leave the rest
    supported.

    :param pairs: pairs (knowledge, response).
    """
    return [
        one
        for one in read_grounded(pairs)
        if '?' not in one.response
        and len(one.response.split()) >= LEAST_WORDS
        and keeps_support(one.response, one.knowledge)
    ]


def held_out(one: Grounded) -> bool:
    """
    Whether a turn belongs to the tenth that is not trained on. All turns with the same
    knowledge sentence do, or none.
    """
    return zlib.crc32(one.knowledge.encode()) % 10 == 0


def main(argv: Optional[Sequence[str]] = None) -> None:
    """
    Write the rows and log how many of each kind there are.
    """
    parser = argparse.ArgumentParser(description='Hard rows for the detector')
    parser.add_argument('--turns', required=True, help='file of records with k and r')
    parser.add_argument(
        '--most', type=int, default=4000, help='number of turns to read'
    )
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--outfile', required=True)
    parser.add_argument(
        '--valid', help='file for the held-out rows, those of a tenth of the knowledge'
    )
    args = parser.parse_args(argv)
    pairs = {
        (turn['k'], turn['r']): None
        for turn in read_rows(args.turns)
        if len(turn['k'].split()) <= MOST_WORDS
    }
    chosen = list(pairs)
    random.Random(args.seed).shuffle(chosen)
    turns = faithful(chosen[: args.most])
    parts = {args.outfile: turns}
    if args.valid:
        parts = {
            args.valid: [one for one in turns if held_out(one)],
            args.outfile: [one for one in turns if not held_out(one)],
        }
    for path, part in parts.items():
        maker = DialogueRows(part, args.seed)
        count = write_rows(path, maker.rows())
        for kind, made in sorted(maker.made.items()):
            logging.info(f'{kind}: {made}')
        logging.info(f'{count} rows of {len(part)} turns: {path}')


if __name__ == '__main__':
    main()
