"""
Draws one scored response as a picture: its spans, the questions asked of them, and the
words of the knowledge that answered.

    python docs/images/draw_verdicts.py scores.jsonl ID picture.svg

The record is one that ``parlai_q2 score`` wrote, so the picture shows what the metric
found. Text stays text: it can be selected, searched and read aloud.
"""

import json
import sys
import textwrap
from html import escape
from pathlib import Path

from parlai_q2.claims import Claim, Score
from parlai_q2.report.entries import TextPiece, knowledge_pieces, response_pieces
from parlai_q2.turns import passages_of

WIDTH, MARGIN, GAP = 880, 24, 16
# Of the text in the two boxes, whose words arrows point at: every character is as wide,
# and textLength makes it so whatever font is there.
SIZE, ADVANCE = 17, 10.2
CARD_TOP, CARD_HEIGHT = 140, 156
INK, SOFT, LINE, PAPER = '#1c2024', '#5b6570', '#c9cfd6', '#ffffff'
COLOURS = {
    'supported': ('#1b7a3d', '#e2f4e7', '\u2713'),
    'unsupported': ('#8a5a00', '#fdf0cf', '?'),
    'contradicted': ('#b3261e', '#fce4e2', '\u2717'),
}
SANS = 'system-ui, -apple-system, Segoe UI, Roboto, DejaVu Sans, sans-serif'
MONO = 'ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace'


def draw(record: dict) -> str:
    """An SVG of a record that ``parlai_q2 score`` wrote, with questions."""
    score = Score.from_dict(record)
    # From left to right by their middles, so that few arrows cross.
    claims = sorted(score.question_claims, key=lambda claim: sum(claim.span[1:]))
    response, knowledge = record['response'], record['knowledge']
    passages = passages_of(knowledge)
    bottom = CARD_TOP + CARD_HEIGHT + 62
    height = bottom + 104
    width = (WIDTH - 2 * MARGIN - GAP * (len(claims) - 1)) / len(claims)
    lefts = [MARGIN + place * (width + GAP) for place in range(len(claims))]
    sum_of = ' + '.join(f'{claim.support:.2f}' for claim in claims)
    total = f'Q\u00b2 = ({sum_of}) / {len(claims)} = {score.value:.2f}'
    parts = [
        _box(20, 'Response', response, response_pieces(response, score)),
        _box(bottom, 'Knowledge', knowledge, knowledge_pieces(passages, score)),
        *(
            _arrows(claim, left + width / 2, bottom, response, knowledge)
            for claim, left in zip(claims, lefts)
        ),
        *(_card(claim, left, width) for claim, left in zip(claims, lefts)),
        _text(WIDTH / 2, height - 12, total, 18, INK, 650, 'middle'),
    ]
    title = f'Q2 of "{response}" given "{knowledge}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img" font-family="{SANS}">\n'
        f'<title>{escape(title)}</title>\n'
        f'<rect width="{WIDTH}" height="{height}" rx="10" fill="{PAPER}"/>\n'
        + '\n'.join(parts)
        + '\n</svg>\n'
    )


def _text(
    x: float,
    y: float,
    text: str,
    size: float = 14,
    colour: str = INK,
    weight: int = 400,
    anchor: str = 'start',
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" '
        f'font-weight="{weight}" text-anchor="{anchor}">{escape(text)}</text>'
    )


def _left_of(text: str) -> float:
    return (WIDTH - len(text) * ADVANCE) / 2


def _box(top: float, name: str, text: str, pieces: list[TextPiece]) -> str:
    """A text in one line, its marked words in colour."""
    left, base = _left_of(text), top + 44
    drawn = [
        f'<rect x="{MARGIN}" y="{top}" width="{WIDTH - 2 * MARGIN}" height="62" rx="6" '
        f'fill="#f5f7f9" stroke="{LINE}"/>',
        _text(MARGIN + 12, top + 19, name, size=12, colour=SOFT),
    ]
    x = left
    for piece in pieces:
        wide = len(piece.text) * ADVANCE
        if piece.status:
            colour, tint, _ = COLOURS[piece.status]
            drawn.append(
                f'<rect x="{x:.1f}" y="{base - 18}" width="{wide:.1f}" height="24" '
                f'rx="3" fill="{tint}"/><line x1="{x:.1f}" x2="{x + wide:.1f}" '
                f'y1="{base + 6}" y2="{base + 6}" stroke="{colour}" stroke-width="2"/>'
            )
        drawn.append(
            f'<text x="{x:.1f}" y="{base}" font-size="{SIZE}" font-family="{MONO}" '
            f'fill="{INK}" textLength="{wide:.1f}" lengthAdjust="spacingAndGlyphs" '
            f'xml:space="preserve">{escape(piece.text)}</text>'
        )
        x += wide
    return '\n'.join(drawn)


def _middle(text: str, start: int, end: int) -> float:
    return _left_of(text) + (start + end) / 2 * ADVANCE


def _arrows(
    claim: Claim, middle: float, bottom: float, response: str, knowledge: str
) -> str:
    colour = COLOURS[claim.status][0]
    drawn = _curve(_middle(response, *claim.span[1:]), 82, middle, CARD_TOP, colour)
    if claim.answer is None:
        return drawn
    below, answer = CARD_TOP + CARD_HEIGHT, _middle(knowledge, *claim.answer.span[1:])
    return f'{drawn}\n{_curve(middle, below, answer, bottom, colour)}'


def _curve(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    half = (y1 + y2) / 2
    return (
        f'<path d="M{x1:.1f} {y1} C{x1:.1f} {half} {x2:.1f} {half} {x2:.1f} {y2}" '
        f'fill="none" stroke="{colour}" stroke-width="1.6"/>'
        f'<circle cx="{x1:.1f}" cy="{y1}" r="3" fill="{colour}"/>'
        f'<circle cx="{x2:.1f}" cy="{y2}" r="3" fill="{colour}"/>'
    )


def _card(claim: Claim, left: float, width: float) -> str:
    colour, tint, sign = COLOURS[claim.status]
    answer = claim.answer
    drawn = [
        f'<rect x="{left:.1f}" y="{CARD_TOP}" width="{width:.1f}" '
        f'height="{CARD_HEIGHT}" rx="6" fill="{PAPER}" stroke="{colour}"/>'
    ]
    whole_words = {'break_long_words': False, 'break_on_hyphens': False}
    question = textwrap.wrap(claim.question, int((width - 24) / 8.4), **whole_words)
    for number, line in enumerate(question):
        y = CARD_TOP + 24 + 18 * number
        drawn.append(_text(left + 12, y, line, weight=600))
    y = CARD_TOP + 74
    for name, words in (
        ('response', claim.span.text),
        ('knowledge', answer.span.text if answer else '(no answer)'),
    ):
        drawn.append(_text(left + 12, y, name, size=12, colour=SOFT))
        # A long answer is set smaller, so that it ends within its card.
        size = min(14.0, (width - 94) / len(words) * 1.7)
        drawn.append(_text(left + 82, y, words, size=round(size, 1)))
        y += 22
    drawn.append(
        f'<rect x="{left + 12:.1f}" y="{CARD_TOP + CARD_HEIGHT - 42}" '
        f'width="{width - 24:.1f}" height="28" rx="4" fill="{tint}"/>'
    )
    base, right = CARD_TOP + CARD_HEIGHT - 23, left + width - 22
    drawn += [
        _text(left + 22, base, f'{sign} {claim.comparison}', 13, colour, weight=600),
        _text(right, base, f'{claim.support:.2f}', 13, colour, 600, 'end'),
    ]
    return '\n'.join(drawn)


def main(scores: str, name: str, picture: str) -> None:
    """Draw one record of a file of scores."""
    for line in Path(scores).read_text('utf-8').splitlines():
        record = json.loads(line)
        if record.get('id') == name:
            Path(picture).write_text(draw(record), 'utf-8')
            return
    sys.exit(f'{scores} has no record with the id {name}.')


if __name__ == '__main__':
    main(*sys.argv[1:])
