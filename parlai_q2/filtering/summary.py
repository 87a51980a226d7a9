"""Summarizes what a filter did, as JSON-safe values and as text."""

import heapq
from itertools import count

from parlai_q2.decimals import percent
from parlai_q2.filtering.judge import JudgedEpisode, JudgedLabel, JudgedTurn
from parlai_q2.json_values import JsonObject
from parlai_q2.report.overview import BINS, score_bin
from parlai_q2.signature import Signature

# The number of most grounded and of least grounded responses to show.
MAX_LISTED = 10
# The length of the longest bar of the histogram, in characters.
WIDTH = 40
TEXT_WIDTH = 100
# The sort key of a response, and its line.
Ranked = tuple[float, int, int, JsonObject]


class FilterSummary:
    """Counts judged episodes."""

    def __init__(self) -> None:
        self.episodes = self.episodes_whole = self.episodes_gone = 0
        self.turns = self.kept = 0
        self.reasons: dict[str, dict[str, int]] = {'kept': {}, 'dropped': {}}
        self.labels: dict[str, int] = {}
        # The sums of the scores of all verifiable responses, and of the kept ones.
        self.total = self.kept_total = 0.0
        self.bins = [{'kept': 0, 'dropped': 0} for _ in range(BINS)]
        self._order = count()
        self._most: list[Ranked] = []
        self._least: list[Ranked] = []

    def add(self, episode: JudgedEpisode) -> None:
        kept_turns = sum(turn.decision.is_kept for turn in episode)
        self.episodes += 1
        self.episodes_whole += kept_turns == len(episode)
        self.episodes_gone += not kept_turns
        self.turns += len(episode)
        self.kept += kept_turns
        for turn in episode:
            self._add_turn(turn)

    def _add_turn(self, turn: JudgedTurn) -> None:
        fate = 'kept' if turn.decision.is_kept else 'dropped'
        reasons = self.reasons[fate]
        reasons[turn.decision.reason] = reasons.get(turn.decision.reason, 0) + 1
        label = turn.main_label
        if label is None or label.score is None:
            return
        score = label.score
        self.labels[score.label] = self.labels.get(score.label, 0) + 1
        if not score.verifiable:
            return
        self.total += score.value
        self.kept_total += score.value * turn.decision.is_kept
        self.bins[score_bin(score.value)][fate] += 1
        order = next(self._order)
        # Ties are broken by more evidence, then by the earlier turn.
        questions = len(score.question_claims)
        line = _line(turn, label)
        most: Ranked = (score.value, questions, -order, line)
        least: Ranked = (-score.value, questions, -order, line)
        # Each entry's order is unique, so the lines themselves are never compared.
        self._most = heapq.nlargest(MAX_LISTED, [*self._most, most])
        self._least = heapq.nlargest(MAX_LISTED, [*self._least, least])

    def to_dict(self, **entries: object) -> JsonObject:
        """The summary as JSON-safe values, after further entries."""
        kept_count = sum(bar['kept'] for bar in self.bins)
        count = kept_count + sum(bar['dropped'] for bar in self.bins)
        return {
            **entries,
            'episodes': self.episodes,
            'episodes_kept_whole': self.episodes_whole,
            'episodes_dropped_whole': self.episodes_gone,
            'turns': self.turns,
            'kept': self.kept,
            'dropped': self.turns - self.kept,
            'kept_share': self.kept / self.turns if self.turns else None,
            'reasons': self.reasons,
            'labels': self.labels,
            'mean_score': self.total / count if count else None,
            'mean_score_kept': self.kept_total / kept_count if kept_count else None,
            'histogram': [
                {'from': n / BINS, 'to': (n + 1) / BINS, **bar}
                for n, bar in enumerate(self.bins)
            ],
            'most_grounded': [entry[-1] for entry in self._most],
            'least_grounded': [entry[-1] for entry in self._least],
        }


def render(summary: JsonObject) -> str:
    """Render the result of :meth:`FilterSummary.to_dict` as text."""
    lines = [sentence(summary)]
    for fate in ('kept', 'dropped'):
        reasons = summary['reasons'][fate].items()
        for reason, n in sorted(reasons, key=lambda item: -item[1]):
            lines.append(f'  {fate:<8}{n:>9}  {reason}')
    bins = summary['histogram']
    kept_count = sum(bar['kept'] for bar in bins)
    dropped_count = sum(bar['dropped'] for bar in bins)
    lines += [
        '',
        f'Mean score of the {kept_count + dropped_count:,} with something to verify: '
        f'{_number(summary["mean_score"])}; of the {kept_count:,} kept: '
        f'{_number(summary["mean_score_kept"])}.',
        '',
    ]
    lines += _histogram(bins)
    for title, name in (
        ('Most grounded', 'most_grounded'),
        ('Least grounded', 'least_grounded'),
    ):
        lines += ['', title]
        for entry in summary[name]:
            fate = 'kept' if entry['kept'] else 'dropped'
            lines.append(f'  {entry["score"]:.2f} {fate:<8}{_short(entry["response"])}')
            lines.append(f'       knowledge  {_short(entry["knowledge"])}')
    if summary.get('signature'):
        lines += ['', f'signature: {summary["signature"]}']
    return '\n'.join(lines).rstrip() + '\n'


def sentence(summary: JsonObject) -> str:
    if not summary['turns']:
        return 'There were no turns.'
    whole, gone = (summary['episodes_kept_whole'], summary['episodes_dropped_whole'])
    scorer = Signature.from_text(summary.get('signature') or '').scorer
    return (
        f'Kept {summary["kept"]:,} of {summary["turns"]:,} turns '
        f'({percent(summary["kept_share"])}) and dropped {summary["dropped"]:,}'
        f'{f" by {scorer}" if scorer else ""}; {whole:,} of {summary["episodes"]:,} '
        f'episodes kept whole, {gone:,} dropped whole.'
    )


def _line(turn: JudgedTurn, label: JudgedLabel) -> JsonObject:
    assert label.score is not None
    return {
        'score': label.score.value,
        'label': label.score.label,
        'kept': turn.decision.is_kept,
        'text': str(turn.message.get('text') or ''),
        'response': label.text,
        'knowledge': turn.knowledge,
    }


def _histogram(bins: list[JsonObject]) -> list[str]:
    totals = [bar['kept'] + bar['dropped'] for bar in bins]
    tallest = max(totals) or 1
    lines = []
    for bar, total in zip(bins, totals):
        kept_width = round(WIDTH * bar['kept'] / tallest)
        dropped_width = round(WIDTH * total / tallest) - kept_width
        bar_text = '#' * kept_width + '-' * dropped_width
        lines.append(f'  {bar["from"]:.1f} to {bar["to"]:.1f} {total:>9}  {bar_text}')
    return [*[line.rstrip() for line in lines], '  # kept, - dropped']


def _number(value: float | None) -> str:
    return 'none' if value is None else f'{value:.3f}'


def _short(text: str) -> str:
    text = ' '.join(text.split())
    return text if len(text) <= TEXT_WIDTH else text[: TEXT_WIDTH - 3] + '...'
