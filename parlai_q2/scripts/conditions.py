"""
``parlai_q2 conditions``: one task under several conditions of knowledge, in one table:
the task's own, and the results of a search, as in table 2 of "Rome was built in 1776"
(Santhanam et al. 2021, arXiv 2110.05456), with a scorer instead of the crowd.
"""

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import parlai.utils.logging as logging
from parlai.core.agents import create_agent
from parlai.core.metrics import F1Metric
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_q2.agents.grounded_rerank import AGENT
from parlai_q2.claims import Label
from parlai_q2.cli.knowledge_options import source_from_opt
from parlai_q2.cli.log import Progress
from parlai_q2.cli.parser import given_file
from parlai_q2.cli.scorer_options import add_scorer_options, scorer_from_opt
from parlai_q2.errors import ConfigError, InputError
from parlai_q2.intervals import Interval, mean_interval
from parlai_q2.io.write import (
    AGAIN,
    as_write_error,
    whole_file,
    writable,
    write_lines,
    write_text,
)
from parlai_q2.json_values import JsonObject, write_json
from parlai_q2.parlai.distillation import Episode, replies
from parlai_q2.parlai.task_episodes import add_num_examples, tasks_from_opt
from parlai_q2.retrieve.build import build
from parlai_q2.retrieve.index import IndexSettings
from parlai_q2.retrieve.search import SEARCHES, load_search
from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.roles import MEASURE_OF_CHOSEN, Role
from parlai_q2.tables import Column, Table, render_text
from parlai_q2.text.normalize import passage_key
from parlai_q2.turns import Example, Passage, joined, passages_of

GIVEN_KNOWLEDGE = 'given'
DEFAULT_CONDITIONS = 'given,bm25'
NOTES = (
    'Brackets: 95 % bootstrap interval; episodes are drawn.',
    'grounded: consistent with what the agent was given or found; true: with what the '
    'task gives; by the scorer that measures. found: the passage of the task is there.',
)


class ConditionReply(NamedTuple):
    """A reply under one condition, with its own knowledge and the task's."""

    episode: int
    text: str
    labels: tuple[str, ...]
    knowledge: tuple[Passage, ...]
    gold_knowledge: tuple[Passage, ...]


@register_script('conditions', aliases=['q2_conditions'])
class ConditionsScript(ParlaiScript):
    """Compare replies on given and on retrieved knowledge."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        parser = ParlaiParser(True, True, 'Compare conditions of knowledge')
        group = parser.add_argument_group('Conditions of knowledge')
        group.add_argument(
            '--conditions',
            default=DEFAULT_CONDITIONS,
            help='comma-separated: given (the knowledge of the task), NAME=INDEX (an '
            'index that parlai_q2 index wrote), or a search '
            f'({", ".join(SEARCHES)}), which indexes all passages of the task',
        )
        group.add_argument(
            '--outfile', help='JSON file for the table; replies go to .replies.jsonl'
        )
        add_num_examples(group, 'reply to')
        add_scorer_options(parser, Role.MEASURE, default=MEASURE_OF_CHOSEN)
        # In the paper, the model always answers, whatever was found.
        parser.set_defaults(
            model=AGENT, batchsize=8, explain='none', knowledge_answers=False
        )
        return parser

    def run(self) -> Table:
        opt = self.opt
        outfile = given_file(opt, 'outfile', 'conditions.json')
        writable(outfile)
        opt['override'] = {'model': opt['model'], **(opt.get('override') or {})}
        conditions = parse_conditions(opt['conditions'])
        episodes = [episode for task in tasks_from_opt(opt) for episode in task]
        source = source_from_opt(opt)
        gold_knowledge = [source.of_episode(episode) for episode in episodes]
        scorer = scorer_from_opt(opt, Role.MEASURE, default=MEASURE_OF_CHOSEN)
        rows, lines = [], []
        for name, index in conditions.items():
            folder = index
            if name != GIVEN_KNOWLEDGE and index is None:
                folder = str(_build_index(name, gold_knowledge, outfile))
            replies_made = make_replies(opt, folder, episodes, gold_knowledge)
            rows.append({'condition': name, **measure_condition(replies_made, scorer)})
            lines += [{'condition': name, **_line(reply)} for reply in replies_made]
        table = Table(
            'conditions',
            f'{opt["task"]} under {len(rows)} conditions of knowledge',
            (
                Column('condition', 'condition', repeated=True),
                Column('turns', 'turns', 0),
                Column('recall', 'found'),
                Column('grounded', 'grounded'),
                Column('true', 'true'),
                Column('f1', 'F1'),
            ),
            tuple(rows),
            (*NOTES, f'Measured by {scorer.signature}'),
        )
        with as_write_error(outfile, AGAIN):
            write_text(outfile, write_json(table.to_dict(), indent=1) + '\n')
            write_lines(outfile.with_suffix('.replies.jsonl'), lines)
        logging.info(f'{outfile}:\n{render_text(table)}')
        return table


def parse_conditions(text: str) -> dict[str, str | None]:
    """
    Conditions by name, with the folder of an index where one is named.

    :raises ConfigError: if one is neither ``given``, nor a search, nor an index.

    >>> parse_conditions('given,knn,mine=INDEX')
    {'given': None, 'knn': None, 'mine': 'INDEX'}
    """
    conditions: dict[str, str | None] = {}
    for condition in filter(None, (part.strip() for part in text.split(','))):
        name, equals, folder = condition.partition('=')
        is_known = bool(folder) if equals else name in (GIVEN_KNOWLEDGE, *SEARCHES)
        if not is_known:
            raise ConfigError(
                f'{condition!r} is not a condition. Give {GIVEN_KNOWLEDGE}, '
                f'NAME=INDEX, or one of {", ".join(SEARCHES)}.'
            )
        if name in conditions:
            raise ConfigError(f'--conditions names {name!r} twice.')
        conditions[name] = folder or None
    if not conditions:
        raise ConfigError('--conditions names none.')
    return conditions


def _build_index(
    name: str, gold_knowledge: Sequence[Sequence[Sequence[Passage]]], outfile: Path
) -> Path:
    """Build an index of all knowledge of a task, beside the output."""
    passages: dict[Passage, None] = {}
    for turns in gold_knowledge:
        for turn_passages in turns:
            passages.update(dict.fromkeys(turn_passages))
    if not passages:
        raise InputError('The task gives no knowledge, so there is nothing to index.')
    documents = outfile.with_suffix('.knowledge.jsonl')
    with as_write_error(documents, AGAIN), whole_file(documents) as unfinished:
        lines = ({'title': p.title, 'text': p.text} for p in passages)
        unfinished.write_text(
            ''.join(json.dumps(line) + '\n' for line in lines), encoding='utf-8'
        )
    search, sentences = load_search(name)
    folder = outfile.with_suffix(f'.{name}')
    build([str(documents)], folder, IndexSettings(sentences=sentences, search=search))
    return folder


def make_replies(
    opt: Opt,
    index: str | None,
    episodes: Sequence[Episode],
    gold_knowledge: Sequence[Sequence[tuple[Passage, ...]]],
) -> list[ConditionReply]:
    """
    Let the agent reply to every turn.

    :param index: the index that its knowledge comes from; None for the task's own.
    """
    agent_opt = Opt({**opt, 'knowledge_index': index})
    agent_opt['override'] = {**opt['override'], 'knowledge_index': index}
    agent = create_agent(agent_opt)
    made_replies: list[ConditionReply] = []
    with Progress(index or GIVEN_KNOWLEDGE, sum(map(len, episodes)), 'turns') as bar:
        for number, messages in enumerate(
            replies(agent, episodes, opt.get('batchsize') or 1)
        ):
            turns = zip(episodes[number], gold_knowledge[number], messages, strict=True)
            for message, passages, reply in turns:
                made_replies.append(
                    ConditionReply(
                        number,
                        str(reply.get('text') or ''),
                        tuple(message.get('labels') or ()),
                        passages_of(reply.get('rerank_knowledge') or ''),
                        passages,
                    )
                )
            bar.update(len(messages))
    return made_replies


def measure_condition(
    condition_replies: Sequence[ConditionReply], scorer: Scorer
) -> JsonObject:
    cells: JsonObject = {'turns': len(condition_replies)}
    gold = [
        reply for reply in condition_replies if joined(reply.gold_knowledge).strip()
    ]
    cells['recall'] = _mean(
        gold, [has_gold_passage(r.knowledge, r.gold_knowledge) for r in gold]
    )
    for name, field in (('grounded', 'knowledge'), ('true', 'gold_knowledge')):
        scores = scorer.score(
            [Example(getattr(r, field), r.text) for r in condition_replies]
        )
        # Replies that state nothing are neither.
        verifiable = [
            (reply, score.label == Label.CONSISTENT)
            for reply, score in zip(condition_replies, scores, strict=True)
            if score.verifiable
        ]
        cells[name] = _mean(
            [reply for reply, _ in verifiable], [v for _, v in verifiable]
        )
    labelled = [reply for reply in condition_replies if reply.labels]
    f1 = [F1Metric.compute(reply.text, list(reply.labels)) for reply in labelled]
    cells['f1'] = _mean(labelled, [metric.value() for metric in f1])
    return {name: cell for name, cell in cells.items() if cell is not None}


def _mean(
    condition_replies: Sequence[ConditionReply], values: Sequence[float]
) -> Interval | None:
    """The mean of values with an interval over episodes; None if there are none."""
    if not values:
        return None
    return mean_interval(
        [float(value) for value in values],
        groups=[reply.episode for reply in condition_replies],
    )


def has_gold_passage(
    knowledge: Sequence[Passage], gold_knowledge: Sequence[Passage]
) -> bool:
    """Whether the knowledge has a gold passage, or a part of one."""
    texts = [passage_key(p.text) for p in knowledge if p.text.strip()]
    gold_texts = [passage_key(p.text) for p in gold_knowledge if p.text.strip()]
    pairs = itertools.product(texts, gold_texts)
    return any(text in gold or gold in text for text, gold in pairs)


def _line(reply: ConditionReply) -> JsonObject:
    return {
        'episode': reply.episode,
        'text': reply.text,
        'labels': list(reply.labels),
        'found': [passage.text for passage in reply.knowledge],
        'known': [passage.text for passage in reply.gold_knowledge],
    }
