"""
Measures which kind of mistake is named in wrong replies that people wrote:

    python -m benchmarks.mistakes --replies data/reply.train.jsonl.xz \
      --dialogues data/dial.train.jsonl.gz

The replies are those of hand-written twins whose passages are held out from training.
The kind that a twin's author gave it says what is wrong, but for kinds such as cause,
which may hold any mistake. Precision therefore counts the twins of the other kinds.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from parlai_q2.claims import MistakeKind, Score
from parlai_q2.scorers import load_scorer
from parlai_q2.turns import Example
from parlai_q2.zoo.train.rows import is_held_out, read_rows
from parlai_q2.zoo.train.twins.written import TWINS, shipped_rows, with_passages

# The mistakes that the kinds of twins stand for.
KINDS: Mapping[str, MistakeKind] = {
    **dict.fromkeys(('number', 'numbers', 'units'), MistakeKind.NUMBER),
    **dict.fromkeys(('entity', 'place'), MistakeKind.NAME),
    **dict.fromkeys(('comparison', 'comparisons'), MistakeKind.COMPARISON),
    **dict.fromkeys(('extra', 'addition'), MistakeKind.ADDITION),
    'time': MistakeKind.TIME,
    'negation': MistakeKind.NEGATION,
}


def mistake_kind(score: Score) -> MistakeKind | None:
    """The kind of a response's least supported mistake; None if it has none."""
    wrong = [claim for claim in score.claims if claim.mistake]
    least = min(wrong, key=lambda claim: claim.support, default=None)
    return least.mistake.kind if least and least.mistake else None


def measure(pairs: Iterable[tuple[str, MistakeKind | None]]) -> list[dict[str, Any]]:
    """
    Precision and recall of each kind, from the kind of each twin and what was named in
    it, if anything was. Twins of other kinds do not count.
    """
    counts: Counter[tuple[MistakeKind, MistakeKind | None]] = Counter()
    for kind, named in pairs:
        if kind in KINDS:
            counts[KINDS[kind], named] += 1
    rows = []
    for kind in dict.fromkeys(KINDS.values()):
        twins = sum(n for (actual, _), n in counts.items() if actual == kind)
        named_so = sum(n for (_, named), n in counts.items() if named == kind)
        right = counts[kind, kind]
        rows.append(
            {
                'kind': str(kind),
                'twins': twins,
                'recall': right / twins if twins else None,
                'named': named_so,
                'precision': right / named_so if named_so else None,
            }
        )
    return rows


def main(argv: Sequence[str] | None = None) -> None:
    """Print a line for each kind."""
    parser = argparse.ArgumentParser(description='Kinds of mistakes in twins')
    parser.add_argument('--replies', required=True, help='turns with k and r')
    parser.add_argument('--dialogues', required=True, help='turns with k, h and r')
    args = parser.parse_args(argv)
    turns = [*read_rows(args.replies), *read_rows(args.dialogues)]
    written = with_passages(shipped_rows(*TWINS), [turn['k'] for turn in turns])
    twins = [row for row in written if 'wrong' in row and is_held_out(row['p'])]
    scores = load_scorer('spans').score([Example(t['p'], t['wrong']) for t in twins])
    pairs = ((t['kind'], mistake_kind(s)) for t, s in zip(twins, scores, strict=True))
    for row in measure(pairs):
        print(row)


if __name__ == '__main__':
    main()
