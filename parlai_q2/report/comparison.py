"""
Writes a page that compares two runs: two scorings of the same responses, or two
systems' responses to the same turns; what changed in each.

Two entries are paired if their id, knowledge and response are equal; of the remaining
ones, those with equal knowledge and response, since a run may lack ids. If more entries
have equal ids, knowledge and history than that pairs, the runs are of two systems, and
these are the pairs: what both happen to say is only a part of what they said. Where a
run lacks ids, knowledge and history decide. The occurrences of something that a run has
several times are paired in order.
"""

import logging
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from parlai_q2.errors import InputError
from parlai_q2.intervals import mean_interval
from parlai_q2.io.write import write_text
from parlai_q2.json_values import JsonObject
from parlai_q2.report.entries import Entry, join_pieces
from parlai_q2.report.overview import distinct_signatures
from parlai_q2.report.page import (
    TABLE_SCRIPTS,
    Row,
    count_noun,
    embed,
    index_signatures,
    render,
    three_digits,
)
from parlai_q2.signature import Signature
from parlai_q2.text.normalize import passage_key
from parlai_q2.text.visible import one_line

# The fields that both runs share, and the candidates, which the page does not show.
_NOT_OF_A_SIDE = ('id', 'class', 'history', 'rerank')


class Pairing(NamedTuple):
    """
    The responses in both of two runs, in the order of the second; how many are only in
    the first, and only in the second; how many ids are in both of these groups; and
    whether the runs are of two systems.
    """

    pairs: list[tuple[Entry, Entry]]
    only_before: int
    only_after: int
    other_text: int
    systems: bool = False


def pair_up(before: Sequence[Entry], after: Sequence[Entry]) -> Pairing:
    """Pair the entries of two runs; there are no pairs if a run is empty."""
    scorings = _pair_by(before, after, (_record_key, _text_key))
    has_ids = _has_real_ids(before) and _has_real_ids(after)
    systems = _pair_by(
        before, after, (_turn_key,) if has_ids else (_turn_key, _context_key)
    )
    return (
        systems._replace(systems=True)
        if len(systems.pairs) > len(scorings.pairs)
        else scorings
    )


def _pair_by(
    before: Sequence[Entry],
    after: Sequence[Entry],
    keys: Sequence[Callable[[Entry], Hashable]],
) -> Pairing:
    old_entries, new_entries = dict(enumerate(before)), dict(enumerate(after))
    partners: dict[int, Entry] = {}
    for key in keys:
        places_by_key: dict[Hashable, deque[int]] = defaultdict(deque)
        for place, entry in old_entries.items():
            places_by_key[key(entry)].append(place)
        for place, entry in list(new_entries.items()):
            if candidates := places_by_key[key(entry)]:
                partners[place] = old_entries.pop(candidates.popleft())
                del new_entries[place]
    pairs = [(partners[place], after[place]) for place in sorted(partners)]
    ids = {e['id'] for e in old_entries.values()} & {
        e['id'] for e in new_entries.values()
    }
    return Pairing(pairs, len(old_entries), len(new_entries), len(ids))


def _text_key(entry: Entry) -> tuple[str, str]:
    return join_pieces(entry['knowledge']).strip(), join_pieces(entry['response'])


def _turn_key(entry: Entry) -> tuple[Hashable, ...]:
    # The id, or the place of an entry without one.
    return entry['id'], *_context_key(entry)


def _context_key(entry: Entry) -> tuple[Hashable, ...]:
    return _text_key(entry)[0], tuple(entry['history'])


def _has_real_ids(entries: Sequence[Entry]) -> bool:
    """Whether ids are more than places, which rise from entry to entry."""
    ids = [entry['id'] for entry in entries]
    if not all(map(str.isdecimal, ids)):
        return True
    numbers = list(map(int, ids))
    return numbers != sorted(set(numbers))


def _record_key(entry: Entry) -> tuple[str, ...]:
    return (entry['id'], *_text_key(entry))


def compare_entries(before: Entry, after: Entry) -> JsonObject:
    """How one response changed, as the page's data."""
    difference = round(after['score'] - before['score'], 4)
    is_flip = before['label'] != after['label']
    return {
        'id': after['id'],
        'class': after['class'] or before['class'],
        'history': after['history'] or before['history'],
        'before': _side(before),
        'after': _side(after),
        'difference': difference,
        'flip': is_flip,
        'other': _text_key(before)[1] != _text_key(after)[1],
        'changed': bool(difference or is_flip),
    }


def _side(entry: Entry) -> Entry:
    return {k: v for k, v in entry.items() if k not in _NOT_OF_A_SIDE}


class TwoRunOverview:
    """
    The numbers of two runs over all pairs, at least one, in which both sent a reply; if
    there are none, over all.
    """

    def __init__(self, all_changes: Sequence[Entry]):
        sides = [(change['before'], change['after']) for change in all_changes]
        # How many turns each run left without a reply.
        self.withheld = tuple(sum(e['abstained'] for e in run) for run in zip(*sides))
        changes = [
            change
            for change, entries in zip(all_changes, sides, strict=True)
            if not any(entry['abstained'] for entry in entries)
        ]
        self.has_replies = bool(changes)
        changes = changes or [*all_changes]
        pairs = [(change['before'], change['after']) for change in changes]
        differences = [change['difference'] for change in changes]
        self.count = len(pairs)
        self.before, self.after = means(pairs)
        self.higher = sum(difference > 0 for difference in differences)
        self.lower = sum(difference < 0 for difference in differences)
        # The number of pairs by label before and after.
        self.labels = Counter((old['label'], new['label']) for old, new in pairs)
        self.flips = sum(n for (old, new), n in self.labels.items() if old != new)
        # By human label: the number of pairs, and the mean scores before and after.
        self.classes = {}
        for name in sorted({c['class'] for c in changes if c['class']}):
            class_pairs = [
                p for p, c in zip(pairs, changes, strict=True) if c['class'] == name
            ]
            self.classes[name] = (len(class_pairs), *means(class_pairs))
        # The bootstrap draws passages of knowledge, or the turns of the only one.
        drawn = [passage_key(join_pieces(new['knowledge'])) for _, new in pairs]
        self.drawn = 'passages' if len(set(drawn)) > 1 else 'turns'
        if self.drawn == 'turns':
            drawn = list(map(str, range(self.count)))
        # How many of them have a difference.
        self.different = len({n for n, d in zip(drawn, differences, strict=True) if d})
        self.interval = mean_interval(differences, groups=drawn)


def means(pairs: Sequence[tuple[Entry, Entry]]) -> tuple[float, float]:
    before, after = zip(*pairs, strict=True)
    return fmean(e['score'] for e in before), fmean(e['score'] for e in after)


def different_settings(before: str, after: str) -> list[tuple[str, str, str]]:
    """The settings in which two signatures differ, with both values or empty texts."""
    old, new = _settings(before), _settings(after)
    rows = [(name, old.get(name, ''), new.get(name, '')) for name in {**old, **new}]
    return [row for row in rows if row[1] != row[2]]


def _settings(text: str) -> dict[str, str]:
    signature = Signature.from_text(text)
    return {
        'scorer': signature.scorer,
        **signature.texts(),
        'version': signature.version,
    }


_logger = logging.getLogger(__name__)

# If fewer passages or turns differ, all favour the same of two equal systems in more
# than one case of twenty, and the bootstrap cannot know.
MIN_DIFFERENT = 6
NEEDED = {
    'turns': ' A verdict needs {} turns that differ.',
    'passages': ' A verdict needs turns that differ on {} passages.',
}
NO_REPLY = 'No verdict: no turn has a reply in both.'
NO_VERDICT = (
    'No verdict: the two systems were not scored with the same scorer and settings.'
)
SCRIPTS = ('marks.js', 'evidence.js', *TABLE_SCRIPTS, 'changes.js')


def write_comparison(
    before: Sequence[Entry],
    after: Sequence[Entry],
    path: str | Path,
    names: tuple[str, str] = ('before', 'after'),
) -> Path:
    """
    Write a page that compares two runs with these names, completely or not at all; an
    InputError when they have nothing in common.
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
    for change in changes:
        # What was withheld has no score that could differ.
        if change['before']['abstained'] or change['after']['abstained']:
            change |= {'difference': 0, 'flip': False, 'changed': False}
            change['withheld'] = True
    for side in ('before', 'after'):
        sides = index_signatures([change[side] for change in changes], signatures)
        for change, entry in zip(changes, sides, strict=True):
            change[side] = entry
    summary = _summary(run_names, overview, pairing)
    verdict = '' if not pairing.systems else NO_VERDICT
    if verdict and set(old_signatures) == set(new_signatures):
        verdict = describe_verdict(run_names, overview)
    title = f'Two scorings of {count_noun(overview.count, "response")}'
    if pairing.systems:
        title = f'Two systems on {count_noun(overview.count, "turn")}'
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
        title=title,
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
            f'{names[0]} ({count_noun(len(before), "response")}) and {names[1]} '
            f'({len(after):,}) have nothing in common: two scorings are matched by '
            'response and knowledge, two systems by id, knowledge and history.'
            + (f' {ids:,} ids are in both, with other knowledge.' if ids else '')
        )
    return pairing


def _log_summary(summary: str, rows: Sequence[Row], verdict: str) -> None:
    means, difference = rows[:2]
    _logger.info(f'{summary}.')
    _logger.info(f'Mean {means[1]}, difference {difference[1]} ({difference[2]}).')
    if verdict:
        _logger.info(verdict)


def _summary(names: tuple[str, str], overview: TwoRunOverview, pairing: Pairing) -> str:
    noun = 'turn' if pairing.systems else 'response'
    is_part = any(overview.withheld) and overview.has_replies
    has_reply = ' with a reply' if is_part else ''
    count = f'{count_noun(overview.count, noun)}{has_reply} in both'
    if pairing.only_before or pairing.only_after:
        shared = len(pairing.pairs)
        sizes = [shared + n for n in (pairing.only_before, pairing.only_after)]
        count += f' (of {sizes[0]:,} and {sizes[1]:,}; all figures are of these)'
    changed = overview.higher + overview.lower
    return (
        f'{names[0]} \u2192 {names[1]}: {count}, {changed:,} with a different score, '
        f'{overview.flips:,} with a different label'
    )


def describe_verdict(names: tuple[str, str], overview: TwoRunOverview) -> str:
    """Which of two systems is better grounded, in words, as far as it can be told."""
    if not overview.has_replies:
        return NO_REPLY
    interval = overview.interval
    ties = overview.count - overview.higher - overview.lower
    wins = [(names[0], overview.lower), (names[1], overview.higher)]
    if interval.mean > 0:
        wins.reverse()
    (better, won), (worse, lost) = wins
    claim = f'{better} is better grounded than {worse}'
    too_few = overview.different < MIN_DIFFERENT
    if too_few or interval.low <= 0 <= interval.high:
        claim = f'It is not clear whether {better} or {worse} is better grounded'
    return (
        f'{claim}: {better} is ahead in {won:,} of {overview.count:,} turns, '
        f'{worse} in {lost:,}, and {ties:,} are ties.'
        + (NEEDED[overview.drawn].format(MIN_DIFFERENT) if too_few else '')
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
    if any(overview.withheld):
        withheld = ' \u2192 '.join(f'{n:,}' for n in overview.withheld)
        left_out = 'left out above' if overview.has_replies else 'no turn has both'
        rows.append(('Without a reply', withheld, f'turns; {left_out}'))
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
    text = f'{value:+.3f}'
    return '0.000' if text in ('+0.000', '-0.000') else text.replace('-', '\u2212')
