"""
Shows scores, reranked candidates and passages in a terminal. Spans are in brackets with
a sign (:data:`LEGEND`). Colour only repeats the sign.
"""

import io
import os
import shutil
from collections.abc import Mapping, Sequence
from itertools import groupby
from math import isfinite
from operator import itemgetter
from statistics import fmean
from textwrap import shorten, wrap
from typing import Any, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from parlai_q2.claims import Claim, Label, Score, Status
from parlai_q2.decimals import fixed, percent
from parlai_q2.report.entries import (
    STATUS_WORDS,
    TITLE,
    TextPiece,
    clip,
    describe_mistake,
    explain_place,
    knowledge_pieces,
    passage_title,
    response_pieces,
)
from parlai_q2.rerank import Candidate, Ranking
from parlai_q2.text.visible import one_line, source_line, visible
from parlai_q2.turns import Passage, passages_of

SIGNS: Mapping[str, str] = {
    Status.SUPPORTED: '+',
    Status.UNSUPPORTED: '?',
    Status.CONTRADICTED: '!',
    Status.GENERIC: ' ',
}
LEGEND = '[+supported] [?not in the knowledge] [!contradicted]'

# In characters: about a screen of the response, and a few lines of the knowledge.
RESPONSE_LIMIT = 2000
KNOWLEDGE_LIMIT = 400
ANSWER_LIMIT = 200
PASSAGE_LIMIT = 400

# Bright black is not used, as it is invisible on some dark terminals.
COLOURS: Mapping[str, str] = {
    Status.SUPPORTED: 'green',
    Status.UNSUPPORTED: 'yellow',
    Status.CONTRADICTED: 'red',
    Status.GENERIC: 'dim',
}
_LABEL_COLOURS: Mapping[str, str] = {
    Label.CONSISTENT: 'green',
    Label.INCONSISTENT: 'red',
    Label.NOT_VERIFIABLE: 'yellow',
    Label.GENERIC: 'magenta',
}
_NARROWEST = 24
_FIELD = 10  # columns of a field's name
_UNBROKEN = '\N{NO-BREAK SPACE}'

# A text and its style.
Run = tuple[str, str]


def use_colour(stream: TextIO) -> bool:
    """
    Whether to write colour to a stream: to a terminal that is not ``dumb``, unless
    NO_COLOR (no-color.org) is set and not empty.
    """
    if os.environ.get('NO_COLOR') or os.environ.get('TERM') == 'dumb':
        return False
    return stream.isatty()


class Lines:
    """
    Collects lines of styled text.

    :param colour: whether they have escape codes.
    :param width: columns of a line; at least 24 are used.
    """

    def __init__(self, colour: bool, width: int):
        self.width = max(width, _NARROWEST)
        self._shown = io.StringIO()
        self._console = Console(
            file=self._shown,
            width=self.width,
            force_terminal=colour,
            color_system='standard' if colour else None,
            legacy_windows=False,
        )

    def add(self, runs: Sequence[Run], first: Run = ('', ''), rest: str = '') -> None:
        """
        Add a text, in as many lines as it takes. White space in it counts as one space;
        a word is broken only if it is longer than a line.

        :param first: stands before the first line.
        :param rest: stands before each further line.
        """
        text = Text()
        for style, same in groupby(runs, key=itemgetter(1)):
            part = ''.join(run[0] for run in same)
            words = ' '.join(part.split())
            before = ' ' if part[:1].isspace() and text.plain[-1:].strip() else ''
            after = ' ' if words and part[-1:].isspace() else ''
            text.append(before + words + after, style)
        room = self.width - max(cell_len(first[0]), cell_len(rest))
        for place, line in enumerate(text.wrap(self._console, room) or [Text()]):
            line.rstrip()
            head = (rest, '') if place else first
            self._console.print(Text.assemble(head, line), soft_wrap=True)

    def text(self) -> str:
        lines = self._shown.getvalue().split('\n')[:-1]
        return '\n'.join(line.rstrip() for line in lines)

    def field(self, name: str, runs: Sequence[Run]) -> None:
        self.add(runs, (f'{name:<{_FIELD}}', 'bold'), ' ' * _FIELD)


def render_score(
    score: Score, response: str, knowledge: Any, colour: bool, width: int = 80
) -> str:
    """
    Render a score with its evidence.

    :param knowledge: a text or a list of passages.
    :param colour: whether to add escape codes.
    :param width: columns of a line; at least 24 are used.
    :return: lines joined by newlines: the score, the response and the knowledge with
        their spans marked, and a block for each claim.
    """
    lines = Lines(colour, width)
    head = [(f'{score.value:.2f} ', 'bold'), *_label(score.label)]
    if score.fallback:
        head.append((' (no valid question: compared as a whole)', 'dim'))
    if unread := score.parts.get('unread'):
        head.append((f' ({percent(unread, 0)} of a text not read)', 'dim'))
    lines.field('score', head)
    if score.parts and not _is_mean_of_questions(score):
        _add_parts(lines, score.parts)
    response_part = clip(response_pieces(response, score), RESPONSE_LIMIT)
    passages = passages_of(knowledge)
    knowledge_part = clip(knowledge_pieces(passages, score), KNOWLEDGE_LIMIT)
    lines.field('response', _style_pieces(response_part))
    lines.field('knowledge', _style_pieces(knowledge_part))
    if score.claims:
        lines.field('marks', [(LEGEND, 'dim')])
    for claim in score.claims:
        lines.add([])
        _add_claim_block(lines, claim, passages)
    return lines.text()


def render_candidates(ranking: Ranking, colour: bool, width: int = 80) -> str:
    """
    Render the candidates of a ranking, and why the first was chosen; parameters as for
    :func:`render_score`.
    """
    lines = Lines(colour, width)
    for rank, candidate in enumerate(ranking.candidates, start=1):
        _add_candidate_block(lines, rank, candidate, ranking)
    return lines.text()


def render_passages(
    passages: Sequence[Passage], scores: Sequence[float] = (), width: int = 0
) -> str:
    """
    Render the passages of a search with their sources and scores, if there are some, by
    default in the width of the terminal.
    """
    width = max(_NARROWEST, width or shutil.get_terminal_size().columns)
    indent = ' ' * 3
    blocks = []
    for number, passage in enumerate(passages):
        head = source_line(passage.source) or one_line(passage.title)
        score = f' [{scores[number]:.2f}]' if scores else ''
        text = shorten(one_line(passage.text), PASSAGE_LIMIT, placeholder=' ...')
        lines = wrap(text, width, initial_indent=indent, subsequent_indent=indent)
        blocks.append('\n'.join([f'{number + 1}. {head}{score}', *lines]))
    return '\n'.join(blocks) or 'Nothing was found.'


def _add_parts(lines: Lines, parts: Mapping[str, float]) -> None:
    """Add the parts of a score; a line ends between two of them, not within one."""
    parts_text = (
        f'{_words(n)} {v:.2f}'.replace(' ', _UNBROKEN) for n, v in parts.items()
    )
    for n, line in enumerate(wrap(', '.join(parts_text), lines.width - _FIELD)):
        text = line.replace(_UNBROKEN, ' ')
        lines.field('' if n else 'made of', [(text, 'dim')])


def _is_mean_of_questions(score: Score) -> bool:
    values = [claim.support for claim in score.question_claims]
    return bool(values) and abs(fmean(values) - score.value) < 1e-6


def _words(name: str) -> str:
    return one_line(name).replace('_', ' ')


def _label(label: str | None) -> list[Run]:
    return [(_words(label or 'not scored'), _LABEL_COLOURS.get(label or '', ''))]


def _style_pieces(pieces: Sequence[TextPiece]) -> list[Run]:
    """Pieces as runs; neighbours of the same status share one pair of brackets."""
    runs: list[Run] = []
    before: str | None = None
    for piece in [*pieces, TextPiece('')]:
        if piece.status == TITLE:
            runs.append((one_line(piece.text) + ' ', 'bold'))
            continue
        colour = COLOURS.get(piece.status or '', '')
        if piece.status != before:
            if before:
                runs.append((']', COLOURS[before]))
            if piece.status:
                runs.append((f'[{SIGNS[piece.status]}', colour))
        runs.append((visible(piece.text), colour))
        before = piece.status
    return runs


def _knowledge_texts(claim: Claim, passages: Sequence[Passage]) -> list[str]:
    """What the knowledge says of a claim, with the titles of the passages."""
    texts = []
    for passage, span, _ in claim.evidence:
        title = passage_title(passage, passages)
        text = _shorten(span.text)
        texts.append(f'{one_line(title)}: {text}' if title else text)
    return texts or (['(no answer)'] if claim.question else [])


def _describe_comparison(claim: Claim) -> str:
    if claim.question:
        return one_line(claim.comparison or '')
    status = STATUS_WORDS.get(claim.status, one_line(claim.status))
    parts = [status, describe_mistake(claim), 'support']
    return ', '.join(filter(None, parts))


def _status_sign(claim: Claim, indent: str = '') -> Run:
    colour = COLOURS.get(claim.status, '')
    return f'{indent}[{SIGNS.get(claim.status, " ")}] ', colour


def _add_claim_block(lines: Lines, claim: Claim, passages: Sequence[Passage]) -> None:
    claim_text = _shorten(claim.span.text)
    sign, colour = _status_sign(claim)
    rows = [('knowledge', text, '') for text in _knowledge_texts(claim, passages)]
    comparison = _describe_comparison(claim)
    if claim.question:
        rows.insert(0, ('response', claim_text, ''))
        comparison += ', score'
    lines.add(
        [(_shorten(claim.question) or claim_text, 'bold')], (sign, colour), ' ' * 4
    )
    comparison += f' {claim.support:.2f}'
    for name, text, style in (*rows, ('compared', comparison, colour)):
        lines.add([(text, style)], (f'    {name:<10}', ''), ' ' * 14)


def _add_candidate_block(
    lines: Lines, rank: int, candidate: Candidate, ranking: Ranking
) -> None:
    score, chosen = candidate.displayed_score, candidate is ranking.chosen
    head: list[Run] = [] if score is None else [(f'{score.value:.2f} ', 'bold')]
    head += _label(score.label if score else None)
    if candidate.generator_score is not None and isfinite(candidate.generator_score):
        head.append((f' | generator {fixed(candidate.generator_score)}', 'dim'))
    if sources := ', '.join(map(one_line, candidate.strategies)):
        head.append((f' | {sources}', 'dim'))
    if candidate is ranking.first:
        head.append((" | generator's first", ''))
    if chosen:
        role = 'WITHHELD' if ranking.abstain else 'CHOSEN'
        head.append((f' | {role}', 'bold'))
    mark = f'{">" if chosen else " "}{rank:>3}  '
    indent = ' ' * len(mark)
    lines.add(head, (mark, ''), indent)
    pieces = clip(response_pieces(candidate.text, score), RESPONSE_LIMIT)
    lines.add(_style_pieces(pieces), (indent, ''), indent)
    if notes := '; '.join(explain_place(candidate, ranking)):
        lines.add([(notes, 'dim')], (f'{indent}why: ', 'dim'), indent + ' ' * 5)
    for claim in score.marks if score else ():
        _add_claim_line(lines, claim, indent)


def _add_claim_line(lines: Lines, claim: Claim, indent: str) -> None:
    text, knowledge = (
        _shorten(claim.span.text),
        '; '.join(_knowledge_texts(claim, ())),
    )
    sign, colour = _status_sign(claim, indent)
    if claim.question:
        text = f'{_shorten(claim.question)} response: {text}'
    text += f'; knowledge: {knowledge}; ' if knowledge else '; '
    runs = [(text, ''), (f'{_describe_comparison(claim)} {claim.support:.2f}', colour)]
    lines.add(runs, (sign, colour), indent + ' ' * 4)


def _shorten(text: str) -> str:
    text = one_line(text)
    return text if len(text) <= ANSWER_LIMIT else text[:ANSWER_LIMIT] + '...'
