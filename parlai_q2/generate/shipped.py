"""
The shipped reply model: an adapter over a T5 that it shares, merged as it is loaded.

At each step the output layer reads as much memory as all other layers of the decoder.
So the model writes with a vocabulary map, like the candidate lists of Jean et al. 2015:
the tokens of its context, and the 6,000 commonest of the replies that it learnt from.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from parlai_q2.generate.decoding import Decoding
from parlai_q2.generate.library import VOCABULARY_MAP, Place
from parlai_q2.models.converted.from_adapter import read_adapter_folder
from parlai_q2.models.converted.layout import SEQ2SEQ
from parlai_q2.models.folder import blaming

COMMON = 'common_tokens.json'
# The reply model, the searches that suit it, and the longest context that it learnt.
REPLY_MODEL = 'q2_mini/reply'
REPLY_DECODING = Decoding(beam_min_length=8, beam_block_ngram=3, label_truncate=64)
REPLY_TOKENS = 512


def adapted(folder: Path, device: str, compute_type: str) -> tuple[Place, Path]:
    """
    A model made of an adapter and its base, in memory.

    :return: the model's place, and the base's folder, which has the tokenizer.
    :raises ModelError: when a file was changed or damaged, or the two do not fit.
    """
    found = read_adapter_folder(folder, SEQ2SEQ)
    files = {
        **found.files,
        VOCABULARY_MAP: vocabulary_map(found.source(), common_tokens(folder)),
    }
    return Place(folder, device, compute_type, files), found.tokenizer


def common_tokens(folder: Path) -> list[str]:
    """
    The tokens that may follow any context.

    :raises ModelError: when the file is no list of tokens.
    """
    with blaming(folder / COMMON):
        found = json.loads((folder / COMMON).read_text(encoding='utf-8'))
        if not isinstance(found, list) or not all(isinstance(t, str) for t in found):
            raise ValueError('it is no list of tokens')
    return found


def vocabulary_map(words: Sequence[str], common: Sequence[str]) -> bytes:
    """
    A map in the library's form: lines with tokens of a context, a tab, and the tokens
    that may then be written. No token before the tab means any context.
    """
    rest = set(words) - set(common)
    lines = ['\t' + ' '.join(common), *(f'{w}\t{w}' for w in words if w in rest)]
    return '\n'.join([*lines, '']).encode()
