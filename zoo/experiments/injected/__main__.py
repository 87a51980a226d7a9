"""
Runs the experiment; see ``python -m parlai_q2.zoo.experiments.injected --help``.

Finished work is not repeated. If a run was stopped, the same command resumes it with
the next set or the next generator.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Optional, Sequence

from parlai.utils import logging

from parlai_q2.errors import ConfigError, InputError, Q2Error
from parlai_q2.io.files import file_sha256
from parlai_q2.io.write import write_text
from parlai_q2.threads import spin_briefly
from parlai_q2.zoo.experiments.injected.settings import (
    CONDITIONS,
    Settings,
    read_settings,
)


def main(arguments: Optional[Sequence[str]] = None) -> None:
    """
    Make the sets, train, reply, measure and report.
    """
    parser = argparse.ArgumentParser(
        description='Does filtering training data make a generator make up less?'
    )
    parser.add_argument(
        '--data', required=True, help='grounded replies: JSON lines with k, h and r'
    )
    parser.add_argument('--outdir', type=Path, required=True)
    parser.add_argument(
        '--settings',
        type=Path,
        help='a YAML file; settings it leaves out have their shipped values',
    )
    parser.add_argument(
        '--conditions',
        nargs='*',
        choices=CONDITIONS,
        help='train only these now; several processes can share the work',
    )
    parser.add_argument('--figure', type=Path, help='default: OUTDIR/figure')
    args = parser.parse_args(arguments)
    try:
        settings = read_settings(args.settings)
        run(args.data, args.outdir, settings, args.conditions, args.figure)
    except Q2Error as error:
        sys.stderr.write(f'{error}\n')
        sys.exit(2)


def run(
    data: str,
    folder: Path,
    settings: Settings,
    conditions: Optional[Sequence[str]] = None,
    figure: Optional[Path] = None,
) -> None:
    """
    Do everything that is not done yet.

    :param data: the corpus.
    :param folder: the folder that everything is written to.
    :param conditions: the conditions to train now; None for all.
    :param figure: the path of the figure, without an ending.
    :raises ConfigError: when the folder belongs to other settings or another corpus.
    """
    # ParlAI must be bridged, and torch's threads set, before it is imported.
    spin_briefly()
    from parlai_q2.zoo.experiments.injected.runs import do_run, missing_runs
    from parlai_q2.zoo.experiments.injected.sets import make_sets

    claim(data, folder, settings)
    wanted = settings.conditions if conditions is None else conditions
    for condition, seed in missing_runs(folder, settings):
        if condition in wanted:
            make_sets(data, folder, settings, wanted)
            do_run(folder, condition, seed, settings)
    missing = missing_runs(folder, settings)
    if missing:
        named = ', '.join(f'{condition} {seed}' for condition, seed in missing)
        logging.info(f'Still to be trained: {named}.')
        return
    from parlai_q2.zoo.experiments.injected.figure import draw
    from parlai_q2.zoo.experiments.injected.report import render, to_dict
    from parlai_q2.zoo.experiments.injected.results import results

    found = results(folder, settings)
    text = render(found, settings)
    write_text(folder / 'results.md', text)
    whole = to_dict(found, settings)
    write_text(folder / 'results.json', json.dumps(whole, indent=1) + '\n')
    draw(found, settings, figure or folder / 'figure')
    sys.stdout.write(text)


def claim(data: str, folder: Path, settings: Settings) -> None:
    """
    Make sure that a folder belongs to this corpus and these settings, or is new.

    :raises ConfigError: when it belongs to others.
    :raises InputError: when the corpus cannot be read.
    """
    path = folder / 'settings.json'
    try:
        # The corpus may be moved, but its rows must stay the same.
        given = {'data': file_sha256(data), **settings.to_dict()}
    except OSError as e:
        raise InputError(
            f'Cannot read --data {data}: {e.strerror}. Give a file of JSON lines.'
        ) from e
    if path.exists():
        held = json.loads(path.read_text(encoding='utf-8'))
        other = [name for name in given if held.get(name) != given[name]]
        if other:
            raise ConfigError(
                f'{folder} was begun with another {", ".join(other)}. Choose '
                'another --outdir, or give the --data and --settings it was '
                'begun with.'
            )
    else:
        folder.mkdir(parents=True, exist_ok=True)
        write_text(path, json.dumps(given, indent=1) + '\n')


if __name__ == '__main__':
    main()
