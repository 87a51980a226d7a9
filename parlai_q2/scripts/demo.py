"""
``parlai_q2 demo``: scores the annotated responses of the shipped sample. With ParlAI it
also answers turns of its dialogues with reranked candidates.
"""

import shutil
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

from parlai_q2.claims import Score
from parlai_q2.cli import log
from parlai_q2.cli.commands import has_parlai, how_to_install
from parlai_q2.errors import ConfigError
from parlai_q2.io.write import ANOTHER, as_write_error, writable
from parlai_q2.json_values import JsonObject
from parlai_q2.options import OptionParser, Options
from parlai_q2.report import render_score, use_colour, write_report
from parlai_q2.report.entries import explain_place
from parlai_q2.rerank import Candidate, Ranking
from parlai_q2.scorers import Scorer, load_scorer
from parlai_q2.tasks.grounded_sample.reader import read_part
from parlai_q2.text.visible import one_line
from parlai_q2.turns import Example

TASK = 'q2:grounded_sample'
# Two conversations are reranked. In the first one, the generator's first candidate says
# something that its knowledge does not support.
RERANKED = f'{TASK}:dialogue:berlin_wall:honeybees'
AGENT = 'q2:grounded_rerank'
# Responses in one call of the scorer, and in one line of progress.
BATCH = 21


def add_options(parser: OptionParser) -> None:
    parser.add_argument(
        '--outfile', default='outputs/demo.html', help='the page to write'
    )
    parser.add_argument(
        '--turns',
        type=int,
        default=6,
        help='turns of the dialogues to answer with reranked candidates; needs ParlAI',
    )
    parser.add_argument(
        '--choose',
        default='grounded',
        help='the scorer that chooses and scores, such as grounded, q2 or consistency',
    )


def run(opt: Options) -> Path:
    """Score and rerank the sample; return the page of the evidence."""
    name, turns = opt['choose'], opt['turns']
    if turns < 0:
        raise ConfigError(f'--turns is {turns}; it must be at least 0.')
    outfile = Path(opt['outfile'])
    writable(outfile)
    began, scorer = time.monotonic(), load_scorer(name)
    records = list(evaluate(scorer))
    if turns and has_parlai():
        records = [*rerank(name, turns), *records]
    elif turns:
        log.warning(f'Reranking replies of a model needs ParlAI. {how_to_install()}')
    with as_write_error(outfile, ANOTHER):
        page = write_report(records, outfile, title='parlai_q2 demo')
    seconds = time.monotonic() - began
    show(f'\nThe evidence of all {len(records)} responses: {page}')
    show(f'Done in {seconds:.0f} s.')
    return page


def evaluate(scorer: Scorer) -> Iterator[JsonObject]:
    """Score the annotated responses and print each class's mean; return the records."""
    show(
        f'1. Scoring the annotated responses by {scorer.name}\n'
        f'   parlai_q2 eval_model -t {TASK}:annotated -m repeat_label '
        f'--measure {scorer.name}\n'
        '   Loading the models first ...'
    )
    start_time, responses = time.monotonic(), read_part('', [])
    scores: list[Score] = []
    for start in range(0, len(responses), BATCH):
        pairs = (response.pair for response in responses[start : start + BATCH])
        scores += scorer.score([Example(*pair) for pair in pairs])
        seconds = time.monotonic() - start_time
        show(f'   {len(scores)} of {len(responses)} responses, {seconds:.0f} s')
    classes = defaultdict(list)
    for response, score in zip(responses, scores, strict=True):
        classes[response.label].append(score.value)
        yield {
            'id': f'{response.dialogue}-{response.turn}',
            'knowledge': response.knowledge,
            'response': response.response,
            'history': [response.text],
            **score.to_dict(),
            'q2_label': response.label,
        }
    show('\n   The mean score of each class that people gave; 1 is grounded:')
    show(f'   {"class":<14}{"responses":>9}{"mean score":>12}')
    for label, values in sorted(classes.items(), key=lambda item: -fmean(item[1])):
        show(f'   {label:<14}{len(values):>9}{fmean(values):>12.3f}')
    show('')


def rerank(scorer: str, turns: int) -> Iterator[JsonObject]:
    """Answer turns of two dialogues, print each choice; return the records."""
    show(
        f"2. Reranking the reply generator's candidates by {scorer}\n"
        f'   parlai_q2 eval_model -t {RERANKED} -m {AGENT} --choose {scorer}\n'
        '   Loading the reply model; its first turn takes longest ...'
    )
    world = _world(scorer)
    pairs: list[tuple[float, float]] = []
    history: list[str] = []
    for number in range(1, turns + 1):
        if world.epoch_done():
            break
        began = time.monotonic()
        world.parley()
        teacher, model = world.get_acts()
        show(f'\n   Turn {number} of {turns}, {time.monotonic() - began:.1f} s')
        history.append(teacher['text'])
        ranking = Ranking.from_dict(model)
        _show_turn(teacher, ranking)
        first, chosen = ranking.first.score, ranking.chosen.displayed_score
        if chosen is not None:
            pairs.append((first.value if first else 0.0, chosen.value))
            yield {
                **ranking.to_dict(),
                **chosen.to_dict(),
                'id': f'reranked {teacher.get("turn_id")}',
                'knowledge': model['rerank_knowledge'],
                'response': model['text'],
                'history': list(history),
            }
        history = [] if teacher['episode_done'] else [*history, model['text']]
    if pairs:
        before, after = (fmean(scores) for scores in zip(*pairs, strict=True))
        show(
            f'\n   Mean score of the first candidates {before:.3f}, of the chosen '
            f'ones {after:.3f}.'
        )


def _world(scorer: str) -> Any:
    """A world of the reranking agent and the sample's dialogues, with few logs."""
    from parlai_q2.parlai import compat

    compat.apply()
    import parlai.utils.logging as logging
    from parlai.core.agents import create_agent
    from parlai.core.params import ParlaiParser
    from parlai.core.worlds import create_task

    from parlai_q2.cli.names import expand_agent, expand_tasks

    # The agent has scored its candidates, so the teacher need not score the choice.
    opt = ParlaiParser(True, True).parse_kwargs(
        datatype='valid',
        task=expand_tasks(RERANKED),
        model=expand_agent(AGENT),
        choose=scorer,
        q2_metrics=False,
    )
    level = logging.logger.level
    # ParlAI logs every option and task; here only warnings are of interest.
    logging.set_log_level('WARNING')
    try:
        return create_task(opt, create_agent(opt))
    finally:
        logging.set_log_level(level)


def _show_turn(teacher: JsonObject, ranking: Ranking) -> None:
    first, chosen = ranking.first, ranking.chosen
    show(f'person    {one_line(teacher["text"])}')
    count = len(ranking.candidates)
    if first is chosen:
        show(f"-- kept: the generator's first of {count} candidates; {ranking.reason}")
    else:
        notes = [
            "-- before: the generator's first candidate",
            *explain_place(first, ranking),
        ]
        show('; '.join(notes))
        _show_candidate(first, ranking)
        show(f'-- after: chosen of {count} candidates, {ranking.reason}')
    _show_candidate(chosen, ranking)


def _show_candidate(candidate: Candidate, ranking: Ranking) -> None:
    if candidate.displayed_score is None:
        show(f'response  {one_line(candidate.text)}')
        return
    colour, columns = use_colour(sys.stdout), shutil.get_terminal_size().columns
    show(
        render_score(
            candidate.displayed_score, candidate.text, ranking.passages, colour, columns
        )
    )


def show(text: str) -> None:
    print(text, flush=True)
