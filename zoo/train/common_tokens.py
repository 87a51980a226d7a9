"""
Writes the tokens that the shipped reply model may say in any context: the commonest of
the replies that it learnt from (see :mod:`parlai_q2.generate.shipped`):

    python -m parlai_q2.zoo.train.common_tokens --rows reply.train.jsonl.xz \
      --outfile common_tokens.json

It says which share of the replies' tokens they cover. The file's checksum belongs in
the model's ``sha256.json``.
"""

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Optional, Sequence

from parlai.utils import logging
from tokenizers import Tokenizer

from parlai_q2.io.write import whole_file
from parlai_q2.models.references import resolve
from parlai_q2.zoo.train.data import read_rows

TOKENIZER = 'shipped:q2_mini/question_generation'
MOST = 6000


def commonest(
    tokenizer: Tokenizer, replies: Sequence[str], most: int = MOST
) -> tuple[list[str], float]:
    """
    The commonest tokens of some replies.

    :param most: how many; of equally common ones those that come first.
    :return: the tokens, sorted, and which share of the replies' tokens they are.
    """
    counts: Counter[str] = Counter()
    for encoded in tokenizer.encode_batch(list(replies), add_special_tokens=False):
        counts.update(encoded.tokens)
    taken = counts.most_common(most)
    covered = sum(count for _, count in taken) / max(1, counts.total())
    return sorted(token for token, _ in taken), covered


def main(argv: Optional[Sequence[str]] = None) -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description='The commonest tokens of replies')
    parser.add_argument('--rows', required=True, help='a file of rows with r, a reply')
    parser.add_argument('--outfile', required=True)
    parser.add_argument('--tokenizer', default=TOKENIZER, help='a folder with one')
    parser.add_argument('--most', type=int, default=MOST, help='how many')
    args = parser.parse_args(argv)
    path = Path(resolve(args.tokenizer), 'tokenizer.json')
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    replies = [row['r'] for row in read_rows(args.rows)]
    tokens, covered = commonest(tokenizer, replies, args.most)
    with whole_file(Path(args.outfile)) as unfinished:
        text = json.dumps(tokens, ensure_ascii=False)
        unfinished.write_text(text, encoding='utf-8')
    logging.info(
        f'{len(tokens)} tokens, {covered:.1%} of those of {len(replies)} replies: '
        f'{args.outfile}'
    )


if __name__ == '__main__':
    main()
