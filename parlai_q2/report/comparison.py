"""Writes a page that compares two scorings of the same responses, or two systems."""

import logging
from collections.abc import Sequence
from pathlib import Path

from parlai_q2.errors import InputError
from parlai_q2.io.write import write_text
from parlai_q2.report.changes import (
    Pairing,
    compare_entries,
    different_settings,
    distinct_signatures,
    pair_up,
)
from parlai_q2.report.entries import Entry
from parlai_q2.report.overview import TwoRunOverview
from parlai_q2.report.page import (
    TABLE_SCRIPTS,
    Row,
    count_noun,
    embed,
    index_signatures,
    render,
    three_digits,
)
from parlai_q2.text.visible import one_line

_logger = logging.getLogger(__name__)

# If fewer turns differ, all favour the same of two equal systems in more than one case
# of twenty, and the bootstrap cannot know.
MIN_DIFFERENT = 6
SCRIPTS = ('marks.js', 'evidence.js', *TABLE_SCRIPTS, 'changes.js')


def write_comparison(
    before: Sequence[Entry],
    after: Sequence[Entry],
    path: str | Path,
    title: str = '',
    names: tuple[str, str] = ('before', 'after'),
) -> Path:
    """
    Write a page that compares two runs.

    :param path: the page's file, which is replaced completely or not at all.
    :param title: the page's title; empty for what was compared.
    :param names: the names of the runs.
    :return: the page's path.
    :raises InputError: when the runs have nothing in common.
    """
    pairing = _pair_runs(before, after, names)
    run_names = one_line(names[0]), one_line(names[1])
    old_signatures = distinct_signatures(before)
    new_signatures = distinct_signatures(after)
    signatures = list(dict.fromkeys([*old_signatures, *new_signatures]))
    changes = [compare_entries(*pair) for pair in pairing.pairs]
    overview = TwoRunOverview(changes)
    # None where a run's scores were not all made in one way.
    is_uniform = len(old_signatures) == len(new_signatures) == 1
    settings = None
    if is_uniform:
        settings = different_settings(old_signatures[0], new_signatures[0])
    changed_scores = overview.higher + overview.lower
    for side in ('before', 'after'):
        sides = index_signatures([change[side] for change in changes], signatures)
        for change, entry in zip(changes, sides, strict=True):
            change[side] = entry
    summary = _summary(run_names, overview, pairing)
    verdict = describe_verdict(run_names, overview) if pairing.systems else ''
    if not title and pairing.systems:
        title = f'Two systems on {count_noun(overview.count, "turn")}'
    elif not title:
        title = f'Two scorings of {count_noun(overview.count, "response")}'
    rows = _overview_rows(overview, pairing)
    _log_summary(summary, rows, verdict)
    words = ('First', 'Second') if pairing.systems else ('Before', 'After')
    data = {
        'names': run_names,
        'words': words,
        'signatures': signatures,
        'changes': changes,
    }
    page = render(
        'changes.html',
        ['page.css', 'changes.css'],
        SCRIPTS,
        title=one_line(title),
        summary=summary,
        verdict=verdict,
        overview=rows,
        words=words,
        labels=overview.labels,
        labels_before=sorted({old for old, _ in overview.labels}),
        labels_after=sorted({new for _, new in overview.labels}),
        classes=[
            (name, f'{count:,}', three_digits(before_mean), three_digits(after_mean))
            for name, (count, before_mean, after_mean) in overview.classes.items()
        ],
        # Scores of the same texts that differ although the signatures are the same.
        unexplained=changed_scores if settings == [] and not pairing.systems else 0,
        settings=settings,
        runs=[(run_names[0], old_signatures), (run_names[1], new_signatures)],
        data=embed(data),
    )
    write_text(Path(path), page)
    return Path(path)


def _pair_runs(
    before: Sequence[Entry], after: Sequence[Entry], names: tuple[str, str]
) -> Pairing:
    """What two runs have in common; an InputError where it is nothing."""
    pairing = pair_up(before, after)
    if not pairing.pairs:
        ids = pairing.other_text
        raise InputError(
            f'{names[0]} ({len(before):,} responses) and {names[1]} ({len(after):,}) '
            'have nothing in common: two scorings are matched by response and '
            'knowledge, two systems by id, knowledge and history.'
            + (f' {ids:,} ids are in both, with other knowledge.' if ids else '')
        )
    return pairing


def _log_summary(summary: str, rows: Sequence[Row], verdict: str) -> None:
    """Log what the page says first."""
    means, difference = rows[:2]
    _logger.info(f'{summary}.')
    _logger.info(f'Mean {means[1]}, difference {difference[1]} ({difference[2]}).')
    if verdict:
        _logger.info(verdict)


def _summary(names: tuple[str, str], overview: TwoRunOverview, pairing: Pairing) -> str:
    noun = 'turn' if pairing.systems else 'response'
    count = f'{overview.count:,} {noun}{"" if overview.count == 1 else "s"} in both'
    if pairing.only_before or pairing.only_after:
        sizes = [overview.count + n for n in (pairing.only_before, pairing.only_after)]
        count += f' (of {sizes[0]:,} and {sizes[1]:,}; all figures are of these)'
    changed = overview.higher + overview.lower
    return (
        f'{names[0]} \u2192 {names[1]}: {count}, {changed:,} with a different score, '
        f'{overview.flips:,} with a different label'
    )


def describe_verdict(names: tuple[str, str], overview: TwoRunOverview) -> str:
    """Which of two systems is better grounded, in words, as far as it can be told."""
    interval = overview.interval
    ties = overview.count - overview.higher - overview.lower
    wins = [(names[0], overview.lower), (names[1], overview.higher)]
    if interval.mean > 0:
        wins.reverse()
    (better, won), (worse, lost) = wins
    claim = f'{better} is better grounded than {worse}'
    too_few = won + lost < MIN_DIFFERENT
    if too_few or interval.low <= 0 <= interval.high:
        claim = f'It is not clear whether {better} or {worse} is better grounded'
    return (
        f'{claim}: {better} is ahead in {won:,} of {overview.count:,} turns, '
        f'{worse} in {lost:,}, and {ties:,} are ties.'
        + (f' A verdict needs {MIN_DIFFERENT} turns that differ.' if too_few else '')
    )


def _overview_rows(overview: TwoRunOverview, pairing: Pairing) -> list[Row]:
    interval, of_all = overview.interval, f'of {overview.count:,}'
    low, high = signed(interval.low), signed(interval.high)
    means = f'{three_digits(overview.before)} \u2192 {three_digits(overview.after)}'
    interval_note = f'95 % interval {low} to {high}, paired bootstrap'
    rows = [
        ('Mean score', means, '1 means grounded'),
        ('Mean difference', signed(interval.mean), interval_note),
        ('Other label', f'{overview.flips:,}', of_all),
        ('Higher and lower', f'{overview.higher:,} and {overview.lower:,}', of_all),
    ]
    if pairing.only_before or pairing.only_after:
        run_words = (
            ('in the first', 'in the second')
            if pairing.systems
            else ('before', 'after')
        )
        counts = pairing.only_before, pairing.only_after
        note = ', '.join(
            f'{n:,} only {run_word}'
            for n, run_word in zip(counts, run_words, strict=True)
        )
        if pairing.other_text:
            note += f'; {pairing.other_text:,} ids with different texts'
        unpaired = pairing.only_before + pairing.only_after
        rows.append(('Not compared', f'{unpaired:,}', note))
    return rows


def signed(value: float) -> str:
    """A difference to three digits, with its sign as it is typeset."""
    text = f'{value:+.3f}'
    return '0.000' if text in ('+0.000', '-0.000') else text.replace('-', '\u2212')
