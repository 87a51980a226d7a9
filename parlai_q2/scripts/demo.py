"""
``parlai_q2 demo``: shows what parlai_q2 does, offline, on the sample that ships.

The Q2 teacher evaluates a replay of the annotated responses. Then the reranking agent
answers some turns of the dialogues, and shows its choice beside the generator's first
candidate, with the reasons. A page has the evidence of both. Everything runs in
ParlAI's own worlds.
"""

import time
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional

import parlai.utils.logging as logging
from parlai.core.agents import create_agent
from parlai.core.message import Message
from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script
from parlai.core.worlds import World, create_task
from parlai.utils.world_logging import WorldLogger

from parlai_q2.agents.grounded_rerank import AGENT
from parlai_q2.agents.grounded_rerank.display import (
    colour,
    show,
    width,
)
from parlai_q2.errors import ConfigError, UnknownNameError
from parlai_q2.io.knowledge import find_knowledge
from parlai_q2.records import Score
from parlai_q2.report import render_score, write_report
from parlai_q2.report.candidates import before_and_after, notes_of
from parlai_q2.report.figures import Mean
from parlai_q2.scorers import scorer_names
from parlai_q2.text.visible import one_line

TASK = 'parlai_q2.tasks.grounded_sample.agents'
DEFAULT_OUTFILE = 'outputs/demo.html'
# Two conversations are reranked. In the first one, the generator's first candidate says
# something that its knowledge does not support.
RERANKED = f'{TASK}:DialogueTeacher:berlin_wall:honeybees'
DEFAULT_TURNS = 6
# Responses in one call of the scorer, and in one line of progress.
BATCH = 21
# Explains the teacher's metrics to those who see them for the first time.
ABOUT_QUESTIONS = {
    'coverage': 'share of responses that have a question',
    'questions': 'questions a response',
    'no_answer': 'share of questions that find no answer',
}
Record = dict[str, Any]


@register_script('demo', aliases=[])
class DemoScript(ParlaiScript):
    """
    Evaluate and rerank on the sample that ships, and write a page of the evidence.
    """

    @classmethod
    def setup_args(cls):
        parser = ParlaiParser(
            False, False, 'See scoring and reranking at work, offline'
        )
        parser.add_argument(
            '--outfile', type=str, default=DEFAULT_OUTFILE, help='the page to write'
        )
        parser.add_argument(
            '--turns',
            type=int,
            default=DEFAULT_TURNS,
            help='turns of the dialogues to answer with reranked candidates',
        )
        parser.add_argument(
            '--scorer',
            type=str,
            default='grounded',
            help='the scorer, such as grounded, q2 or consistency',
        )
        return parser

    def run(self) -> Path:
        scorer, turns = self.opt['scorer'], self.opt['turns']
        if scorer not in scorer_names():
            raise UnknownNameError('scorer', scorer, scorer_names())
        if turns < 0:
            raise ConfigError(f'--turns is {turns}; it must be at least 0.')
        began, level = time.monotonic(), logging.logger.level
        # ParlAI logs every option and task; here only warnings are of interest.
        logging.set_log_level('WARNING')
        try:
            annotated = list(evaluate(scorer))
            reranked = list(rerank(scorer, turns)) if turns else []
        finally:
            logging.set_log_level(level)
        page = write_report(
            [*reranked, *annotated], self.opt['outfile'], title='parlai_q2 demo'
        )
        show(
            f'\nThe evidence of all {len(reranked) + len(annotated)} responses: {page}'
            f'\nDone in {time.monotonic() - began:.0f} s.'
        )
        return page


def evaluate(scorer: str) -> Iterator[Record]:
    """
    Replay the sample's annotated responses for the Q2 teacher, and print mean scores.

    :param scorer: the scorer's name.
    :return: a scored record for each response.
    """
    show(
        f'1. Evaluating the annotated responses with {scorer}\n'
        f'   parlai eval_model -t {TASK}:AnnotatedTeacher -m repeat_label '
        f'--scorer {scorer}\n'
        '   Loading the models first ...'
    )
    began = time.monotonic()
    world = _world(
        task=f'{TASK}:AnnotatedTeacher',
        model='repeat_label',
        scorer=scorer,
        batchsize=BATCH,
    )
    log = WorldLogger({'log_keep_fields': 'all'})
    said = 0
    while not world.epoch_done():
        world.parley()
        log.log(world)
        new = sum(not act.is_padding() for act in world.get_acts()[0])
        # The last parleys of a batch world only end its episodes.
        said += new
        if new == BATCH or (new and said == world.num_examples()):
            seconds = time.monotonic() - began
            show(f'   {said} of {world.num_examples()} responses, {seconds:.0f} s')
    # Asking for the report makes the teacher score the responses that still wait.
    report = world.report()
    log.reset()
    classes: dict[str, Mean] = {}
    for teacher, model in _turns(log):
        score = model['q2_evidence']
        classes.setdefault(teacher['q2_label'], Mean()).add(score['score'])
        yield {**_texts(teacher, model), **score, 'q2_label': teacher['q2_label']}
    show('\n   The mean score of each class that people gave; 1 is grounded:')
    show(f'   {"class":<14}{"responses":>9}{"mean score":>12}')
    for name, mean in sorted(classes.items(), key=lambda item: -(item[1].value or 0)):
        show(f'   {name:<14}{mean.count:>9}{mean.value:>12.3f}')
    about = about_questions(report)
    show(f'{about}\n' if about else '')


def about_questions(report: Mapping[str, Any]) -> str:
    """
    The question metrics of a report, one a line; empty if the scorer asks no questions.
    """
    return ''.join(
        f'\n   {words:<43}{report[name].value():>6.3f}'
        for name, words in ABOUT_QUESTIONS.items()
        if name in report
    )


def rerank(scorer: str, turns: int) -> Iterator[Record]:
    """
    Answer two of the sample's dialogues with reranked candidates, and print why they
    were chosen.

    :param scorer: the scorer's name.
    :param turns: number of turns, at least 1.
    :return: a scored record for each turn, with its candidates.
    """
    show(
        f"2. Reranking the reply generator's candidates with {scorer}\n"
        f'   parlai eval_model -t {RERANKED} -m {AGENT} --scorer {scorer}\n'
        '   Loading the reply model; its first turn takes longest ...'
    )
    # The agent has scored its candidates, so the teacher need not score the choice.
    world = _world(task=RERANKED, model=AGENT, scorer=scorer, q2_metrics=False)
    first, chosen = Mean(), Mean()
    history: list[str] = []
    for number in range(1, turns + 1):
        if world.epoch_done():
            break
        began = time.monotonic()
        world.parley()
        teacher, model = world.get_acts()
        show(f'\n   Turn {number} of {turns}, {time.monotonic() - began:.1f} s')
        history.append(teacher['text'])
        record = _reranked_record(teacher, model, history)
        history.append(model['text'])
        if teacher['episode_done']:
            history = []
        _show_turn(teacher, model)
        for mean, row in zip(
            (first, chosen), before_and_after(model['rerank']), strict=True
        ):
            if row is not None and row['score'] is not None:
                mean.add(row['score'])
        if record is not None:
            yield record
    if first.count:
        show(
            f'\n   Mean score of the first candidates {first.value:.3f}, '
            f'of the chosen ones {chosen.value:.3f}.'
        )


def _world(**options: Any) -> World:
    """A ParlAI world with these options, in evaluation mode."""
    parser = ParlaiParser(True, True)
    opt = parser.parse_kwargs(datatype='valid', **options)
    return create_task(opt, create_agent(opt))


def _turns(log: WorldLogger) -> Iterator[list[Message]]:
    for episode in log.get_logs():
        yield from (acts for acts in episode if len(acts) == 2)


def _texts(teacher: Mapping[str, Any], model: Mapping[str, Any]) -> Record:
    return {
        'id': teacher.get('turn_id'),
        'knowledge': find_knowledge(teacher) or '',
        'response': model['text'],
        'history': [teacher['text']],
    }


def _reranked_record(
    teacher: Mapping[str, Any], model: Mapping[str, Any], history: list[str]
) -> Optional[Record]:
    """The record of a reranked turn; None if nothing was scored."""
    _, chosen = before_and_after(model['rerank'])
    if chosen is None or chosen['score'] is None:
        return None
    texts = {**_texts(teacher, model), 'history': list(history)}
    texts['id'] = f'reranked {texts["id"]}'
    return {
        **texts,
        **Score.from_dict(chosen).to_dict(),
        'knowledge': model['rerank_knowledge'],
        'signature': model['rerank_signature'],
        'rerank': model['rerank'],
    }


def _show_turn(teacher: Mapping[str, Any], model: Mapping[str, Any]) -> None:
    first, chosen = before_and_after(model['rerank'])
    show(f'person    {one_line(teacher["text"])}')
    if chosen is None or first is None:
        return
    count = len(model['rerank'])
    if first is chosen:
        show(
            f"-- kept: the generator's first of {count} candidates; {chosen['reason']}"
        )
    else:
        show(
            '; '.join(["-- before: the generator's first candidate", *notes_of(first)])
        )
        _show_candidate(first, model)
        show(f'-- after: chosen of {count} candidates, {chosen["reason"]}')
    _show_candidate(chosen, model)


def _show_candidate(row: Mapping[str, Any], model: Mapping[str, Any]) -> None:
    if row['score'] is None:
        show(f'response  {one_line(row["text"])}')
        return
    score, knowledge = Score.from_dict(row), model['rerank_knowledge']
    show(render_score(score, row['text'], knowledge, colour(), width()))
