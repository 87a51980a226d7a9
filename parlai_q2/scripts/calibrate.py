"""``parlai_q2 calibrate``: fits a scorer's prior and threshold to labelled pairs."""

import json
from pathlib import Path

from parlai_q2.cli import log
from parlai_q2.cli.parser import add_fields_option, given_files
from parlai_q2.cli.scorer_options import add_scorer_options, scorer_from_opt
from parlai_q2.errors import ConfigError
from parlai_q2.io.fields import read_fields
from parlai_q2.io.formats import Format
from parlai_q2.io.write import as_write_error, writable, write_text
from parlai_q2.json_values import JsonObject
from parlai_q2.options import OptionParser, Options, add_switch
from parlai_q2.scorers.roles import Role


def add_options(parser: OptionParser) -> None:
    group = parser.add_argument_group('Calibration')
    group.add_argument(
        '--infile',
        help='file of about 50 or more records with knowledge, response and label '
        '(consistent or inconsistent, supported or unsupported, 1 or 0, '
        '...); generic pairs are left out',
    )
    group.add_argument(
        '--outfile',
        help='JSON file to write, for --measure-calibration and --choose-calibration',
    )
    group.add_argument(
        '--format', choices=tuple(Format), help='the format of the input'
    )
    add_fields_option(group)
    group.add_argument(
        '--target',
        default='accuracy',
        help='the aim of the threshold: accuracy; recall=0.9, to detect this '
        'share of the inconsistent responses; or false_alarms=0.05, to '
        'call at most this share of the consistent ones inconsistent',
    )
    add_switch(
        group,
        '--refit',
        'also fit the weights of grounded or grounded_fast; needs hundreds of pairs',
    )
    group.add_argument(
        '--outdir',
        help='folder for ROC and precision-recall curves, reliability diagrams and '
        'histograms, and a page that shows them; needs matplotlib',
    )
    add_scorer_options(parser, Role.MEASURE)


def run(opt: Options) -> JsonObject:
    """Fit a calibration to the file that options name; return what is written."""
    from parlai_q2.calibrate.calibration import calibrate, describe, read_labelled
    from parlai_q2.calibrate.figures import all_figures
    from parlai_q2.calibrate.fit import read_target
    from parlai_q2.figures.style import check_matplotlib
    from parlai_q2.report.page import PageSection, write_measured

    infile, outfile = given_files(opt)
    target = read_target(opt['target'])
    if opt['measure_calibration']:
        raise ConfigError('calibrate writes the file that --measure-calibration reads.')
    writable(outfile, infile)
    if opt['outdir']:
        # All checks come before anything is scored.
        check_matplotlib()
        with as_write_error(Path(opt['outdir']), 'Check --outdir.'):
            Path(opt['outdir']).mkdir(parents=True, exist_ok=True)
    examples, consistent, generic = read_labelled(
        infile, opt['format'], read_fields(opt['fields'])
    )
    log.info(f'Scoring {len(examples)} labelled pairs.')
    scorer = scorer_from_opt(opt, cache=True)
    before = scorer.threshold
    calibrated = calibrate(
        scorer, examples, consistent, target, refit=opt['refit'], generic=generic
    )
    written = calibrated.written
    write_text(outfile, json.dumps(written, indent=1) + '\n')
    log.show_result(describe(written))
    log.info(f'Wrote {outfile}. To use it: --measure-calibration {outfile}')
    if opt['outdir']:
        folder = Path(opt['outdir'])
        drawn = all_figures(calibrated, before, folder)
        section = PageSection(
            f'{scorer.name}, target {written["target"]}',
            figures=drawn,
            signatures=[(scorer.name, str(scorer.signature))],
        )
        summary = describe(written).replace('\n', '; ')
        title = f'Calibration to {infile.name}'
        page = write_measured([section], folder / 'calibration.html', title, summary)
        log.info(f'Wrote {len(drawn)} figures and {page}.')
    return written
