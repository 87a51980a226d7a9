"""
Splits a sentence that joins statements, "The tour costs 6 euros and takes 90 minutes.",
into these statements, by its words alone: each has a verb and a subject.
"""

import re
from itertools import islice
from typing import NamedTuple

from parlai_q2.text.selection import stems

# What joins statements. "So" and "because" say more than that both are true.
_JOINT = re.compile(
    r'\s{0,9};\s+|,?\s{1,9}(?:and|but|yet|while|whereas)(?:\s+also)?\s+', re.I
)
_MODALS = frozenset('can cannot could may might must shall should will would'.split())
_DO = frozenset('did do does'.split())
_AUXILIARIES = _DO | frozenset('am are had has have is was were'.split())
_VERBS = frozenset(
    """
    accept accepts allow allows applies apply arrive arrives became become becomes began
    begin begins bring brings buy buys calls came carries carry close closes come comes
    contain contains cost costs cover covers created depart departs died drive drives
    eat eats end ends enter enters find finds found founded gave get gets give gives go
    goes got grew grow grows help helps hold holds include includes keep keeps know
    knows last lasted lasts lead leads leave leaves left let lets lie lies live lived
    lives look looks lost made make makes mean means meet meets moved need needs offer
    offers open opened opens pay pays play played plays provide provides reached receive
    receives require requires ring run runs said saw say says seats see sees sell sells
    send sends serve serves ship ships show shows speak speaks start started starts stay
    stays stop stops take takes teach teaches tell tells took travel travels use uses
    visit visits wait want wants weigh weighs went won work worked works wrote
    """.split()
)
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_CLITIC = re.compile(r"['’](?:re|ve|ll|m)\Z|(?<=it|he|at|re)['’]s\Z")
# What stands before a statement: yes or no, and a phrase that all of them share.
_ANSWER = re.compile(r'(?:(?:yes|no|sure|of course|unfortunately)\b,?\s+)?', re.I)
_FRONT = re.compile(
    r'(?:after|as|at|because|before|by|during|for|from|if|in|on|once|since|unless|until'
    r'|under|when|with|within|without)\b[^,]*,\s+',
    re.I,
)
# Behind one of these, "and" may end a list or the subject of a subordinate clause.
_OPEN = re.compile(r',|\b(?:because|if|that|when|where|which|who)\b', re.I)
# Who has an amount, without a verb.
_SHARE = re.compile(r"((?:[a-z'’-]+ ){0,3}[a-z'’-]+) ([€$£]?\d.*)", re.I | re.S)
_NUMBER = re.compile(r'(?: only| just| about)? [€$£]?\d')
# "Can't" and "won't" without "n't".
_NEGATABLE = _MODALS | _AUXILIARIES | {'ca', 'wo'}
_RELATIVE = frozenset('how that what where whether which who whom whose why'.split())
# Longer subjects are most likely none.
LONGEST_SUBJECT = 7
# With fewer, a statement says too little to be read alone: "cats are not".
LEAST_STEMS = 2


class _Verb(NamedTuple):
    """The first verb of a clause: its word and place, and how many words precede it."""

    word: str
    start: int
    end: int
    words_before: int

    @property
    def takes_base(self) -> bool:
        """Whether another verb goes with it: "you can pay", "they do not eat"."""
        return _affirm(self.word) in _MODALS | _DO | {'ca', 'wo'}


def split_statements(sentence: str) -> list[str]:
    """
    The statements that a sentence joins, each with its subject; the sentence alone if
    it joins none.

    >>> split_statements('The tour costs 6 euros and takes 90 minutes.')
    ['The tour costs 6 euros', 'The tour takes 90 minutes.']
    >>> split_statements('It is open on Mondays and Fridays.')
    ['It is open on Mondays and Fridays.']
    """
    joints = list(_JOINT.finditer(sentence))
    if not joints:
        return [sentence]
    starts = [0, *(joint.end() for joint in joints)]
    ends = [*(joint.start() for joint in joints), len(sentence)]
    front = _FRONT.match(sentence)
    statements = [sentence[: ends[0]]]
    for joint, start, end in zip(joints, starts[1:], ends[1:], strict=True):
        part, before = sentence[start:end], statements[-1]
        statement = _complete(part, before, joint[0], front[0] if front else '')
        if statement is None:
            statements[-1] += joint[0] + part
        else:
            statements.append(statement)
    is_split = all(len(stems(statement)) >= LEAST_STEMS for statement in statements)
    return statements if is_split else [sentence]


def _complete(part: str, before: str, joint: str, front: str) -> str | None:
    """
    A part of a sentence with what it shares with the statement before it; None if it
    is no statement.
    """
    verb, verb_before = _find_verb(part), _find_verb(before)
    if verb_before is None:
        return None
    if verb is None:
        # "Adults pay 8 euros and children 4 euros."
        share = _SHARE.fullmatch(part)
        has_amount = _NUMBER.match(before, verb_before.end)
        return (
            f'{share[1]} {verb_before.word} {share[2]}'
            if share and has_amount
            else None
        )
    if verb.words_before:
        is_open = _OPEN.search(before, verb_before.end) is not None
        if is_open and joint.strip().lower() == 'and':
            return None
        return part if _FRONT.match(part) else front + part
    if not verb_before.words_before:
        return None
    is_base = verb.word not in _AUXILIARIES | _MODALS and not verb.word.endswith('s')
    has_auxiliary = verb_before.takes_base and is_base
    subject = before[: verb_before.end if has_auxiliary else verb_before.start]
    return f'{subject.rstrip()} {part}'


def _find_verb(clause: str) -> _Verb | None:
    """The first verb of a clause, unless it is that of a relative clause."""
    front = _FRONT.match(clause)
    answer = _ANSWER.match(clause, front.end() if front else 0)
    words = _WORD.finditer(clause, answer.end() if answer else 0)
    for n, match in enumerate(islice(words, LONGEST_SUBJECT + 1)):
        word = match[0].lower()
        if n and word in _RELATIVE:
            return None
        if clitic := _CLITIC.search(word):
            start = match.start() + clitic.start()
            return _Verb(clitic[0], start, match.end(), n + 1)
        if _affirm(word) in _NEGATABLE or word in _VERBS:
            return _Verb(word, match.start(), match.end(), n)
    return None


def _affirm(verb: str) -> str:
    """A verb without "n't": "do" for "don't"."""
    return verb.removesuffix("n't").removesuffix('n’t')
