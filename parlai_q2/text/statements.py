"""
Splits a sentence that joins statements, "The tour costs 6 euros and takes 90 minutes.",
into these statements, by its words alone: each has a verb and a subject.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from parlai_q2.text.selection import stems

# What joins statements. "So" and "because" say more than that both are true.
_CLAUSE_JOINTS = r'\s{0,9};\s+|,\s{1,9}(?:and|but|yet|while|whereas)(?:\s+also)?\s+'
_CLAUSE_JOINT = re.compile(_CLAUSE_JOINTS, re.I)
_JOINT = re.compile(
    rf'({_CLAUSE_JOINTS}|\s{{1,9}}(?:and|but|yet)(?:\s+also)?\s+)', re.I
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
_FRONT_WORDS = (
    'after|as|at|because|before|by|during|for|from|if|in|on|once|since|unless|until'
    '|under|when|with|within|without'
)
_FRONT = re.compile(rf'(?:{_FRONT_WORDS})\b[^,]*,\s+', re.I)
_PHRASE = re.compile(rf'(?:{_FRONT_WORDS}|even|never|only|then|to)\b', re.I)
# Behind one of these, "and" may end a list or the subject of a subordinate clause.
_OPEN = re.compile(r',|\b(?:because|if|that|when|where|which|who)\b', re.I)
# Who has an amount, without a verb.
_SHARE = re.compile(r"((?:[a-z'’-]+ ){0,3}[a-z'’-]+) ([€$£]?\d.*)", re.I | re.S)
_NUMBER = re.compile(r'(?: only| just| about)? [€$£]?\d')
# "Can't" and "won't" without "n't".
_NEGATABLE = _MODALS | _AUXILIARIES | {'ca', 'wo'}
_SUBJECTS = frozenset('he i it she they we you'.split())
_RELATIVE = frozenset('how that what where whether which who whom whose why'.split())
# Longer subjects are most likely none.
LONGEST_SUBJECT = 7
# With fewer, a statement says too little to be read alone: "cats are not".
LEAST_STEMS = 2
# With fewer, what a comma sets off may be the end of a list.
LEAST_WORDS = 4


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
    statements: list[str] = []
    for joint, clause in _split_clauses(sentence):
        front = _FRONT.match(clause)
        part, *others = _JOINT.split(clause)
        if statements and (verb := _find_verb(part)) and not verb.words_before:
            part = _complete(part, statements[-1], joint) or part
        statements.append(part)
        for inner_joint, other in zip(others[::2], others[1::2], strict=True):
            statement = _complete(
                other, statements[-1], inner_joint, front[0] if front else ''
            )
            if statement is None:
                statements[-1] += inner_joint + other
            else:
                statements.append(statement)
    is_split = all(len(stems(statement)) >= LEAST_STEMS for statement in statements)
    return statements if is_split else [sentence]


def _split_clauses(sentence: str) -> Iterator[tuple[str, str]]:
    """
    The parts that a comma and "and", or a semicolon, set off and that are long enough
    to be clauses, each behind its joint.
    """
    joint, start = '', 0
    for match in _CLAUSE_JOINT.finditer(sentence):
        sides = sentence[start : match.start()], sentence[match.end() :]
        if not any(_is_fragment(side) for side in sides):
            yield joint, sides[0]
            joint, start = match[0], match.end()
    yield joint, sentence[start:]


def _is_fragment(part: str) -> bool:
    """Whether a part is too short for a clause, or a phrase: "and by phone only"."""
    words = _WORD.findall(part.lower())
    if len(words) < LEAST_WORDS:
        return True
    is_phrase = _PHRASE.match(part) is not None
    return is_phrase and not any(map(_is_clausal, words))


def _is_clausal(word: str) -> bool:
    """Whether a word is a verb, or a pronoun that goes with one."""
    is_verb = _affirm(word) in _NEGATABLE or word in _VERBS
    return is_verb or word in _SUBJECTS or _CLITIC.search(word) is not None


def _complete(part: str, before: str, joint: str, front: str = '') -> str | None:
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
