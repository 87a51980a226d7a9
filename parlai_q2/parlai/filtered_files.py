"""
The files with the kept turns of judged episodes, the dropped ones, and a summary of
both. The conversations are in the format of the ``jsonfile`` teacher of ParlAI.
"""

import datetime
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import parlai.utils.logging as logging
from parlai.utils.conversations import Metadata

from parlai_q2.cli.log import Progress
from parlai_q2.errors import InputError
from parlai_q2.filtering.conversation import conversations
from parlai_q2.filtering.judge import JudgedEpisode, Policy
from parlai_q2.filtering.summary import FilterSummary, render, sentence
from parlai_q2.io.files import Location, beside, locate
from parlai_q2.io.write import (
    AGAIN,
    ANOTHER,
    PART,
    as_write_error,
    hold,
    let_go,
    writable,
    write_text,
)
from parlai_q2.json_values import JsonMapping, JsonObject, write_json
from parlai_q2.options import Options
from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.calibrated import CalibratedCachedScorer
from parlai_q2.scorers.shell import Reuse
from parlai_q2.signature import Signature

# The endings of the files beside the kept conversations.
DROPPED, SUMMARY, SUMMARY_TEXT = '.dropped.jsonl', '.summary.json', '.summary.txt'


@dataclass(frozen=True)
class Judge:
    """The scorer that judged: its name, its signature and its cache's statistics."""

    name: str
    signature: str
    reuse: Reuse | None = None

    @classmethod
    def from_scorer(cls, scorer: Scorer) -> 'Judge':
        """Describe a scorer of this process."""
        reuse = scorer.reuse if isinstance(scorer, CalibratedCachedScorer) else None
        return cls(scorer.name, str(scorer.signature), reuse)


@contextmanager
def conversation_file(
    path: Path, opt: Options, signature: str
) -> Iterator[Callable[[Iterable[JsonMapping]], None]]:
    """
    Write a file of conversations, with ParlAI's metadata beside it: yield a function
    that writes some. The file gets its name when the context ends; after an error
    nothing is left.

    :param path: the file, ending in ``.jsonl``. For a link, the target is written.
    :raises InputError: when the name has another ending, the file cannot be written, or
        another run is writing it.
    """
    place, metadata = _find_places(path)
    part = beside(place, PART)
    with as_write_error(path, ANOTHER):
        lock = hold(part)
        stream = open(part, 'w', encoding='ascii')  # noqa: SIM115 (closed on exit below)

    def write(conversations: Iterable[Mapping[str, object]]) -> None:
        for conversation in conversations:
            line = {**conversation, 'metadata_path': str(metadata)}
            # ASCII only: ParlAI also splits lines at Unicode line separators.
            with as_write_error(path, AGAIN):
                stream.write(write_json(line) + '\n')

    about = {
        'date': str(datetime.datetime.now()),
        'opt': dict(opt),
        'self_chat': False,
        'speakers': ['teacher', 'label'],
        'version': Metadata.version(),
        'signature': signature,
    }
    try:
        yield write
        with as_write_error(path, AGAIN):
            stream.flush()
            os.fsync(stream.fileno())
            write_text(metadata, write_json(about, default=str))
            # Rename while the lock is held, so that no other run can interfere.
            os.replace(part, place)
    finally:
        part.unlink(missing_ok=True)
        # Closing flushes again; if the disk is full, that was reported before.
        with suppress(OSError):
            stream.close()
        let_go(lock)


def check_places(outfile: Path, opt: Options) -> None:
    """
    Raise InputError unless all files of :func:`write_filtered` can be written, and none
    is an input that options name.
    """
    names = (opt.get('infile'), opt.get('jsonfile_datapath'))
    infiles = [locate(str(name)) for name in names if name]
    _find_places(outfile, *infiles)
    _find_places(outfile.with_suffix(DROPPED), *infiles)
    for ending in (SUMMARY, SUMMARY_TEXT):
        writable(outfile.with_suffix(ending), *infiles)


def write_filtered(
    judged: Iterable[JudgedEpisode],
    outfile: Path,
    judge: Judge,
    policy: Policy,
    opt: Options | None = None,
    total: int | None = None,
) -> JsonObject:
    """
    Write judged episodes, with a progress bar.

    :param outfile: receives the conversations that are kept. Beside it,
        ``<name>.dropped.jsonl`` receives those that are dropped, and
        ``<name>.summary.json`` and ``<name>.summary.txt`` the summary.
    :param total: number of turns, for the estimated time left; None if unknown.
    :return: the summary.
    :raises InputError: when a file cannot be written.
    """
    opt, signature, summary = opt or {}, judge.signature, FilterSummary()
    check_places(outfile, opt)
    dropped_file = outfile.with_suffix(DROPPED)
    # The output gets its name last, which shows that all files are complete.
    with conversation_file(outfile, opt, signature) as keep:
        with (
            conversation_file(dropped_file, opt, signature) as drop,
            Progress(judge.name, total, 'turns') as bar,
        ):
            for episode in judged:
                keep(conversations(episode))
                drop(conversations(episode, keep=False))
                summary.add(episode)
                bar.update(len(episode))
        reuse = judge.reuse
        counts = summary.to_dict(
            signature=signature,
            task=opt.get('task'),
            datatype=opt.get('datatype'),
            policy=vars(policy),
            kept_file=str(outfile),
            dropped_file=str(dropped_file),
            cache={'hits': reuse.hits, 'misses': reuse.misses} if reuse else None,
        )
        _write_summary(counts, outfile)
    _log_counts(counts, outfile)
    return counts


def _write_summary(counts: JsonObject, outfile: Path) -> None:
    """Write a summary beside the kept conversations, for programs and for people."""
    for ending, text in (
        (SUMMARY, write_json(counts, indent=1) + '\n'),
        (SUMMARY_TEXT, render(counts)),
    ):
        place = outfile.with_suffix(ending)
        with as_write_error(place, AGAIN):
            write_text(place, text)


def _log_counts(counts: JsonObject, outfile: Path) -> None:
    """Log the counts, and the path of the output."""
    logging.info(f'Wrote {outfile}. {sentence(counts)}')
    if not counts['kept']:
        logging.warning(
            f'No turn was kept, so {outfile} is empty. The summary has the scores, '
            'which show what another threshold would keep.'
        )
    logging.info(f'Summary: {outfile.with_suffix(SUMMARY_TEXT)}')
    if counts['signature']:
        short = Signature.from_text(counts['signature']).short
        logging.info(f'Signature: {short}, in full in the summary')


def _find_places(path: Path, *infiles: Location) -> tuple[Path, Path]:
    """The paths of a file of conversations and its metadata, if both can be written."""
    if path.suffix != '.jsonl':
        raise InputError(
            f'The name of a file of conversations must end in .jsonl, and {path} '
            'does not.'
        )
    metadata = path.with_suffix('.metadata')  # as ParlAI names it
    writable(metadata, *infiles)
    return writable(path, *infiles), metadata
