"""
``parlai_q2 conditions``: one task under several conditions of knowledge, in one table:
what the task gives, and what a search finds, as in table 2 of "Rome was built in 1776"
(Santhanam et al. 2021, arXiv 2110.05456), with a scorer in the place of the crowd.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import parlai.utils.logging as logging
from parlai.core.agents import create_agent
from parlai.core.metrics import F1Metric
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_q2.agents.grounded_rerank import AGENT
from parlai_q2.claims import Label
from parlai_q2.cli.files import given_file
from parlai_q2.cli.knowledge_options import source_from_opt
from parlai_q2.cli.progress import Progress
from parlai_q2.cli.scorer_options import add_scorer_options, scorer_from_opt
from parlai_q2.errors import ConfigError, InputError
from parlai_q2.intervals import mean_interval
from parlai_q2.io.strict_json import write_json
from parlai_q2.io.turn_knowledge import EpisodeKnowledge
from parlai_q2.io.write import AGAIN, encode_line, whole_file, write_text, writing
from parlai_q2.parlai.distillation import replies
from parlai_q2.parlai.task_episodes import add_num_examples, tasks_from_opt
from parlai_q2.retrieve.build import build
from parlai_q2.retrieve.manifest import Settings
from parlai_q2.retrieve.presets import PRESETS, load_search
from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.roles import MEASURE_OF_CHOSEN, Role
from parlai_q2.tables import Column, Table, render_text
from parlai_q2.text.normalize import passage_key
from parlai_q2.turns import Example, Passage, joined, passages_of

GIVEN = 'given'
DEFAULT_CONDITIONS = 'given,bm25'
NOTES = (
    'Brackets: 95 % bootstrap interval; episodes are drawn.',
    'grounded: consistent with what the agent was given or found; true: with what the '
    'task gives; by the scorer that measures. found: the passage of the task is there.',
)
Episode = Sequence[dict[str, Any]]


class Reply(NamedTuple):
    """
    A reply under one condition.

    :param found: the knowledge it was chosen by.
    :param known: the knowledge that the task gives.
    """

    episode: int
    text: str
    labels: tuple[str, ...]
    found: tuple[Passage, ...]
    known: tuple[Passage, ...]


@register_script('conditions', aliases=['q2_conditions'])
class ConditionsScript(ParlaiScript):
    """Compare replies that rest on given and on found knowledge."""

    @classmethod
    def setup_args(cls):
        parser = ParlaiParser(True, True, 'Compare conditions of knowledge')
        group = parser.add_argument_group('Conditions of knowledge')
        group.add_argument(
            '--conditions',
            default=DEFAULT_CONDITIONS,
            help='comma-separated: given (what the task gives), NAME=INDEX (an index '
            'that parlai_q2 index made), or a preset '
            f'({", ".join(PRESETS)}), for which all passages of the task are indexed',
        )
        group.add_argument(
            '--outfile', help='JSON file for the table; replies go to .replies.jsonl'
        )
        add_num_examples(group, 'reply to')
        add_scorer_options(parser, Role.MEASURE, default=MEASURE_OF_CHOSEN)
        # The paper's conditions answer always, whatever was found.
        parser.set_defaults(
            model=AGENT, batchsize=8, explain='none', knowledge_answers=False
        )
        return parser

    def run(self) -> Table:
        opt = self.opt
        outfile = given_file(opt, 'outfile', 'conditions.json')
        opt['override'] = {'model': opt['model'], **(opt.get('override') or {})}
        conditions = conditions_of(opt['conditions'])
        episodes = [episode for task in tasks_from_opt(opt) for episode in task]
        known = knowledge_of_episodes(opt, episodes)
        scorer = scorer_from_opt(opt, Role.MEASURE, default=MEASURE_OF_CHOSEN)
        rows, lines = [], []
        for name, index in conditions.items():
            folder = index
            if name != GIVEN and index is None:
                folder = str(_indexed(name, known, outfile))
            said = said_under(opt, folder, episodes, known)
            rows.append({'condition': name, **measured(said, scorer)})
            lines += [{'condition': name, **_line(reply)} for reply in said]
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
        with writing(outfile, AGAIN):
            write_text(outfile, write_json(table.to_dict(), indent=1) + '\n')
            with whole_file(outfile.with_suffix('.replies.jsonl')) as unfinished:
                unfinished.write_bytes(b''.join(map(encode_line, lines)))
        logging.info(f'{outfile}:\n{render_text(table)}')
        return table


def conditions_of(text: str) -> dict[str, str | None]:
    """
    Conditions by name, with the folder of an index where one is named.

    :raises ConfigError: if one is neither ``given``, nor a preset, nor an index.

    >>> conditions_of('given,knn,mine=INDEX')
    {'given': None, 'knn': None, 'mine': 'INDEX'}
    """
    conditions: dict[str, str | None] = {}
    for condition in filter(None, (part.strip() for part in text.split(','))):
        name, named, folder = condition.partition('=')
        if (named and not folder) or (not named and name not in (GIVEN, *PRESETS)):
            raise ConfigError(
                f'{condition!r} is no condition. Give {GIVEN}, NAME=INDEX, or one of '
                f'{", ".join(PRESETS)}.'
            )
        if name in conditions:
            raise ConfigError(f'The condition {name!r} is there twice.')
        conditions[name] = folder or None
    if not conditions:
        raise ConfigError('--conditions names none.')
    return conditions


def knowledge_of_episodes(
    opt: Mapping[str, Any], episodes: Iterable[Episode]
) -> list[list[tuple[Passage, ...]]]:
    """What the task gives for each turn of each episode."""
    source = source_from_opt(opt)
    passages = []
    for episode in episodes:
        knowledge = EpisodeKnowledge(source)
        passages.append([knowledge.find(message).passages for message in episode])
    return passages


def _indexed(
    name: str, known: Sequence[Sequence[Sequence[Passage]]], outfile: Path
) -> Path:
    """An index of all that a task gives, beside the output."""
    every = dict.fromkeys(p for turns in known for passages in turns for p in passages)
    if not every:
        raise InputError('The task gives no knowledge, so there is nothing to index.')
    documents = outfile.with_suffix('.knowledge.jsonl')
    with writing(documents, AGAIN), whole_file(documents) as unfinished:
        lines = ({'title': p.title, 'text': p.text} for p in every)
        unfinished.write_text(
            ''.join(json.dumps(line) + '\n' for line in lines), encoding='utf-8'
        )
    search, sentences = load_search(name)
    folder = outfile.with_suffix(f'.{name}')
    build([str(documents)], folder, Settings(sentences=sentences, search=search))
    return folder


def said_under(
    opt: Opt,
    index: str | None,
    episodes: Sequence[Episode],
    known: Sequence[Sequence[tuple[Passage, ...]]],
) -> list[Reply]:
    """
    The agent's replies to every turn.

    :param index: the index that its knowledge comes from; None for the task's own.
    """
    agent_opt = Opt({**opt, 'knowledge_index': index})
    agent_opt['override'] = {**opt['override'], 'knowledge_index': index}
    agent = create_agent(agent_opt)
    conversations: list[Reply] = []
    with Progress(index or GIVEN, sum(map(len, episodes)), 'turns') as bar:
        said = replies(agent, episodes, opt.get('batchsize') or 1)
        for number, (episode, of_episode) in enumerate(
            zip(episodes, said, strict=True)
        ):
            for message, passages, reply in zip(
                episode, known[number], of_episode, strict=True
            ):
                conversations.append(
                    Reply(
                        number,
                        str(reply.get('text') or ''),
                        tuple(message.get('labels') or ()),
                        passages_of(reply.get('rerank_knowledge') or ''),
                        passages,
                    )
                )
            bar.update(len(of_episode))
    return conversations


def measured(replies_made: Sequence[Reply], scorer: Scorer) -> dict[str, Any]:
    """The cells of one condition."""
    groups = [reply.episode for reply in replies_made]
    cells: dict[str, Any] = {'turns': len(replies_made)}
    known = [n for n, reply in enumerate(replies_made) if joined(reply.known).strip()]
    if known:
        cells['recall'] = mean_interval(
            [float(holds(replies_made[n].found, replies_made[n].known)) for n in known],
            groups=[groups[n] for n in known],
        )
    for name, field in (('grounded', 'found'), ('true', 'known')):
        scores = scorer.score(
            [Example(getattr(o, field), o.text) for o in replies_made]
        )
        # What states nothing is neither.
        values = {
            n: float(score.label == Label.CONSISTENT)
            for n, score in enumerate(scores)
            if score.verifiable
        }
        if values:
            cells[name] = mean_interval(
                [*values.values()], groups=[groups[n] for n in values]
            )
    labelled = [reply for reply in replies_made if reply.labels]
    if labelled:
        f1 = [F1Metric.compute(reply.text, list(reply.labels)) for reply in labelled]
        cells['f1'] = mean_interval(
            [reply.value() for reply in f1],
            groups=[reply.episode for reply in labelled],
        )
    return cells


def holds(found: Sequence[Passage], known: Sequence[Passage]) -> bool:
    """Whether what was found has a passage that is known, or is a part of it."""
    texts = [passage_key(passage.text) for passage in found]
    targets = [passage_key(passage.text) for passage in known if passage.text.strip()]
    return any(
        text and (text in passage or passage in text)
        for passage in targets
        for text in texts
    )


def _line(reply: Reply) -> dict[str, Any]:
    return {
        'episode': reply.episode,
        'text': reply.text,
        'labels': list(reply.labels),
        'found': [passage.text for passage in reply.found],
        'known': [passage.text for passage in reply.known],
    }
