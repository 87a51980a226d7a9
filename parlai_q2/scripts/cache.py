"""``parlai_q2 cache``: shows what the score cache holds, and clears it."""

import sys
from datetime import date

from parlai_q2.cache import ScoreCache
from parlai_q2.cli import log
from parlai_q2.cli.scorer_options import cache_from_opt
from parlai_q2.errors import ConfigError, UnknownNameError
from parlai_q2.json_values import JsonObject
from parlai_q2.options import OptionParser, Options
from parlai_q2.signature import Signature, digits

ALL = 'all'
SECONDS_A_DAY = 24 * 3600


def add_options(parser: OptionParser) -> None:
    parser.add_argument(
        '--clear',
        help=f'delete scores: {ALL}, or the digits of a signature, as this command '
        'shows them',
    )
    parser.add_argument(
        '--older-than',
        type=float,
        help='delete scores that were not used for this many days; with '
        '--clear, only those of that signature',
    )
    parser.add_argument(
        '--cache-file',
        help='the .sqlite file; default: $PARLAI_Q2_CACHE, or '
        'parlai_q2/scores.sqlite in your cache folder',
    )


def run(opt: Options) -> JsonObject:
    """Clear the scores that options name; show and return the cache's contents."""
    cache = cache_from_opt(opt)
    if not cache.path.exists():
        log.info(f'There is no score cache at {cache.path}.')
        return {'path': str(cache.path), 'bytes': 0, 'signatures': []}
    report: JsonObject = {}
    if opt['clear'] or opt['older_than'] is not None:
        report['cleared'] = clear(cache, opt['clear'], opt['older_than'])
        log.info(f'Deleted {report["cleared"]} scores.')
    report.update(contents(cache))
    sys.stdout.write(table(report, opt['verbose']))
    return report


def clear(
    cache: ScoreCache, which: str | None = ALL, older_than: float | None = None
) -> int:
    """
    Delete scores from the cache; return their number.

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
    signatures = {digits(s.text): s.text for s in cache.signatures()}
    matches = [short for short in signatures if short.startswith(str(which))]
    if not matches:
        raise UnknownNameError('signature in the cache', str(which), [*signatures, ALL])
    if len(matches) > 1:
        raise ConfigError(
            f'{which!r} is the beginning of {len(matches)} signatures: '
            f'{", ".join(sorted(matches))}. Give more digits.'
        )
    return cache.clear(signatures[matches[0]], seconds)


def contents(cache: ScoreCache) -> JsonObject:
    """A cache's path and sizes, and its signatures with the day of their last use."""
    signatures = [
        {
            'short': digits(signature.text),
            'signature': signature.text,
            'rows': signature.rows,
            'bytes': signature.bytes,
            'used': date.fromtimestamp(signature.used).isoformat(),
        }
        for signature in cache.signatures()
    ]
    return {
        'path': str(cache.path),
        'bytes': cache.file_bytes(),
        'max_bytes': cache.max_bytes,
        'signatures': signatures,
    }


def table(report: JsonObject, full: bool = False) -> str:
    """Format the result of :func:`contents` as text, perhaps with full signatures."""
    size, limit = readable(report['bytes']), readable(report['max_bytes'])
    lines = [f'{report["path"]}: {size} of at most {limit}']
    for entry in report['signatures']:
        text = entry['signature']
        lines += [
            f'{entry["short"]}  {entry["rows"]:>8} scores  '
            f'{readable(entry["bytes"]):>9}  last used {entry["used"]}',
            f'          {text if full else Signature.from_text(text).short}',
        ]
    if not report['signatures']:
        lines.append('It holds no scores.')
    return '\n'.join(lines) + '\n'


def readable(size: float) -> str:
    """Format a number of bytes for people."""
    for unit in ('B', 'KiB', 'MiB'):
        if size < 1024:
            return f'{size:.0f} {unit}' if unit == 'B' else f'{size:.1f} {unit}'
        size /= 1024
    return f'{size:.1f} GiB'
