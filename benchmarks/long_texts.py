"""
Measures how the time of scorers grows with the length of texts::

    python -m benchmarks.long_texts --scorers consistency,grounded_fast

Knowledge and response have the same length, from 1 kB to 1 MB each: the seconds of CPU
for one record are printed, models loaded.
"""

import argparse
import random
import time

from parlai_q2 import Example, load_scorer

SIZES = (1_000, 10_000, 100_000, 1_000_000)
SCORERS = 'consistency,grounded_fast,spans,nli,q2,precision,rouge_l,bleu'
NAMES = 'Ada Boris Clara Dmitri Elena Farouk'.split()
THINGS = 'bridge castle engine forest garden harbour museum orchestra river'.split()
DEEDS = ('was built by', 'was painted by', 'belongs to', 'was described by')


def make_text(size: int, seed: int) -> str:
    """Sentences with names and numbers, of so many characters."""
    rng = random.Random(seed)
    sentences, length = [], 0
    while length < size:
        sentence = (
            f'The {rng.choice(THINGS)} of {rng.choice(NAMES)} {rng.choice(DEEDS)} '
            f'{rng.choice(NAMES)} in {rng.randint(1500, 2020)}.'
        )
        sentences.append(sentence)
        length += len(sentence) + 1
    return ' '.join(sentences)


def measure(name: str, size: int) -> float:
    """The CPU seconds that a scorer takes for one record."""
    scorer = load_scorer(name)
    scorer.score([Example('Bees have five eyes.', 'Bees have six eyes.')])
    example = Example(make_text(size, 0), make_text(size, 1))
    started = time.process_time()
    scorer.score([example])
    return time.process_time() - started


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--scorers', default=SCORERS, help='names, by commas')
    scorers = parser.parse_args().scorers.split(',')
    print('| scorer |', ' | '.join(f'{size // 1000} kB' for size in SIZES), '|')
    print('|---' * (len(SIZES) + 1) + '|')
    for name in scorers:
        seconds = (f'{measure(name, size):.2f}' for size in SIZES)
        print(f'| `{name}` |', ' | '.join(seconds), '|', flush=True)


if __name__ == '__main__':
    main()
