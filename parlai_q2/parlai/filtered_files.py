"""
Writes the turns of judged episodes that are kept, those that are dropped, and a summary
of both.
"""

from pathlib import Path
from typing import Any, Iterable, Mapping, Optional, Sequence

import parlai.utils.logging as logging

from parlai_q2.cli.counting import counting
from parlai_q2.filtering.conversation import LEFT_OUT, conversations
from parlai_q2.filtering.judge import JudgedEpisode
from parlai_q2.filtering.policy import Policy
from parlai_q2.filtering.summary import FilterSummary, render, sentence
from parlai_q2.io.strict_json import write_json
from parlai_q2.io.write import AGAIN, writable, write_text, writing
from parlai_q2.parlai.conversation_files import (
    ConversationFile,
    places_of,
)
from parlai_q2.scorers.base import Scorer
from parlai_q2.signature import short_form

# The endings of the files beside the kept conversations.
DROPPED, SUMMARY, SUMMARY_TEXT = '.dropped.jsonl', '.summary.json', '.summary.txt'


def check_places(outfile: Path) -> None:
    """
    Check that all files of :func:`write_filtered` can be written. Call this before any
    work is done.

    :raises InputError: when one of the files cannot be written.
    """
    places_of(outfile)
    places_of(outfile.with_suffix(DROPPED))
    for ending in (SUMMARY, SUMMARY_TEXT):
        writable(outfile.with_suffix(ending))


def write_filtered(
    judged: Iterable[JudgedEpisode],
    outfile: Path,
    scorer: Scorer,
    policy: Policy,
    opt: Optional[Mapping[str, Any]] = None,
    total: Optional[int] = None,
    left_out: Sequence[str] = LEFT_OUT,
) -> dict[str, Any]:
    """
    Write judged episodes, with a progress bar.

    :param judged: what :func:`~parlai_q2.filtering.judge.judge_episodes` yields.
    :param outfile: receives the conversations that are kept. Beside it,
        ``<name>.dropped.jsonl`` receives those that are dropped, and
        ``<name>.summary.json`` and ``<name>.summary.txt`` the summary.
    :param scorer: the scorer that they were scored with.
    :param policy: the policy that they were judged by.
    :param opt: the options of the run, for the files' metadata.
    :param total: number of turns, for the estimated time left; None if unknown.
    :param left_out: fields of messages that are not written.
    :return: the summary.
    :raises InputError: when a file cannot be written.
    """
    check_places(outfile)
    opt, signature, summary = opt or {}, str(scorer.signature), FilterSummary()
    with (
        ConversationFile(outfile) as kept,
        ConversationFile(outfile.with_suffix(DROPPED)) as dropped,
    ):
        with counting(scorer.name, total, 'turns') as bar:
            for episode in judged:
                kept.write(conversations(episode, True, left_out))
                dropped.write(conversations(episode, False, left_out))
                summary.add(episode)
                bar.update(len(episode))
        found = summary.to_dict(
            signature=signature,
            task=opt.get('task'),
            datatype=opt.get('datatype'),
            policy=vars(policy),
            kept_file=str(kept.path),
            dropped_file=str(dropped.path),
            cache=_cache(scorer),
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


def _cache(scorer: Scorer) -> Optional[dict[str, Any]]:
    hits = getattr(scorer, 'hits', None)
    if hits is None:
        return None
    return {'hits': hits, 'misses': getattr(scorer, 'misses', None)}
