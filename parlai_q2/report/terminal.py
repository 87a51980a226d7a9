"""
Shows scores and reranked candidates in a terminal.

Spans are in brackets with a sign: ``[+supported]``, ``[?unsupported]`` and
``[!contradicted]``. Colour only repeats what the sign says.
"""

import os
from statistics import fmean
from typing import Any, Mapping, Optional, Sequence, TextIO

from parlai_q2.records import Label, Score, Verdict
from parlai_q2.report.candidates import notes_of
from parlai_q2.report.spans import (
    SHOWN,
    Piece,
    Status,
    clip,
    knowledge_pieces,
    response_pieces,
    status_of,
)
from parlai_q2.report.visible import columns, one_line, visible
from parlai_q2.report.wrap import Run, fill, paint, words_of, wrap

SIGNS = {Status.SUPPORTED: '+', Status.UNSUPPORTED: '?', Status.CONTRADICTED: '!'}
LEGEND = '[+supported] [?not in the knowledge] [!contradicted]'

# In characters: about a screen of the response, and a few lines of the knowledge.
RESPONSE_LIMIT = 2000
KNOWLEDGE_LIMIT = 400
ANSWER_LIMIT = 200

_LABEL_STYLES = {
    Label.CONSISTENT: 'supported',
    Label.INCONSISTENT: 'contradicted',
    Label.NOT_VERIFIABLE: 'unsupported',
    Label.GENERIC: 'generic',
}
_NARROWEST = 24


def use_colour(stream: TextIO) -> bool:
    """
    Whether to write colour to a stream.

    :param stream: where the text goes.
    :return: True for a terminal that is not ``dumb``, unless the environment variable
        NO_COLOR (no-color.org) is set and not empty.
    """
    if os.environ.get('NO_COLOR') or os.environ.get('TERM') == 'dumb':
        return False
    isatty = getattr(stream, 'isatty', None)
    return bool(isatty and isatty())


def render_score(
    score: Score, response: str, knowledge: str, colour: bool, width: int = 80
) -> str:
    """
    Render a score with its evidence.

    :param score: the score of the response.
    :param response: the response that was scored.
    :param knowledge: the knowledge that it was scored against.
    :param colour: whether to add escape codes.
    :param width: columns of a line; at least 24 are used.
    :return: lines joined by newlines: the score, the response and the knowledge with
        their spans marked, and a block for each verdict.
    """
    width = max(width, _NARROWEST)
    said = clip(response_pieces(response, score.verdicts), RESPONSE_LIMIT)
    known = clip(knowledge_pieces(knowledge, score.verdicts), KNOWLEDGE_LIMIT)
    head = [(f'{score.value:.2f} ', 'strong'), *_label(score.label)]
    if score.fallback:
        head.append((' (no valid question: compared as a whole)', 'faint'))
    lines = _field('score', head, width, colour)
    if score.parts and not _explained(score):
        lines += _made_of(score.parts, width, colour)
    lines += _field('response', _marked(said), width, colour)
    lines += _field('knowledge', _marked(known), width, colour)
    if score.verdicts:
        lines += _field('marks', [(LEGEND, 'faint')], width, colour)
    for verdict in score.verdicts:
        lines += ['', *_verdict_block(verdict, width, colour)]
    return '\n'.join(lines)


def _made_of(parts: Mapping[str, float], width: int, colour: bool) -> list[str]:
    """
    The parts of a score; a line ends between two of them, not within one.
    """
    told = [f'{one_line(n).replace("_", " ")} {v:.2f}' for n, v in parts.items()]
    words = [f'{part},' for part in told[:-1]] + told[-1:]
    return _row('made of', [[(word, 'faint')] for word in words], width, colour)


def _explained(score: Score) -> bool:
    """
    Whether a score is the mean over its questions.
    """
    values = [verdict.score for verdict in score.verdicts if verdict.question]
    return bool(values) and abs(fmean(values) - score.value) < 1e-6


def render_candidates(
    rows: Sequence[Mapping[str, Any]], colour: bool, width: int = 80
) -> str:
    """
    Render the candidates that a reranking agent chose from, and why it chose.

    :param rows: N candidates as the agent's evidence has them, in the order to show:
        ``text``, ``strategies``, ``generator_score``, ``score``, ``label``,
        ``verdicts``, ``chosen``, ``first``, ``reason``, ``guards``,
        ``guarded_score``, ``prefilter_score``. All but ``text`` may be missing.
    :param colour: whether to add escape codes.
    :param width: columns of a line; at least 24 are used.
    :return: lines joined by newlines; a sentence if there are no candidates.
    """
    if not rows:
        return 'no candidates'
    width = max(width, _NARROWEST)
    lines: list[str] = []
    for rank, row in enumerate(rows, start=1):
        lines += _candidate_block(rank, row, width, colour)
    return '\n'.join(lines)


def _field(name: str, runs: Sequence[Run], width: int, colour: bool) -> list[str]:
    return _row(name, words_of(runs), width, colour)


def _row(
    name: str, words: Sequence[Sequence[Run]], width: int, colour: bool
) -> list[str]:
    first = paint([(f'{name:<10}', 'strong')], colour)
    lines = fill(words, width, colour, ' ' * 10, ' ' * 10)
    return [first + lines[0][10:], *lines[1:]]


def _label(label: Optional[str]) -> list[Run]:
    text = one_line(label or 'not scored').replace('_', ' ')
    return [(text, _LABEL_STYLES.get(label or ''))]


def _marked(pieces: Sequence[Piece]) -> list[Run]:
    """
    Pieces as runs; neighbours of the same status share one pair of brackets.
    """
    runs: list[Run] = []
    before: Optional[str] = None
    for piece in [*pieces, Piece('')]:
        if piece.status != before:
            if before:
                runs.append((']', before))
            if piece.status:
                runs.append((f'[{SIGNS[piece.status]}', piece.status))
        runs.append((visible(piece.text), piece.status))
        before = piece.status
    return runs


def _verdict_block(verdict: Verdict, width: int, colour: bool) -> list[str]:
    status = status_of(verdict)
    answer = verdict.knowledge_answer
    if verdict.question:
        title = verdict.question
        rows = [
            ('response', _short(verdict.response_answer.text)),
            ('knowledge', _short(answer.text) if answer else '(no answer)'),
            ('compared', f'{one_line(verdict.comparison)}, score {verdict.score:.2f}'),
        ]
    else:
        title = verdict.response_answer.text
        rows = [('knowledge', _short(answer.text))] if answer else []
        rows.append(('compared', f'{SHOWN[status]}, support {verdict.score:.2f}'))
    head = paint([(f'[{SIGNS[status]}] ', status)], colour)
    lines = wrap([(_short(title), 'strong')], width, colour, ' ' * 4, ' ' * 4)
    lines[0] = head + lines[0][4:]
    for name, text in rows:
        style = status if name == 'compared' else None
        lines += wrap([(text, style)], width, colour, f'    {name:<10}', ' ' * 14)
    return lines


def _candidate_block(
    rank: int, row: Mapping[str, Any], width: int, colour: bool
) -> list[str]:
    verdicts = [Verdict.from_dict(v) for v in row.get('verdicts') or ()]
    score, generator = row.get('score'), row.get('generator_score')
    chosen = bool(row.get('chosen'))
    head: list[Run] = []
    if score is not None:
        head.append((f'{score:.2f} ', 'strong'))
    head += _label(row.get('label'))
    if generator is not None:
        head.append((f' | generator {generator:.2f}', 'faint'))
    sources = ', '.join(map(one_line, row.get('strategies') or ()))
    if sources:
        head.append((f' | {sources}', 'faint'))
    if row.get('first'):
        head.append((" | generator's first", None))
    if chosen:
        head.append((' | CHOSEN', 'strong'))
    mark = f'{">" if chosen else " "}{rank:>3}  '
    indent = ' ' * columns(mark)
    lines = wrap(head, width, colour, mark, indent)
    pieces = clip(response_pieces(row['text'], verdicts), RESPONSE_LIMIT)
    lines += wrap(_marked(pieces), width, colour, indent, indent)
    notes = '; '.join(notes_of(row))
    if notes:
        lines += wrap(
            [(f'why: {notes}', 'faint')], width, colour, indent, indent + ' ' * 5
        )
    for verdict in verdicts:
        lines += _verdict_line(verdict, width, colour, indent)
    return lines


def _verdict_line(verdict: Verdict, width: int, colour: bool, indent: str) -> list[str]:
    status = status_of(verdict)
    answer = verdict.knowledge_answer
    known = f'knowledge: {_short(answer.text)}' if answer else 'knowledge: (no answer)'
    runs: list[Run] = [(f'[{SIGNS[status]}] ', status)]
    if verdict.question:
        runs += [
            (f'{_short(verdict.question)} ', None),
            (f'response: {_short(verdict.response_answer.text)}; {known}; ', None),
            (f'{one_line(verdict.comparison)} {verdict.score:.2f}', status),
        ]
    else:
        runs.append((f'{_short(verdict.response_answer.text)}; ', None))
        if answer:
            runs.append((f'{known}; ', None))
        runs.append((f'{SHOWN[status]}, support {verdict.score:.2f}', status))
    return wrap(runs, width, colour, indent, indent + ' ' * 4)


def _short(text: str) -> str:
    text = one_line(text)
    return text if len(text) <= ANSWER_LIMIT else text[:ANSWER_LIMIT] + '...'
