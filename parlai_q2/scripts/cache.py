"""``parlai_q2 cache``: shows what the score cache holds, and clears it."""

import sys
from datetime import date
from typing import Any, Mapping, Optional

from parlai_q2.cache import ScoreCache
from parlai_q2.cli import log
from parlai_q2.cli.scorer_options import cache_from_opt
from parlai_q2.errors import ConfigError, UnknownNameError
from parlai_q2.signature import Signature, digits

ALL = 'all'
SECONDS_A_DAY = 24 * 3600


def add_options(parser: Any) -> None:
    """Add the command's options."""
    parser.add_argument(
        '--clear',
        help=f'delete scores: {ALL}, or those of one signature, given by the digits '
        'that this command shows for it',
    )
    parser.add_argument(
        '--older-than',
        type=float,
        help='delete scores that have not been used for this many days; with --clear, '
        'only those among the scores it names',
    )
    parser.add_argument(
        '--cache-file',
        help='the .sqlite file; default: $PARLAI_Q2_CACHE, else '
        'parlai_q2/scores.sqlite in your cache folder',
    )


def run(opt: Mapping[str, Any]) -> dict[str, Any]:
    """Clear what options name, and show and return what the cache holds."""
    cache = cache_from_opt(opt)
    if not cache.path.exists():
        log.info(f'There is no score cache at {cache.path}.')
        return {'path': str(cache.path), 'bytes': 0, 'signatures': []}
    found: dict[str, Any] = {}
    if opt['clear'] or opt['older_than'] is not None:
        found['cleared'] = clear(cache, opt['clear'], opt['older_than'])
        log.info(f'Deleted {found["cleared"]} scores.')
    found.update(contents(cache))
    sys.stdout.write(table(found, opt['verbose']))
    return found


def clear(
    cache: ScoreCache, which: Optional[str] = ALL, older_than: Optional[float] = None
) -> int:
    """
    Delete scores from the cache; return how many.

    :param which: ``all``, or the first digits of a signature's hash; None means all.
    :param older_than: delete only scores that were not used for this many days, at
        least 0.
    :raises ConfigError: when no signature, or more than one, begins with these digits.
    """
    if older_than is not None and older_than < 0:
        raise ConfigError(f'--older-than must be a number of days, not {older_than}.')
    seconds = None if older_than is None else older_than * SECONDS_A_DAY
    if which in (None, ALL):
        return cache.clear(unused_for=seconds)
    known = {digits(one.text): one.text for one in cache.signatures()}
    found = [short for short in known if short.startswith(str(which))]
    if not found:
        raise UnknownNameError('signature in the cache', str(which), [*known, ALL])
    if len(found) > 1:
        raise ConfigError(
            f'{which!r} is the beginning of {len(found)} signatures: '
            f'{", ".join(sorted(found))}. Give more digits.'
        )
    return cache.clear(known[found[0]], seconds)


def contents(cache: ScoreCache) -> dict[str, Any]:
    """A cache's place and sizes, and its signatures with the day of their last use."""
    signatures = [
        {
            'short': digits(one.text),
            'signature': one.text,
            'rows': one.rows,
            'bytes': one.bytes,
            'used': date.fromtimestamp(one.used).isoformat(),
        }
        for one in cache.signatures()
    ]
    return {
        'path': str(cache.path),
        'bytes': cache.file_bytes(),
        'max_bytes': cache.max_bytes,
        'signatures': signatures,
    }


def table(found: dict[str, Any], full: bool = False) -> str:
    """What :func:`contents` returned as text, with signatures in full if asked for."""
    size, limit = readable(found['bytes']), readable(found['max_bytes'])
    lines = [f'{found["path"]}: {size} of at most {limit}']
    for one in found['signatures']:
        text = one['signature']
        text = text if full else Signature.from_text(text).short
        lines += [
            f'{one["short"]}  {one["rows"]:>8} scores  {readable(one["bytes"]):>9}  '
            f'last used {one["used"]}',
            f'          {text}',
        ]
    if not found['signatures']:
        lines.append('It holds no scores.')
    return '\n'.join(lines) + '\n'


def readable(size: float) -> str:
    """Format a number of bytes for people."""
    for unit in ('B', 'KiB', 'MiB'):
        if size < 1024:
            return f'{size:.0f} {unit}' if unit == 'B' else f'{size:.1f} {unit}'
        size /= 1024
    return f'{size:.1f} GiB'
