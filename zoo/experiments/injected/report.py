"""
Renders the results as Markdown tables and as JSON.
"""

from typing import Any, Optional, Sequence

from parlai_q2.bootstrap import Interval
from parlai_q2.zoo.experiments.injected.measure import MADE_UP, measures
from parlai_q2.zoo.experiments.injected.results import Results
from parlai_q2.zoo.experiments.injected.runs import WAYS
from parlai_q2.zoo.experiments.injected.settings import UNFILTERED, Settings

EXAMPLES = 4


def render(results: Results, settings: Settings) -> str:
    """
    All tables.
    """
    parts = ['What each scorer finds of the injections', filter_table(results)]
    for way in WAYS:
        parts += [f'Replies, {way}', reply_table(results, settings, way)]
        parts += [f'Against {UNFILTERED}, {way}', gain_table(results, settings, way)]
    parts += ['Made up, by seed', seed_table(results, settings)]
    return '\n\n'.join(parts) + '\n'


def filter_table(results: Results) -> str:
    """
    One row for each scorer.
    """
    kinds = sorted({k for q in results.filters.values() for k in q.by_kind})
    head = ['scorer', 'kept', 'precision', 'recall', 'injected in what is kept']
    rows = [
        [
            f'`{name}`',
            *(shown(i) for i in (q.kept, q.precision, q.recall, q.left)),
            *(shown(q.by_kind.get(kind)) for kind in kinds),
        ]
        for name, q in results.filters.items()
    ]
    return table([*head, *(f'recall, {kind}' for kind in kinds)], rows)


def reply_table(results: Results, settings: Settings, way: str) -> str:
    """
    One row for each condition, with the means.
    """
    columns = measures(settings.judges)
    rows = [
        [
            f'`{condition}`',
            f'{results.trained_on[condition]:,}',
            *(shown(results.means[condition, way, m.name]) for m in columns),
        ]
        for condition in settings.conditions
    ]
    return table(['trained on', 'turns', *(m.title for m in columns)], rows)


def gain_table(results: Results, settings: Settings, way: str) -> str:
    """
    One row for each condition, with its difference from ``unfiltered`` by context.
    """
    columns = measures(settings.judges)
    rows = [
        [
            f'`{condition}`',
            *(shown(results.gains[condition, way, m.name], True) for m in columns),
            shown(results.closed.get((condition, way))),
        ]
        for condition in settings.conditions
        if condition != UNFILTERED
    ]
    return table(['trained on', *(m.title for m in columns), 'way to `clean`'], rows)


def seed_table(results: Results, settings: Settings) -> str:
    """
    One row for each condition, with what is made up under each seed.
    """
    head = [f'{way}, seed {seed}' for way in WAYS for seed in settings.seeds]
    rows = [
        [
            f'`{condition}`',
            *(
                f'{results.by_seed[condition, way, seed]:.3f}'
                for way in WAYS
                for seed in settings.seeds
            ),
        ]
        for condition in settings.conditions
    ]
    return table(['trained on', *head], rows)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """
    A table in Markdown.
    """
    lines = [head, ['---'] * len(head), *rows]
    return '\n'.join('| ' + ' | '.join(line) + ' |' for line in lines)


def shown(interval: Optional[Interval], signed: bool = False) -> str:
    """
    An interval for people, with as many digits as its size calls for.
    """
    if interval is None:
        return ''
    digits = 1 if max(map(abs, interval)) >= 2 else 3
    form = f'{"+" if signed else ""}.{digits}f'
    mean, low, high = (format(value, form) for value in interval)
    return f'{mean} [{low}, {high}]'


def to_dict(results: Results, settings: Settings) -> dict[str, Any]:
    """
    The results as JSON-safe values, with replies to a few contexts.
    """

    def named(found: dict) -> dict[str, Any]:
        return {'/'.join(map(str, key)): value for key, value in found.items()}

    differ = [e for e in results.examples if e[UNFILTERED] != e['gold']]
    return {
        'settings': settings.to_dict(),
        'filters': {name: q._asdict() for name, q in results.filters.items()},
        'trained_on': results.trained_on,
        'means': named(results.means),
        'against_unfiltered': named(results.gains),
        'way_to_clean': named(results.closed),
        f'{MADE_UP.name}_by_seed': named(results.by_seed),
        'examples': differ[:EXAMPLES],
    }
