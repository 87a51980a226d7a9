"""
Makes training data for classifiers of BEGIN's three classes from grounded responses, by
changing them. This is not how the paper makes BEGIN-Adversarial, which
:mod:`parlai_q2.tasks.begin.begin_adversarial` does with a generator; it needs none::

    python -m parlai_q2.tasks.begin.perturbed --infile pairs.jsonl --outfile made.jsonl

The responses themselves are ``consistent``. Each is changed once in each of the chosen
ways; the result is ``inconsistent``. Chit-chat that fits anything is ``generic``. The
lists of antonyms and of chit-chat are ours.
"""

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from parlai_q2.claims import Label
from parlai_q2.cli.log import run_module
from parlai_q2.errors import ConfigError, UnknownNameError
from parlai_q2.io.read import read_valid
from parlai_q2.io.write import writable, write_text
from parlai_q2.options import split_names
from parlai_q2.perturb.hard_negatives import (
    LEAST_PRECISION,
    Grounded,
    HardNegatives,
    read_grounded,
)
from parlai_q2.text.overlap import token_overlap
from parlai_q2.text.pipeline import parse_all

ORIGINAL, GENERIC, PREFIX = 'original', 'generic', 'prefix'
ANTONYMS = dict(
    pair.split()
    for pair in (
        'first last|largest smallest|biggest smallest|oldest newest|highest lowest|'
        'longest shortest|best worst|most fewest|many few|more less|before after|'
        'north south|northern southern|east west|eastern western|old new|large small|'
        'big small|long short|high low|early late|hot cold|warm cool|good bad|'
        'easy hard|fast slow|strong weak|rich poor|open closed|male female|'
        'popular unpopular|famous unknown|public private|modern ancient|often rarely|'
        'always never|above below|inside outside|up down|left right|won lost|'
        'born died|began ended|increased decreased|same different'
    ).split('|')
)
ANTONYMS |= {b: a for a, b in ANTONYMS.items() if b not in ANTONYMS}
CHAT = (
    "That's really interesting!",
    'I did not know that.',
    'Wow, thanks for telling me.',
    "I'm not sure, to be honest.",
    'What do you think?',
    'Haha, me too!',
    'That sounds great.',
    'Do you want to talk about something else?',
    'Oh, I see.',
    'Have a nice day!',
)
# The share of a response's words that stay before a new end.
KEPT_SHARE = 0.5
# A new end of fewer words is too short to say anything.
LEAST_WORDS = 3
NEW_TOKENS = 40

Regenerate = Callable[[Sequence[str]], Sequence[str]]


class PerturbedRecord(NamedTuple):
    """An example for a classifier, and the kind of change that made it."""

    knowledge: str
    response: str
    label: str
    kind: str


class PerturbedExamples:
    """Makes examples from grounded pairs; ``regenerate`` is for the kind ``prefix``."""

    def __init__(
        self,
        pairs: Sequence[tuple[str, str]],
        seed: int = 0,
        regenerate: Regenerate | None = None,
    ):
        self.grounded = read_grounded(pairs)
        self.rng = random.Random(seed)
        self.regenerate = regenerate
        shared = HardNegatives(self.grounded, seed)
        self.changes: dict[str, Callable[[Grounded], tuple[str, str] | None]] = {
            'entity': shared.entity,
            'number': shared.number,
            'verb': self.verb,
            'antonym': self.antonym,
            'negation': shared.negation,
            'knowledge': self.knowledge,
        }
        responses = [g.response for g in self.grounded]
        self._docs = dict(zip(responses, parse_all(responses), strict=True))
        self._verbs: dict[str, list[str]] = {}
        for doc in self._docs.values():
            for token in doc:
                if token.pos_ == 'VERB':
                    self._verbs.setdefault(token.tag_, []).append(token.text)

    def make(self, kinds: Sequence[str]) -> Iterator[PerturbedRecord]:
        """
        Make all examples of the chosen kinds, response by response.

        :raises UnknownNameError: for another kind.
        :raises ConfigError: for ``prefix`` without a model.
        """
        all_kinds = (ORIGINAL, *self.changes, PREFIX, GENERIC)
        for kind in kinds:
            if kind not in all_kinds:
                raise UnknownNameError('kind of change', kind, all_kinds)
        if PREFIX in kinds and self.regenerate is None:
            raise ConfigError('The kind prefix needs a model: --model FOLDER')
        for example in self.grounded:
            original = example.knowledge, example.response
            if ORIGINAL in kinds:
                yield PerturbedRecord(*original, Label.CONSISTENT, ORIGINAL)
            for kind, change in self.changes.items():
                pair = change(example) if kind in kinds else None
                if pair is not None and pair != original:
                    yield PerturbedRecord(*pair, Label.INCONSISTENT, kind)
            if GENERIC in kinds:
                reply = self.rng.choice(CHAT)
                yield PerturbedRecord(example.knowledge, reply, Label.GENERIC, GENERIC)
        if PREFIX in kinds and self.regenerate is not None:
            starts = [self.start(example.response) for example in self.grounded]
            ends = self.regenerate(starts)
            for example, start, text in zip(self.grounded, starts, ends, strict=True):
                if is_new(example.knowledge, text[len(start) :]):
                    yield PerturbedRecord(
                        example.knowledge, text, Label.INCONSISTENT, PREFIX
                    )

    def verb(self, example: Grounded) -> tuple[str, str] | None:
        """Replace a verb by another in the same form, of another response."""
        doc = self._docs[example.response]
        for token in self.rng.sample(list(doc), len(doc)):
            candidates = [
                text
                for text in self._verbs.get(token.tag_, ())
                if token.pos_ == 'VERB'
                and text.lower() not in example.knowledge.lower()
            ]
            if candidates:
                end = token.idx + len(token.text)
                new = self.rng.choice(candidates)
                changed = example.response[: token.idx] + new + example.response[end:]
                return example.knowledge, changed
        return None

    def antonym(self, example: Grounded) -> tuple[str, str] | None:
        """Replace a word of both texts by its opposite."""
        knowledge_words = set(re.findall(r'\w+', example.knowledge.lower()))
        matches = [
            match
            for match in re.finditer(r'\w+', example.response)
            if (word := match[0].lower()) in ANTONYMS
            and word in knowledge_words
            and ANTONYMS[word] not in knowledge_words
        ]
        if not matches:
            return None
        match = self.rng.choice(matches)
        new = ANTONYMS[match[0].lower()]
        new = new.capitalize() if match[0][0].isupper() else new
        start, end = match.span()
        changed = example.response[:start] + new + example.response[end:]
        return example.knowledge, changed

    def knowledge(self, example: Grounded) -> tuple[str, str] | None:
        """Take the knowledge of another response."""
        candidates = [
            g.knowledge for g in self.grounded if g.knowledge != example.knowledge
        ]
        return (self.rng.choice(candidates), example.response) if candidates else None

    def start(self, response: str) -> str:
        """Return the beginning of a response, which gets a new end."""
        words = response.split()
        return ' '.join(words[: max(1, round(KEPT_SHARE * len(words)))])


def is_new(knowledge: str, end: str) -> bool:
    """Whether the end of a response says something that the knowledge does not."""
    new = token_overlap(knowledge, end).precision < LEAST_PRECISION
    return len(end.split()) >= LEAST_WORDS and new


def writer(folder: str, seed: int) -> Regenerate:
    """Load a local encoder-decoder that continues texts by nucleus sampling."""
    import torch

    from parlai_q2.models.loading import load_seq2seq

    model, tokenizer = load_seq2seq(folder)

    def regenerate(starts: Sequence[str]) -> list[str]:
        torch.manual_seed(seed)
        texts_out = []
        for start in starts:
            begin = tokenizer(start, add_special_tokens=False).input_ids
            ids = [model.config.decoder_start_token_id, *begin]
            read = tokenizer(start, return_tensors='pt')
            outputs = model.generate(
                input_ids=read.input_ids,
                attention_mask=read.attention_mask,
                decoder_input_ids=torch.tensor([ids]),
                do_sample=True,
                top_p=0.9,
                max_new_tokens=NEW_TOKENS,
            )
            texts_out.append(tokenizer.decode(outputs[0], skip_special_tokens=True))
        return texts_out

    return regenerate


def run(arguments: Sequence[str] | None = None) -> dict[str, int]:
    """Write the examples of a file, and return how many of each kind were made."""
    parser = argparse.ArgumentParser(description='Change grounded responses')
    parser.add_argument('--infile', required=True, help='records as score reads them')
    parser.add_argument('--outfile', required=True, help='JSON lines file to write')
    parser.add_argument(
        '--kinds',
        default='original,entity,number,verb,antonym,negation,knowledge,generic',
        help='comma-separated kinds of examples; also prefix, with --model '
        '(default: %(default)s)',
    )
    parser.add_argument('--model', help='local encoder-decoder for the kind prefix')
    parser.add_argument('--seed', type=int, default=0, help='random seed')
    options = parser.parse_args(arguments)
    infile = Path(options.infile)
    outfile = writable(Path(options.outfile), infile)
    examples = [example for _, example in read_valid(infile)]
    pairs = [(example.knowledge_text, example.response) for example in examples]
    write = writer(options.model, options.seed) if options.model else None
    made = PerturbedExamples(pairs, options.seed, write).make(
        split_names(options.kinds)
    )
    return write_examples(outfile, list(made))


def write_examples(outfile: Path, records: Sequence[Any]) -> dict[str, int]:
    """Write named tuples with a ``kind``; print and return their numbers."""
    lines = (json.dumps(record._asdict()) + '\n' for record in records)
    write_text(outfile, ''.join(lines))
    counts = Counter(record.kind for record in records)
    counts_text = ', '.join(f'{kind} {count:,}' for kind, count in counts.items())
    sys.stdout.write(f'Wrote {outfile}: {len(records):,} examples ({counts_text}).\n')
    return dict(counts)


if __name__ == '__main__':
    run_module(run)
