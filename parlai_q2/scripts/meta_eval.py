"""
``parlai_q2 meta_eval``: measures how well each scorer agrees with human annotations, as
the papers' tables and figures.
"""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile

from parlai_q2.cli import log
from parlai_q2.cli.log import Progress
from parlai_q2.cli.parser import add_fields_option
from parlai_q2.cli.scorer_options import (
    add_cache_options,
    add_model_options,
    model_options,
)
from parlai_q2.errors import ConfigError
from parlai_q2.evaluate.evaluation import MULTI, VARIANTS, check_set, evaluate
from parlai_q2.evaluate.measures import ScoreTable, read_column
from parlai_q2.evaluate.set_figures import all_figures
from parlai_q2.evaluate.set_reader import read_set
from parlai_q2.evaluate.set_report import (
    NAME,
    SetReport,
    to_dict,
    to_text,
    write_set_reports,
)
from parlai_q2.evaluate.sets import sampled
from parlai_q2.figures.style import check_matplotlib
from parlai_q2.intervals import ROUNDS, SEED
from parlai_q2.io.fields import read_fields
from parlai_q2.io.write import as_write_error
from parlai_q2.json_values import JsonObject
from parlai_q2.options import OptionParser, Options, split_names
from parlai_q2.report.page import PageSection, write_measured
from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.persona import Q2_OPTIONS
from parlai_q2.scorers.persona import SCORERS as PERSONA_SCORERS
from parlai_q2.scorers.registry import load_scorer
from parlai_q2.version import __version__

# The set on which the Q2 paper reports ablations.
ABLATED = 'q2_wow'
PERSONA_SET = 'dialogue_nli'
DEFAULT_SCORERS = 'q2,q2_f1,nli,consistency,content_overlap,overlap,precision'


def add_options(parser: OptionParser) -> None:
    group = parser.add_argument_group('Meta-evaluation')
    group.add_argument(
        '-t',
        '--task',
        default=ABLATED,
        help='comma-separated annotated sets: tasks, optionally with a part after a '
        'colon (begin:wow, begin:test), or files of knowledge, response and label',
    )
    group.add_argument(
        '-dp',
        '--datapath',
        default='',
        help="folder of the tasks' files; default: $PARLAI_DATAPATH, or ParlAI's own, "
        'or data',
    )
    group.add_argument(
        '--scorers',
        default=DEFAULT_SCORERS,
        help='comma-separated scorers, in the order of the tables: a name, '
        'NAME@PRESET for another preset than --preset, or module:Class '
        'for your own',
    )
    group.add_argument(
        '--score-columns',
        help='comma-separated columns with scores of other programs: '
        'FILE:COLUMN or NAME=FILE:COLUMN, from csv, tsv or JSON lines '
        'files with knowledge and response',
    )
    add_fields_option(group)
    add_model_options(group)
    group.add_argument(
        '--ablations',
        type='bool',
        default=True,
        help='for q2_wow: also score with other settings of q2 (Tables 8 and '
        '9), each of which takes as long as q2 itself',
    )
    group.add_argument(
        '--multi',
        type='bool',
        default=False,
        help='with --ablations, also score with all valid questions of each span, '
        'which takes several times as long as q2',
    )
    group.add_argument(
        '--random-knowledge',
        type='bool',
        default=True,
        help='also score responses against knowledge from other turns and '
        'dialogues (Table 10), for sets with dialogues',
    )
    group.add_argument(
        '--num-examples',
        type=int,
        default=-1,
        help='draw this many responses from each set, for a quick look; -1: all',
    )
    group.add_argument(
        '--rounds',
        type=int,
        default=ROUNDS,
        help='rounds of each bootstrap, at least 1',
    )
    group.add_argument(
        '--figures', type='bool', default=True, help='draw figures with matplotlib'
    )
    group.add_argument(
        '--outdir',
        default='outputs/meta_eval',
        help='folder to write the tables, scores and figures to',
    )
    add_cache_options(parser)


def run(opt: Options) -> JsonObject:
    """Compare the scorers that options name with annotations; return the tables."""
    # All checks come before anything is scored.
    _check(opt)
    variants, columns = variants_from_opt(opt), columns_from_opt(opt)
    field_names = read_fields(opt['fields'])
    sets = [
        read_set(name, opt['datapath'], field_names)
        for name in split_names(opt['task'])
    ]
    names = [annotated.name for annotated in sets]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ConfigError(
            f'--task names two sets {twice.pop()!r}, whose scores would go to one '
            'file. Rename one, or evaluate them separately.'
        )
    samples = [sampled(annotated, opt['num_examples'], SEED) for annotated in sets]
    for annotated in samples:
        check_set(annotated, columns)
    scorers = [scorers_from_opt(opt, annotated.paper) for annotated in sets]
    folder = Path(opt['outdir'])
    with as_write_error(folder, 'Check --outdir.'):
        folder.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=folder).close()  # the folder may exist and not be ours
    reports = []
    for whole, annotated, ours in zip(sets, samples, scorers, strict=True):
        evaluation = evaluate(
            annotated,
            ours,
            columns,
            variants=variants if whole.paper.startswith(ABLATED) else None,
            other_knowledge=opt['random_knowledge']
            and any(r.dialogue for r in annotated.responses),
            rounds=opt['rounds'],
            counting=Progress,
        )
        reports.append(SetReport(evaluation))
    # Printed first, since writing to the folder may fail.
    log.show_result(to_text(reports))
    written = write_set_reports(reports, folder)
    sections = []
    for report in reports:
        drawn: list[Path] = []
        if opt['figures']:
            drawn = all_figures(report.evaluation, folder / 'figures')
            written += drawn
        sections.append(build_section(report, drawn))
    with as_write_error(folder, 'Check --outdir.'):
        page = folder / f'{NAME}.html'
        written.append(
            write_measured(sections, page, 'Meta-evaluation', read_me(reports))
        )
    log.info(f'Wrote {len(written)} files to {folder}.')
    return to_dict(reports)


def build_section(report: SetReport, figures: Sequence[Path]) -> PageSection:
    """Build the page's section of a set."""
    annotated, signatures = report.evaluation.annotated, list(report.signatures.items())
    prefix = f'{annotated.name}_'
    return PageSection(annotated.title, report.tables, figures, signatures, prefix)


def read_me(reports: Sequence[SetReport]) -> str:
    """The notes that a reader of the page needs."""
    first = reports[0].evaluation
    return (
        f'parlai_q2 {__version__}, seed {first.seed}, {first.rounds} rounds of each '
        'bootstrap. Rows in italics are copied from the papers.'
    )


def scorers_from_opt(opt: Options, paper: str) -> dict[str, Scorer]:
    """
    The scorers that ``--scorers`` names, by the names that tables print. For Dialogue
    NLI, Q2 has other settings, as in its paper.
    """
    scorers: dict[str, Scorer] = {}
    for name in split_names(opt.get('scorers')):
        if name in scorers:
            raise ConfigError(f'--scorers names {name} twice.')
        base, _, preset = name.partition('@')
        options = model_options(opt, base, cache=True)
        if paper.startswith(PERSONA_SET):
            options.update(Q2_OPTIONS if base in PERSONA_SCORERS else {})
        scorers[name] = load_scorer(base, preset or opt['preset'], **options)
    return scorers


def variants_from_opt(opt: Options) -> dict[str, Scorer]:
    """Q2 in the settings of the ablations, if ``q2`` is among the scorers."""
    if not opt['ablations'] or 'q2' not in split_names(opt.get('scorers')):
        return {}
    options = model_options(opt, 'q2', cache=True)
    settings = {**VARIANTS, **MULTI} if opt.get('multi') else VARIANTS
    return {
        name: load_scorer('q2', opt['preset'], **options, **setting)
        for name, setting in settings.items()
    }


def columns_from_opt(opt: Options) -> list[ScoreTable]:
    """The columns that ``--score-columns`` names."""
    used_names = set(split_names(opt.get('scorers')))
    columns = []
    for text in split_names(opt.get('score_columns')):
        column = read_column(text, read_fields(opt.get('fields')))
        if column.name in used_names:
            source = text.split('=', 1)[-1]
            raise ConfigError(
                f'The name {column.name!r} is taken. Give the column another: '
                f'mine={source}'
            )
        used_names.add(column.name)
        columns.append(column)
    return columns


def _check(opt: Options) -> None:
    if not split_names(opt['task']):
        raise ConfigError('--task names no set. Give one: --task q2_wow')
    if not (split_names(opt['scorers']) or split_names(opt.get('score_columns'))):
        raise ConfigError(
            'There is nothing to evaluate. Give scorers, --scorers q2,overlap, or a '
            'column of scores, --score-columns FILE:COLUMN'
        )
    if opt['rounds'] < 1:
        raise ConfigError(f'--rounds must be at least 1, not {opt["rounds"]}.')
    if opt['figures']:
        check_matplotlib()
