"""
Fits ``parlai_q2/retrieve/chat_words.json``: how much the common words of conversation
reveal about the passage behind a reply.

    python -m benchmarks.fit_chat_words DIALOGUES.jsonl

The weight of a word is how often the passage has it when the turns before the reply
have it, less how often any passage has it. A word that tells as much as most others
weighs 1; "hello" and "know" weigh almost nothing. Fitted to the dialogues that the
shipped reply generator was trained on, without those that recall is measured on.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from parlai_q2.retrieve.measure import GoldTurn, read_gold_turns
from parlai_q2.retrieve.words import CHAT_WORDS, split_words

# A word is measured if it was seen this often; with this many more sightings at PRIOR,
# the share of an ordinary word.
LEAST_SEEN = 60
MORE, PRIOR = 20, 0.3
# What is heavier than this is left out of the file, and weighs 1.
HEAVIEST = 0.75
# Words of more than this share of all passages tell nothing by themselves.
COMMON = 0.1


def fit(turns: Iterable[GoldTurn]) -> dict[str, float]:
    """Fit the weights of the words of turns with their passages, by word."""
    in_turns, in_both = Counter[str](), Counter[str]()
    passages = dict[str, set[str]]()
    for turn in turns:
        if turn.gold not in passages:
            passages[turn.gold] = set(split_words(turn.gold))
        words = set(split_words('\n'.join(turn.history[-2:])))
        in_turns.update(words)
        in_both.update(words & passages[turn.gold])
    in_passages = Counter(word for words in passages.values() for word in words)
    weights = {}
    for word in sorted(w for w, count in in_turns.items() if count >= LEAST_SEEN):
        base = in_passages[word] / len(passages)
        share = (in_both[word] + MORE * PRIOR) / (in_turns[word] + MORE) - base
        weight = 0.0 if base > COMMON else (max(0.0, share) / PRIOR) ** 0.5
        if weight < HEAVIEST:
            weights[word] = round(weight, 2)
    return weights


if __name__ == '__main__':
    turns = read_gold_turns(Path(sys.argv[1]))
    weights = fit(turn for turn in turns if turn.gold and not turn.is_held_out)
    text = json.dumps(weights, ensure_ascii=False, indent=0)
    CHAT_WORDS.write_text(text + '\n', encoding='utf-8')
