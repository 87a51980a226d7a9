"""
Compares two runs: two scorings of the same responses, or two systems' responses to the
same turns; what changed in each, and why.

Two entries are paired if their id, knowledge and response are equal; of the remaining
ones, those with equal knowledge and response, since a run may lack ids. If more entries
have equal ids, knowledge and history than that pairs, the runs are of two systems, and
these are the pairs: what both happen to say is only a part of what they said. Where a
run lacks ids, knowledge and history decide. The occurrences of something that a run has
several times are paired in order.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NamedTuple

from parlai_q2.report.entries import Entry
from parlai_q2.signature import Signature

# How a claim differs between two runs, in the order of the page: the knowledge gave
# another answer; it was compared otherwise; what was marked without a question has
# other words, another status or sentence; only one of the runs asked the question.
FATES = ('answer', 'comparison', 'mark', 'before', 'after', 'same')

# The fields that both runs share, and the candidates, which the page does not show.
_NOT_OF_A_SIDE = ('id', 'class', 'history', 'rerank')


class Pairing(NamedTuple):
    """
    The responses in both of two runs, in the order of the second; how many are only in
    the first, and only in the second; how many ids are in both of these groups, as
    the same record with another response or other knowledge; and whether the runs are
    of two systems.
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
    return _join_pieces(entry['knowledge']), _join_pieces(entry['response'])


def _join_pieces(pieces: Sequence[Sequence[Any]]) -> str:
    return ''.join(piece[0] for piece in pieces)


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


def compare_entries(before: Entry, after: Entry) -> dict[str, Any]:
    """
    How one response changed, as the page's data.

    :return: ``id``, ``class`` and ``history``; ``before`` and ``after``; ``difference``
        of the scores in [-1, 1]; ``flip``, whether the labels differ; ``other``,
        whether the responses do; ``rows`` of
        :func:`compare_claims`; ``why``, how many claims differ by fate, and
        ``whole`` where only one of the runs compared the whole response; ``changed``,
        whether the score or the label differs.
    """
    difference = round(after['score'] - before['score'], 4)
    is_flip = before['label'] != after['label']
    other_text = _text_key(before)[1] != _text_key(after)[1]
    # Of two responses, each has evidence of its own.
    rows = [] if other_text else compare_claims(before['claims'], after['claims'])
    reasons = Counter(fate for _, _, fate in rows if fate != 'same')
    if not other_text and before['fallback'] != after['fallback']:
        reasons['whole'] = 1
    return {
        'id': after['id'],
        'class': after['class'] or before['class'],
        'history': after['history'] or before['history'],
        'before': _side(before),
        'after': _side(after),
        'difference': difference,
        'flip': is_flip,
        'other': other_text,
        'rows': rows,
        'why': reasons,
        'changed': bool(difference or is_flip),
    }


def _side(entry: Entry) -> Entry:
    return {k: v for k, v in entry.items() if k not in _NOT_OF_A_SIDE}


def compare_claims(
    before: Sequence[Entry], after: Sequence[Entry]
) -> list[tuple[int, int, str]]:
    """
    The claims of two runs side by side, those that differ first; where something was
    asked, those with questions.

    :return: for each claim, its indices in both lists (-1 if missing) and one of
        :data:`FATES`. The same question about the same words of the response is one
        row; without questions, words that overlap are, those that are equal first.
    """
    places_before, places_after = _claim_places(before), _claim_places(after)
    rows: list[tuple[int, int, str]] = []
    for match in (_equal, _overlap):
        for new in list(places_after):
            old = next((n for n in places_before if match(before[n], after[new])), None)
            if old is not None:
                places_before.remove(old)
                places_after.remove(new)
                rows.append((old, new, _fate(before[old], after[new])))
    rows += [(-1, n, 'after' if after[n]['question'] else 'mark') for n in places_after]
    rows += [
        (n, -1, 'before' if before[n]['question'] else 'mark') for n in places_before
    ]
    return sorted(rows, key=lambda row: (FATES.index(row[2]), row[1] < 0, row[1]))


def _claim_places(claims: Sequence[Entry]) -> list[int]:
    """The places of the claims with questions, or of all if nothing was asked."""
    with_question = [n for n, claim in enumerate(claims) if claim['question']]
    return with_question or list(range(len(claims)))


def _equal(before: Entry, after: Entry) -> bool:
    # A question is about a word, wherever it stands.
    names = ('question', 'text') if after['question'] else ('question', 'text', 'at')
    return all(before[name] == after[name] for name in names)


def _overlap(before: Entry, after: Entry) -> bool:
    (start, end), (other_start, other_end) = before['at'], after['at']
    is_mark = not before['question'] and not after['question']
    return is_mark and start < other_end and other_start < end


def _fate(before: Entry, after: Entry) -> str:
    different = {name for name in after if before[name] != after[name]}
    if not after['question']:
        return 'mark' if different & {'text', 'evidence', 'status'} else 'same'
    if 'evidence' in different:
        return 'answer'
    return 'comparison' if different & {'comparison', 'support'} else 'same'


def distinct_signatures(entries: Iterable[Entry]) -> list[str]:
    """The distinct signatures of a run's entries, in order of appearance."""
    return list(dict.fromkeys(e['signature'] for e in entries if e['signature']))


def different_settings(before: str, after: str) -> list[tuple[str, str, str]]:
    """
    The settings in which two signatures differ, with both values; a value is empty if
    its signature lacks the setting.
    """
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
