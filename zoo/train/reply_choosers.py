"""
Compares what chooses among a generator's candidates, where nobody judged them::

    parlai_q2 eval_model -t q2:grounded_sample -dt valid -m q2:grounded_rerank --world-logs log.jsonl
    python -m parlai_q2.zoo.train.reply_choosers --log log.jsonl

Each chooser takes one candidate of every turn. What it took is measured by what took no
part in any choice:

- *grounded*: Q2 with token F1 in place of NLI, on the replies that it has questions for;
- *copied*: the share of the reply's tokens that stand in runs of the knowledge;
- *words*: its length;
- *answers*: of turns that ask something, the share where the question answerer finds an
  answer in the reply;
- *relevance*: how much likelier the reply makes the turn before it. The mean log
  probability of a token of that turn under the shipped generator, with the reply in the
  history's place, is put on a scale on which 1 is the generator's first choice and 0 is
  the first choice for another turn.
"""  # noqa: E501

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Optional

import numpy as np

from parlai_q2.bootstrap import Interval, mean_interval
from parlai_q2.claims import Score
from parlai_q2.cli.log import run_module
from parlai_q2.errors import InputError
from parlai_q2.io.read import history_of, knowledge_of
from parlai_q2.models.loading import load_seq2seq
from parlai_q2.rerank import Candidate, Pool, Reranker
from parlai_q2.rerank.candidate import Ranking
from parlai_q2.rerank.choice import Rule, choose
from parlai_q2.rerank.pairs import ranked_turns
from parlai_q2.scorers import load_scorer
from parlai_q2.scorers.q2 import Q2Scorer
from parlai_q2.text.density import extractiveness
from parlai_q2.turns import Example
from parlai_q2.zoo.train.train_seq2seq import REPLIES, TextJob

GENERATOR = 'shipped:q2_mini/reply'
FIRST, LIKELIHOOD, CLASSIFIER = 'first', 'likelihood', 'classifier'
MEASURES = ('grounded', 'copied', 'words', 'answers', 'relevance')
BATCH = 32


class Turn(NamedTuple):
    """A turn before, and the candidates for the reply, the generator's first first."""

    before: str
    pool: Pool


def read_turns(path: Path) -> list[Turn]:
    """
    The turns of a reranking agent's log that have a turn before and two candidates.

    :raises InputError: if there are none.
    """
    found = []
    for fields, error in ranked_turns(path):
        rows = fields.get('rerank') or []
        history = [] if error else history_of(fields)
        if len(rows) < 2 or not history:
            continue
        rows = sorted(rows, key=lambda row: not row['first'])
        candidates = [
            Candidate(row['text'], mean_logprob=row['mean_logprob'], place=n)
            for n, row in enumerate(rows)
        ]
        pool = Pool(knowledge_of(fields), tuple(candidates), tuple(history))
        found.append(Turn(history[-1], pool))
    if not found:
        raise InputError(
            f'{path} has no turn with two candidates and a turn before. Write it with '
            'parlai_q2 eval_model -m q2:grounded_rerank --world-logs.'
        )
    return found


def choices(turns: Sequence[Turn]) -> dict[str, list[str]]:
    """The reply that each chooser takes, for each turn."""
    rerankers = {
        'precision': Reranker('precision'),
        # ParlAI's AbstractReranker: the likeliest of the wanted class, nothing else.
        CLASSIFIER: Reranker(
            'consistency', copy_penalty=0, generic_penalty=0, repeat_penalty=0
        ),
        'grounded_fast': Reranker('grounded_fast'),
    }
    pools = [turn.pool for turn in turns]
    ranked = {
        name: [reranker.rank_batch([p])[0] for p in pools]
        for name, reranker in rerankers.items()
    }
    guarded, rule = ranked['grounded_fast'], rerankers['grounded_fast'].rule
    return {
        FIRST: [pool.candidates[0].text for pool in pools],
        LIKELIHOOD: [
            max(pool.candidates, key=lambda c: c.mean_logprob).text for pool in pools
        ],
        **{name: [r.chosen.text for r in found] for name, found in ranked.items()},
        'no guards': [_unguarded(ranking, rule).chosen.text for ranking in guarded],
    }


def _unguarded(ranking: Ranking, rule: Rule) -> Ranking:
    """The same candidates by their scores alone."""
    given = sorted(ranking.candidates, key=lambda c: c.place)
    scored = [replace(c, value=c.score.value if c.score else None) for c in given]
    return choose(scored, rule, ranking.passages)


class Judge:
    """Measures replies by models that chose none of them; equal ones once."""

    def __init__(self) -> None:
        self.scorer = load_scorer('q2_f1')
        assert isinstance(self.scorer, Q2Scorer)
        self.answerer = self.scorer.models.answerer
        self.model, tokenizer = load_seq2seq(GENERATOR)
        self.job = TextJob(tokenizer, REPLIES)

    def measure(self, turns: Sequence[Turn], replies: Sequence[str]) -> dict[str, Any]:
        """
        The measures of a reply to each turn, NaN where one does not apply;
        ``relevance`` in nats a token.
        """
        knowledge = [
            ' '.join(passage.text for passage in turn.pool.knowledge) for turn in turns
        ]
        pairs = list(zip(knowledge, replies, strict=True))
        scores = self.scorer.score([Example(k, r) for k, r in pairs])
        return {
            'grounded': np.array([_asked(score) for score in scores]),
            'copied': np.array([extractiveness(*pair).coverage for pair in pairs]),
            'words': np.array([float(len(r.split())) for r in replies]),
            'answers': np.array(self._answers([t.before for t in turns], replies)),
            'relevance': self.likelihood([t.before for t in turns], replies),
        }

    def _answers(self, before: Sequence[str], replies: Sequence[str]) -> list[float]:
        asks = [n for n, turn in enumerate(before) if turn.rstrip().endswith('?')]
        found = self.answerer.answer([(before[n], replies[n]) for n in asks])
        answered = dict(zip(asks, found, strict=True))
        return [
            float(answered[n] is not None) if n in answered else np.nan
            for n in range(len(before))
        ]

    def likelihood(self, before: Sequence[str], replies: Sequence[str]) -> np.ndarray:
        """The mean log probability of a token of each turn, after its reply."""
        import torch

        rows = [
            {'h': [reply], 'k': '', 'r': turn}
            for turn, reply in zip(before, replies, strict=True)
        ]
        samples, found = self.job.encode(rows), []
        for start in range(0, len(samples), BATCH):
            tensors = self.job.collate(samples[start : start + BATCH])
            labels = tensors['labels']
            with torch.inference_mode():
                logits = self.model(**tensors).logits
            losses = torch.nn.functional.cross_entropy(
                logits.transpose(1, 2).float(), labels, reduction='none'
            )
            found += (-losses.sum(1) / (labels != -100).sum(1)).tolist()
        return np.array(found)


def _asked(score: Score) -> float:
    return np.nan if score.fallback else score.value


def table(
    turns: Sequence[Turn], taken: dict[str, list[str]], judge: Judge
) -> Iterator[tuple[str, str, Interval, Optional[Interval]]]:
    """
    Each chooser's measures, and their paired differences from the first choice (None
    for the first itself), with 95 % intervals over turns.
    """
    first = judge.measure(turns, taken[FIRST])
    others = taken[FIRST][1:] + taken[FIRST][:1]
    another = judge.likelihood([t.before for t in turns], others)
    distance = float(np.mean(first['relevance'] - another))

    def scaled(measured: dict[str, Any]) -> dict[str, Any]:
        relevance = (measured['relevance'] - another) / distance
        return {**measured, 'relevance': relevance}

    base = scaled(first)
    for name, replies in taken.items():
        found = base if name == FIRST else scaled(judge.measure(turns, replies))
        for measure in MEASURES:
            values, difference = found[measure], found[measure] - base[measure]
            yield (
                name,
                measure,
                mean_interval(list(values[~np.isnan(values)])),
                None
                if name == FIRST
                else mean_interval(list(difference[~np.isnan(difference)])),
            )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description='What do the choosers say?')
    parser.add_argument('--log', type=Path, required=True)
    args = parser.parse_args()
    turns = read_turns(args.log)
    out = sys.stdout.write
    count = sum(len(turn.pool.candidates) for turn in turns)
    out(f'{len(turns)} turns, {count} candidates\n')
    for name, measure, value, difference in table(turns, choices(turns), Judge()):
        out(f'{name:14}{measure:10}{value!s:24}{difference or ""!s}\n')


if __name__ == '__main__':
    run_module(main)
