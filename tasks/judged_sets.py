"""
Reads the annotated tasks as sets of judged responses, without their teachers.
"""

import re
from dataclasses import replace
from typing import Any, Callable, Mapping, Sequence

from parlai.utils.data import DatatypeHelper

from parlai_q2.annotated_turn import AnnotatedTurn
from parlai_q2.errors import ConfigError, UnknownNameError
from parlai_q2.evaluate.judged import CLASSES, Judged, JudgedSet
from parlai_q2.parlai.short_names import PREFIX
from parlai_q2.parlai.task_strings import without_repo

DEV, TEST = 'dev', 'test'
# Names BEGIN's earlier release, whose teachers are V1Teacher and so on.
EARLIER = 'v1'
# Views of a task that show the same judged responses.
VIEWS = ('default', 'annotated', 'dialogue', 'classification')
_DOTTED = re.compile(r'(?:parlai_q2|parlai_internal)\.tasks\.(\w+)\.agents')

Read = Callable[[Mapping[str, Any], Sequence[str]], JudgedSet]


def read_q2_wow(opt: Mapping[str, Any], words: Sequence[str]) -> JudgedSet:
    """
    The 600 responses of the Q2 paper, or those that words choose. Without words, the
    544 contexts that both systems answered come with them.
    """
    from parlai_q2.tasks.q2_wow.agents import CROSS, read_part

    crossed: dict[tuple[str, str], list[Judged]] = {}
    for turn in [] if words else read_part(opt, [CROSS]):
        judged = judged_turn(turn, 'wow')
        crossed.setdefault((judged.dialogue, judged.turn), []).append(judged)
    turns = read_part(opt, words)
    return JudgedSet(
        'q2_wow',
        'annotated Wizard of Wikipedia responses',
        tuple(judged_turn(turn, 'wow') for turn in turns),
        tuple(tuple(responses) for responses in crossed.values()),
    )


def read_begin(opt: Mapping[str, Any], words: Sequence[str]) -> JudgedSet:
    """
    BEGIN's dev set, or its test set if a word or the datatype asks for it. The word
    ``v1`` chooses that set of the earlier release.
    """
    from parlai_q2.tasks.begin.agents import read_earlier_part, read_part

    folds = [w for w in dict.fromkeys(words) if w in (DEV, TEST)]
    if len(folds) > 1:
        raise ConfigError('A judged set has one fold: dev or test. Name one.')
    fold = folds[0] if folds else fold_of(opt)
    others = [w for w in words if w not in (DEV, TEST, EARLIER)]
    if EARLIER in words:
        turns = read_earlier_part(opt, others, fold)
        return _of_turns('begin', f'BEGIN v1 {fold}', turns)
    judged = _of_turns('begin', f'BEGIN {fold}', read_part(opt, others, fold))
    return replace(judged, fitted_on=fold == DEV)


def read_rome(opt: Mapping[str, Any], words: Sequence[str]) -> JudgedSet:
    """
    "Rome was built in 1776", with the ratings of factual correctness.
    """
    from parlai_q2.tasks.rome.agents import read_part

    return _of_turns('rome', 'Rome was built in 1776', read_part(opt, words))


def read_dialogue_nli(opt: Mapping[str, Any], words: Sequence[str]) -> JudgedSet:
    """
    Dialogue NLI; the word ``gold`` chooses the verified test set.
    """
    from parlai_q2.tasks.dialogue_nli.agents import read_part

    turns = read_part(opt, words, fold_of(opt))
    return _of_turns('dialogue_nli', 'Dialogue NLI', turns)


def read_topical_chat_usr(opt: Mapping[str, Any], words: Sequence[str]) -> JudgedSet:
    """
    The Topical-Chat part of USR, which has ratings and no classes.
    """
    from parlai_q2.tasks.topical_chat_usr.agents import read_part

    return _of_turns('topical_chat_usr', 'Topical-Chat of USR', read_part(opt, words))


READERS: dict[str, Read] = {
    'q2_wow': read_q2_wow,
    'begin': read_begin,
    'rome': read_rome,
    'dialogue_nli': read_dialogue_nli,
    'topical_chat_usr': read_topical_chat_usr,
}


def read_judged_set(task: str, opt: Mapping[str, Any]) -> JudgedSet:
    """
    Read the judged set of a task.

    :param task: e.g. ``q2_wow``, ``begin:wow``, ``q2:begin`` or a dotted name.
    :param opt: ParlAI options; ``datapath`` and ``datatype`` are read.
    :raises UnknownNameError: for a task that is not one of these sets; the message
        names the nearest.
    :raises TaskDataError: when its files are missing and cannot be fetched.
    """
    # ParlAI does not know this prefix unless one of our commands has registered it.
    task = task.strip().removeprefix(PREFIX)
    name, *words = without_repo(task).split(':')
    dotted = _DOTTED.fullmatch(name.strip())
    name = dotted.group(1) if dotted else name.strip()
    name = next((n for n in READERS if name in (n, n.removeprefix('q2_'))), name)
    if name not in READERS:
        raise UnknownNameError('judged set', name, READERS)
    words = [word for word in map(_word, words) if word and word not in VIEWS]
    judged = READERS[name](opt, words)
    if not words:
        return judged
    told = judged.title.split()
    more = ' '.join(word for word in words if word not in told)
    return replace(
        judged,
        name='_'.join([judged.name, *words]),
        title=f'{judged.title}, {more}' if more else judged.title,
    )


def judged_turn(turn: AnnotatedTurn, corpus: str = '') -> Judged:
    """
    What an annotated turn says about its response.

    :param turn: the turn. A label that is not one of our classes, as in a task of
        ratings, is left out.
    :param corpus: the corpus of all turns of the task, where they do not name their
        own.
    """
    more = turn.more
    human = dict(more.get('human_ratings', {}))
    if more.get('factual') is not None:
        human['factual'] = more['factual']
    return Judged(
        turn.knowledge,
        turn.response,
        turn.label if turn.label in CLASSES else '',
        corpus=str(more.get('corpus', more.get('part', corpus))),
        system=str(more.get('system', more.get('model', ''))),
        dialogue=str(more.get('episode_idx', '')),
        turn=str(more.get('round', '')),
        human=human,
    )


def fold_of(opt: Mapping[str, Any]) -> str:
    """
    The datatype's fold as ``dev`` or ``test``.
    """
    fold = DatatypeHelper.fold(opt.get('datatype') or 'valid')
    return TEST if fold == TEST else DEV


def _of_turns(name: str, title: str, turns: Sequence[AnnotatedTurn]) -> JudgedSet:
    return JudgedSet(name, title, tuple(judged_turn(turn) for turn in turns))


def _word(text: str) -> str:
    # ParlAI turned a short name's second word into a teacher's: WowTeacher is wow
    # again.
    text = re.sub(r'Teacher$', '', text.strip())
    text = re.sub(r'(?<=[a-z0-9])(?=[A-Z])', '_', text).lower()
    # V1ClassificationTeacher is a view of v1.
    head, _, view = text.partition('_')
    return head if head == EARLIER and view in VIEWS else text
