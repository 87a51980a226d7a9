"""
Measures what more candidates give: the time of a turn, and how often a wrong reply is
chosen, for each strategy and number of candidates of a generator.

The judge is a scorer that does not choose. Times are processor times of all cores
together, which other programs disturb least.
"""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

from parlai_q2.bench.measuring import sample
from parlai_q2.claims import Label, Score
from parlai_q2.cli import log
from parlai_q2.cli.scorer_options import scorer_device
from parlai_q2.figures.style import (
    check_matplotlib,
    line_style,
    new_figure,
    panels,
    save,
)
from parlai_q2.generate.chat import USER
from parlai_q2.generate.generator import Generator, open_shipped
from parlai_q2.generate.strategies import SearchMethod, parse_strategies
from parlai_q2.presets import load_preset
from parlai_q2.rerank import Candidate, Pool, Ranking, Reranker
from parlai_q2.rerank.candidate import distinct_candidates
from parlai_q2.rerank.relevance import TurnReader
from parlai_q2.scorers import load_scorer
from parlai_q2.scorers.base import Scorer
from parlai_q2.turns import Example, Turn

NUMBERS = (5, 10, 20, 40)
MIXED = 'mixed'
JUDGE = 'q2'  # it does not choose
STRATEGIES = (
    SearchMethod.BEAM,
    SearchMethod.NUCLEUS,
    SearchMethod.DELAYED,
    SearchMethod.TOPK,
    MIXED,
)
# What is measured: first what a single candidate gives, the likeliest at each step.
CASES = ((SearchMethod.GREEDY, 1), *((name, n) for n in NUMBERS for name in STRATEGIES))
# Of ten candidates of the mixture, so many are found by each.
SHARES = {SearchMethod.BEAM: 4, SearchMethod.NUCLEUS: 3, SearchMethod.DELAYED: 3}


def searches(strategy: str, number: int) -> str:
    """
    ``number`` candidates by a strategy, in the form of ``--candidate-strategies``.

    >>> searches('mixed', 20)
    'beam:8,nucleus:6,delayedbeam:6'
    >>> searches('mixed', 5)
    'beam:2,nucleus:2,delayedbeam:1'
    """
    if strategy != MIXED:
        return f'{strategy}:{number}'
    counts = {name: number * share // 10 for name, share in SHARES.items()}
    by_rest = sorted(SHARES, key=lambda name: -(number * SHARES[name] % 10))
    for name in by_rest[: number - sum(counts.values())]:
        counts[name] += 1
    return ','.join(f'{name}:{count}' for name, count in counts.items())


class CandidateBench:
    """Finds and chooses replies; a scorer that does not choose them judges them."""

    def __init__(
        self,
        generator: Generator,
        reranker: Reranker,
        judge: Scorer,
        turns: Sequence[Turn],
    ):
        self.generator, self.reranker, self.judge = generator, reranker, judge
        self.turns = turns
        self._contexts = [
            generator.context([(USER, t) for t in turn.history], turn.knowledge_text)[0]
            for turn in turns
        ]
        self._judged: dict[tuple[int, str], Score] = {}

    def measure(self, strategy: str, number: int) -> dict[str, Any]:
        """
        Measure one strategy with a number of candidates: medians of seconds a turn; in
        how many turns the judge calls the chosen reply and the generator's first
        inconsistent; their mean scores; and pairs of the chosen and the first reply.
        """
        searches_asked = parse_strategies(searches(strategy, number))
        find: list[float] = []
        choose: list[float] = []
        rankings: list[Ranking] = []
        for turn, context in zip(self.turns, self._contexts, strict=True):
            begun = time.process_time()
            (written,) = self.generator.writer.write([context], [searches_asked])
            texts = [self.generator.text(item.tokens, context) for item in written]
            candidates = distinct_candidates([Candidate(text) for text in texts])
            candidates = candidates or [Candidate('')]
            searched = time.process_time()
            pool = Pool(turn.knowledge, candidates, turn.history)
            rankings += self.reranker.rank_batch([pool])
            find.append(searched - begun)
            choose.append(time.process_time() - searched)
        chosen = self._judge([item.chosen.text for item in rankings])
        first = self._judge([item.first.text for item in rankings])
        return {
            'strategy': strategy,
            'candidates': number,
            'turns': len(self.turns),
            'distinct': fmean(len(item.candidates) for item in rankings),
            'find': median(find),
            'choose': median(choose),
            'wrong': sum(_wrong(score) for score in chosen),
            'first_wrong': sum(_wrong(score) for score in first),
            'judged': fmean(score.value for score in chosen),
            'first_judged': fmean(score.value for score in first),
            'replies': [[item.chosen.text, item.first.text] for item in rankings],
        }

    def _judge(self, replies: Sequence[str]) -> list[Score]:
        """Scores of a reply to each turn; what was judged before is not again."""
        keys = list(enumerate(replies))
        new = [key for key in keys if key not in self._judged]
        examples = [Example(self.turns[n].knowledge, text) for n, text in new]
        for key, score in zip(new, self.judge.score(examples), strict=True):
            self._judged[key] = score
        return [self._judged[key] for key in keys]


def describe_candidates(rows: Sequence[Mapping[str, Any]]) -> str:
    """What :meth:`CandidateBench.measure` found, as a table."""
    lines = [
        f'{"strategy":<13}{"asked":>6}{"distinct":>10}{"find":>8}{"choose":>8}'
        f'{"wrong":>8}{"judged":>8}   processor seconds a turn; of {rows[0]["turns"]}'
    ]
    lines += [
        f'{row["strategy"]:<13}{row["candidates"]:>6}{row["distinct"]:>10.1f}'
        f'{row["find"]:>8.3f}{row["choose"]:>8.3f}{row["wrong"]:>8}'
        f'{row["judged"]:>8.3f}'
        for row in rows
    ]
    return '\n'.join(lines)


def turns_of(records: Sequence[Mapping[str, Any]]) -> list[Turn]:
    """The turns of the records, each after those of its topic with their replies."""
    turns: list[Turn] = []
    histories: dict[str, list[str]] = {}
    for fields in records:
        history = histories.setdefault(fields['topic'], [])
        history.append(fields['message'])
        turns.append(Turn(fields['knowledge'], tuple(history), fields['id']))
        history.append(fields['gold'])
    return turns


def _wrong(score: Score) -> bool:
    return score.label == Label.INCONSISTENT


HEIGHT = 2.4  # inches


def draw_candidates(rows: Sequence[Mapping[str, Any]], folder: Path) -> list[Path]:
    """Write the figure ``candidates`` of measured rows as PNG and SVG."""
    strategies = list(dict.fromkeys(row['strategy'] for row in rows))
    numbers = sorted({row['candidates'] for row in rows})
    with new_figure(HEIGHT) as figure:
        wrong, time = panels(figure, 2)
        for n, strategy in enumerate(strategies):
            strategy_rows = [row for row in rows if row['strategy'] == strategy]
            strategy_rows.sort(key=lambda row: row['candidates'])
            counts = [row['candidates'] for row in strategy_rows]
            style = {'label': strategy, **line_style(n)}
            shares = [100 * row['wrong'] / row['turns'] for row in strategy_rows]
            wrong.plot(counts, shares, **style)
            time.plot(
                counts, [row['find'] + row['choose'] for row in strategy_rows], **style
            )
        for axes in (wrong, time):
            axes.set_xscale('log', base=2)
            axes.set_xticks(numbers, [str(number) for number in numbers])
            axes.set_xlabel('candidates asked for')
            axes.set_ylim(bottom=0)
        wrong.set_ylabel('% of turns with a wrong choice')
        time.set_ylabel('processor seconds a turn')
        wrong.legend()
        return save(figure, folder, 'candidates')


def run(opt: Mapping[str, Any], outfile: Path) -> list[dict[str, Any]]:
    """Measure what more candidates of the shipped reply model give, and draw it."""
    check_matplotlib()
    turns = turns_of(sample())[: opt['responses']]
    device = scorer_device(opt)
    judge = load_scorer(JUDGE, opt['preset'], device=device)
    chooser = load_scorer(preset=opt['preset'], device=device)
    relevance = TurnReader.of(load_preset(opt['preset']), device=device)
    reranker = Reranker(chooser, relevance=relevance)
    bench = CandidateBench(open_shipped(), reranker, judge, turns)
    rows = []
    for strategy, number in CASES:
        rows.append(bench.measure(strategy, number))
        # It takes long enough for each to be worth seeing.
        head, row = describe_candidates(rows[-1:]).splitlines()
        log.show_result(f'{head}\n{row}' if len(rows) == 1 else row)
    for path in draw_candidates(rows, outfile.parent):
        log.info(f'Wrote {path}')
    return rows
