"""
Writes the turns of judged episodes that are kept, those that are dropped, and a summary
of both. The conversations are in the format of ParlAI's ``jsonfile`` teacher.
"""

import datetime
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Iterable, Mapping, Optional

import parlai.utils.logging as logging
from parlai.utils.conversations import Metadata

from parlai_q2.cache import CachedScorer
from parlai_q2.cli.progress import Progress
from parlai_q2.errors import InputError
from parlai_q2.filtering.conversation import conversations
from parlai_q2.filtering.judge import JudgedEpisode
from parlai_q2.filtering.policy import Policy
from parlai_q2.filtering.summary import FilterSummary, render, sentence
from parlai_q2.io.files import beside
from parlai_q2.io.strict_json import write_json
from parlai_q2.io.write import (
    AGAIN,
    ANOTHER,
    PART,
    hold,
    let_go,
    writable,
    write_text,
    writing,
)
from parlai_q2.scorers.base import Scorer
from parlai_q2.signature import short_form

# The endings of the files beside the kept conversations.
DROPPED, SUMMARY, SUMMARY_TEXT = '.dropped.jsonl', '.summary.json', '.summary.txt'


class ConversationFile:
    """
    A file of conversations, with ParlAI's metadata beside it. It gets its name only
    when it is complete. As a context manager, it leaves nothing behind if it was not
    finished.

    :param path: the file, ending in ``.jsonl``. For a link, the target is written.
    :raises InputError: when the name has another ending, the file cannot be written, or
        another run is writing it.
    """

    def __init__(self, path: Path):
        self.path, self.written = path, 0
        self._place, self.metadata = _places_of(path)
        self.part = beside(self._place, PART)
        with writing(path, ANOTHER):
            self._lock = hold(self.part)
            self._stream = open(self.part, 'w', encoding='ascii')

    def write(self, conversations: Iterable[Mapping[str, Any]]) -> None:
        """Add conversations; an InputError if e.g. the disk is full."""
        for conversation in conversations:
            line = {**conversation, 'metadata_path': str(self.metadata)}
            # ASCII only: ParlAI also splits lines at Unicode line separators.
            with writing(self.path, AGAIN):
                self._stream.write(write_json(line) + '\n')
            self.written += 1

    def finish(self, opt: Mapping[str, Any], **more: Any) -> None:
        """
        Write the metadata and give the file its name.

        :param opt: the options of the run, for the metadata.
        :param more: its further entries.
        """
        metadata = {
            'date': str(datetime.datetime.now()),
            'opt': dict(opt),
            'self_chat': False,
            'speakers': ['teacher', 'label'],
            'version': Metadata.version(),
            **more,
        }
        with writing(self.path, AGAIN):
            self._stream.flush()
            os.fsync(self._stream.fileno())
            write_text(self.metadata, write_json(metadata, default=str))
            # Renamed while the lock is held, so that no other run can interfere.
            os.replace(self.part, self._place)
        self._stream.close()
        let_go(self._lock)

    def __enter__(self) -> 'ConversationFile':
        return self

    def __exit__(self, *error: Any) -> None:
        self.abandon()

    def abandon(self) -> None:
        """Delete an unfinished file; a finished one is left as it is."""
        if self._stream.closed:
            return
        self.part.unlink(missing_ok=True)
        # Closing flushes again; if the disk is full, that was reported before.
        with suppress(OSError):
            self._stream.close()
        let_go(self._lock)


def check_places(outfile: Path) -> None:
    """An InputError unless all files of :func:`write_filtered` can be written."""
    _places_of(outfile)
    _places_of(outfile.with_suffix(DROPPED))
    for ending in (SUMMARY, SUMMARY_TEXT):
        writable(outfile.with_suffix(ending))


def write_filtered(
    judged: Iterable[JudgedEpisode],
    outfile: Path,
    scorer: Scorer,
    policy: Policy,
    opt: Optional[Mapping[str, Any]] = None,
    total: Optional[int] = None,
) -> dict[str, Any]:
    """
    Write judged episodes, with a progress bar.

    :param outfile: receives the conversations that are kept. Beside it,
        ``<name>.dropped.jsonl`` receives those that are dropped, and
        ``<name>.summary.json`` and ``<name>.summary.txt`` the summary.
    :param opt: the options of the run, for the files' metadata.
    :param total: number of turns, for the estimated time left; None if unknown.
    :return: the summary.
    :raises InputError: when a file cannot be written.
    """
    check_places(outfile)
    opt, signature, summary = opt or {}, str(scorer.signature), FilterSummary()
    with (
        ConversationFile(outfile) as kept,
        ConversationFile(outfile.with_suffix(DROPPED)) as dropped,
    ):
        with Progress(scorer.name, total, 'turns') as bar:
            for episode in judged:
                kept.write(conversations(episode))
                dropped.write(conversations(episode, kept=False))
                summary.add(episode)
                bar.update(len(episode))
        found = summary.to_dict(
            signature=signature,
            task=opt.get('task'),
            datatype=opt.get('datatype'),
            policy=vars(policy),
            kept_file=str(kept.path),
            dropped_file=str(dropped.path),
            cache=(
                {'hits': scorer.hits, 'misses': scorer.misses}
                if isinstance(scorer, CachedScorer)
                else None
            ),
        )
        # The output gets its name last, which shows that all files are complete.
        dropped.finish(opt, signature=signature)
        for ending, text in (
            (SUMMARY, write_json(found, indent=1) + '\n'),
            (SUMMARY_TEXT, render(found)),
        ):
            place = outfile.with_suffix(ending)
            with writing(place, AGAIN):
                write_text(place, text)
        kept.finish(opt, signature=signature)
    logging.info(f'Wrote {outfile}. {sentence(found)}')
    if not found['kept']:
        logging.warning(
            f'No turn was kept, so {outfile} is empty. The summary has the scores: '
            'choose another --threshold or --scorer.'
        )
    logging.info(f'Summary: {outfile.with_suffix(SUMMARY_TEXT)}')
    logging.info(f'Signature: {short_form(signature)}, in full in the summary')
    return found


def _places_of(path: Path) -> tuple[Path, Path]:
    """Where a file of conversations and its metadata go, if both can be written."""
    if path.suffix != '.jsonl':
        raise InputError(
            f'The name of a file of conversations must end in .jsonl, and {path} '
            'does not.'
        )
    metadata = Path(Metadata._get_path(str(path)))
    writable(metadata)
    return writable(path), metadata
