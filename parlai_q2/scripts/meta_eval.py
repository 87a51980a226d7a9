"""
``parlai_q2 meta_eval``: measures how well each scorer agrees with human annotations, as
the papers' tables and figures.
"""

import errno
import os
from pathlib import Path
from typing import Any, Optional

import parlai.utils.logging as logging
from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script
from tqdm import tqdm

from parlai_q2.errors import ConfigError
from parlai_q2.evaluate.cost_file import add_costs
from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.figures.all import all_figures
from parlai_q2.evaluate.figures.style import check_matplotlib
from parlai_q2.evaluate.report import set_report, to_dict, to_text, write_report
from parlai_q2.evaluate.run import evaluate
from parlai_q2.evaluate.sample import sampled
from parlai_q2.evaluate.scoring import Cost, mean_seconds
from parlai_q2.io.write import writing
from parlai_q2.options import split_names
from parlai_q2.parlai.meta_eval_options import (
    add_meta_eval_options,
    columns_from_opt,
    scorers_from_opt,
    variants_from_opt,
)
from parlai_q2.tasks.judged_sets import read_judged_set

# The set on which the Q2 paper reports ablations.
ABLATED = 'q2_wow'
COSTS = 'costs.json'
CHECK = 'Check --outdir.'


@register_script('meta_eval', aliases=['q2_meta_eval'])
class MetaEvalScript(ParlaiScript):
    """
    Compare scorers with people's annotations.
    """

    @classmethod
    def setup_args(cls):
        parser = ParlaiParser(False, False, "Compare scorers with people's annotations")
        return add_meta_eval_options(parser)

    def run(self) -> dict[str, Any]:
        """
        :return: the tables, as the JSON file holds them.
        """
        opt = self.opt
        # All checks come before anything is scored.
        _check(opt)
        variants, columns = variants_from_opt(opt), columns_from_opt(opt)
        sets = [read_judged_set(name, opt) for name in split_names(opt['judged_sets'])]
        scorers = {judged.name: scorers_from_opt(opt, judged.name) for judged in sets}
        folder = Path(opt['outdir'])
        _make(folder)
        for column in columns:
            if column.missing:
                logging.warning(
                    f'{column.measure.name}: {column.missing} cells do not hold a '
                    'number.'
                )
        logging.info(f'Seed {opt["seed"]}, {opt["rounds"]} rounds of each bootstrap.')
        reports, costs = [], {}
        for judged in sets:
            judged = sampled(judged, opt['num_examples'], opt['seed'])
            with Bars(judged.name) as bars:
                evaluation, spent = evaluate(
                    judged,
                    scorers[judged.name],
                    [column.measure for column in columns],
                    variants if judged.name.startswith(ABLATED) else None,
                    opt['random_knowledge']
                    and any(r.dialogue for r in judged.responses),
                    opt['rounds'],
                    opt['seed'],
                    bars.show,
                    logging.warning,
                )
            costs[judged.name] = spent
            reports.append(set_report(evaluation))
        # Printed first, since writing to the folder may fail.
        logging.info('\n' + to_text(reports))
        written = write_report(reports, folder)
        for report in reports:
            seconds = _seconds(folder, report.evaluation, costs)
            if opt['figures']:
                written += all_figures(report.evaluation, folder / 'figures', seconds)
        logging.info(f'Wrote {len(written)} files to {folder}.')
        return to_dict(reports)


class Bars:
    """
    A progress bar for each scorer.

    :param title: what is being scored.
    """

    def __init__(self, title: str):
        self.title = title
        self.bar: Optional[tqdm] = None
        self.name = ''

    def __enter__(self) -> 'Bars':
        return self

    def __exit__(self, *error: Any) -> None:
        if self.bar is not None:
            self.bar.close()

    def show(self, name: str, done: int, total: int) -> None:
        """
        Show how many of a scorer's texts are done.
        """
        if self.bar is None or name != self.name:
            self.__exit__()
            self.name = name
            self.bar = tqdm(
                desc=f'{self.title}, {name}', total=total, unit=' responses'
            )
        self.bar.update(done - self.bar.n)


def _check(opt: Any) -> None:
    if not split_names(opt['judged_sets']):
        raise ConfigError('--task names no set. Give one: --task q2_wow')
    if not (split_names(opt['scorers']) or split_names(opt.get('score_columns'))):
        raise ConfigError(
            'There is nothing to evaluate. Give scorers, --scorers q2,overlap, or a '
            'column of scores, --score-columns FILE:COLUMN'
        )
    if opt['rounds'] < 1 or opt['seed'] < 0:
        raise ConfigError(
            '--rounds must be at least 1 and --seed at least 0, not '
            f'{opt["rounds"]} and {opt["seed"]}.'
        )
    if opt['figures']:
        check_matplotlib()


def _make(folder: Path) -> None:
    with writing(folder, CHECK):
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))


def _seconds(
    folder: Path, evaluation: Evaluation, costs: dict[str, dict[str, Cost]]
) -> dict[str, float]:
    signatures = {m.name: m.signature for m in evaluation.measures}
    spent = {
        signatures[name]: cost
        for name, cost in costs[evaluation.judged.name].items()
        if name in signatures
    }
    with writing(folder, CHECK):
        known = add_costs(folder / f'{evaluation.judged.name}_{COSTS}', spent)
    by_name = {name: known[s] for name, s in signatures.items() if s in known}
    return mean_seconds(by_name, list(by_name))
