"""
How much a scorer asks of a GPU, counted on one that is not there.

    python -m tests.devices.count --responses 64

Prints calls a response, and how often a response waits for a result. A call takes some
microseconds to ask for, whatever it computes, and a wait as long as all that was asked
before it: with small models they decide how many responses a GPU scores in a second.
"""

import argparse

from parlai_q2 import Example, load_scorer
from parlai_q2.scripts.bench import sample
from tests.devices.pretend_gpu import pretend_gpu


def main() -> None:
    parser = argparse.ArgumentParser(description='Counts what is asked of a GPU')
    parser.add_argument('--scorer', default='q2')
    parser.add_argument('--responses', type=int, default=30)
    args = parser.parse_args()
    turns = sample()[: args.responses]
    examples = [Example(f['knowledge'], f['response']) for f in turns]
    with pretend_gpu() as counted:
        scorer = load_scorer(args.scorer, device='cuda:0')
        scorer.score(examples[:1])
        counted.calls = counted.waits = 0
        scorer.score(examples)
    calls, waits = (n / len(turns) for n in (counted.calls, counted.waits))
    print(f'{args.scorer}: {calls:.0f} calls and {waits:.1f} waits a response')


if __name__ == '__main__':
    main()
