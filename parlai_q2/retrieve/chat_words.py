"""
What the common words of conversation tell of the passage that a reply rests on.

The weight of a word is measured on grounded dialogues: how often the passage has the
word when the turns before the reply have it, less how often any passage has it. A word
that tells as much as most others weighs 1; "hello" and "know" weigh almost nothing.
Words that were too rare to measure weigh 1. ``chat_words.json`` was fitted by
``python -m parlai_q2.retrieve.chat_words`` to the dialogues that the shipped reply
generator was trained on, those apart that recall is measured on.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from parlai_q2.retrieve.measure import Asked, read_turns
from parlai_q2.retrieve.words import words_of

FILE = Path(__file__).with_suffix('.json')
# A word is measured if it was seen this often; with this many more sightings at PRIOR,
# the share of an ordinary word.
LEAST_SEEN = 60
MORE, PRIOR = 20, 0.3
# What is heavier than this is left out of the file, and weighs 1.
HEAVIEST = 0.75
# Words of more than this share of all passages tell nothing by themselves.
COMMON = 0.1


@lru_cache(maxsize=1)
def _table() -> Mapping[str, float]:
    return json.loads(FILE.read_text(encoding='utf-8'))


def weight_of(word: str) -> float:
    """
    What a word, as :func:`~parlai_q2.retrieve.words.words_of` gives it, counts in a
    query, in [0, 1].

    >>> weight_of('baikal'), weight_of('hello') < 0.2
    (1.0, True)
    """
    return _table().get(word, 1.0)


def fit(turns: Iterable[Asked]) -> dict[str, float]:
    """The weights of the words of turns with their passages, by word."""
    seen, told, passages = Counter[str](), Counter[str](), dict[str, set[str]]()
    for turn in turns:
        if turn.gold not in passages:
            passages[turn.gold] = set(words_of(turn.gold))
        said = set(words_of('\n'.join(turn.history[-2:])))
        seen.update(said)
        told.update(said & passages[turn.gold])
    having = Counter(word for words in passages.values() for word in words)
    weights = {}
    for word in sorted(word for word, count in seen.items() if count >= LEAST_SEEN):
        common = having[word] / len(passages)
        share = (told[word] + MORE * PRIOR) / (seen[word] + MORE) - common
        weight = 0.0 if common > COMMON else (max(0.0, share) / PRIOR) ** 0.5
        if weight < HEAVIEST:
            weights[word] = round(weight, 2)
    return weights


def main(infile: str) -> None:
    """Fit the weights to a file of dialogues, and write them beside this module."""
    weights = fit(
        turn for turn in read_turns(Path(infile)) if turn.gold and not turn.held_out
    )
    text = json.dumps(weights, ensure_ascii=False, indent=0)
    FILE.write_text(text + '\n', encoding='utf-8')


if __name__ == '__main__':
    main(sys.argv[1])
