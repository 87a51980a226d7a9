"""
Converts scored records, and turns of a chat, to the data of the pages.

Texts are cut here into pieces, each with the claims that apply to it, because spans
count characters, which a browser counts differently. Spans may overlap; every character
gets the most severe status over it, so that support hides no doubt.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from parlai_q2.claims import Claim, Kind, MistakeKind, Score, Status
from parlai_q2.decimals import percent
from parlai_q2.errors import InputError
from parlai_q2.json_values import JsonMapping, JsonObject, is_number
from parlai_q2.output_records import Judged, find_kind, read_line
from parlai_q2.rerank import Candidate, Ranking
from parlai_q2.text.visible import one_line, source_line, visible
from parlai_q2.turns import PASSAGE_END, Passage, Span, heading_of

Entry = JsonObject
PERSON_LABELS = ('given_label', 'q2_label')
# Instead of a status, for the title of a passage.
TITLE = 'title'
# What people read for each status.
STATUS_WORDS: Mapping[str, str] = {
    Status.SUPPORTED: 'supported',
    Status.UNSUPPORTED: 'not in the knowledge',
    Status.CONTRADICTED: 'contradicted',
    Status.GENERIC: 'states nothing',
}
# Those that are marked, the most severe last.
MARKED = (Status.SUPPORTED, Status.UNSUPPORTED, Status.CONTRADICTED)
_CONTEXT = 60  # characters beside a mark that stay when a text is shortened


class Mark(NamedTuple):
    """A span of a text to be marked: its status, and the index of its claim."""

    span: Span
    status: str
    claim: int


@dataclass(frozen=True)
class TextPiece:
    """
    A stretch of text to which the same claims apply, by their indices; its status is
    one of :data:`MARKED`, :data:`TITLE`, or None.
    """

    text: str
    status: str | None = None
    claims: tuple[int, ...] = ()


def response_pieces(response: str, score: Score | None) -> list[TextPiece]:
    """Cut the response at the words that its score's claims mark."""
    marks = score.marks if score else ()
    claims = list(score.claims) if score else []
    return cut(response, [Mark(c.span, c.status, claims.index(c)) for c in marks])


def knowledge_pieces(
    passages: Sequence[Passage], score: Score | None
) -> list[TextPiece]:
    """
    Cut the knowledge at the words that speak of the response's claims; before a passage
    stands its heading or title, if it has one.
    """
    marks = score.marks if score else ()
    claims = list(score.claims) if score else []
    pieces: list[TextPiece] = []
    for n, passage in enumerate(passages):
        if n:
            pieces.append(TextPiece(PASSAGE_END))
        if title := heading_of(passage):
            pieces.append(TextPiece(f'{title}: ', TITLE))
        passage_marks = []
        for claim in marks:
            place = claims.index(claim)
            passage_marks += [
                Mark(evidence.span, claim.status, place)
                for evidence in claim.evidence
                if evidence.passage == n
            ]
        pieces += cut(passage.text, passage_marks)
    return pieces


def passage_title(number: int | None, passages: Sequence[Passage]) -> str:
    """What names a passage; empty if it has none, or there is no such passage."""
    if number is None or not 0 <= number < len(passages):
        return ''
    return heading_of(passages[number])


def cut(text: str, marks: Iterable[Mark]) -> list[TextPiece]:
    """
    Cut a text at the ends of its marks. Offsets beyond the text are clipped; an empty
    span marks nothing, and neither does another status than :data:`MARKED`.
    """
    inside = []
    for (_, start, end), status, claim in marks:
        start, end = max(start, 0), min(end, len(text))
        if start < end and status in MARKED:
            inside.append((start, end, status, claim))
    edges = sorted({0, len(text)}.union(*[(s, e) for s, e, _, _ in inside]))
    pieces = []
    for start_edge, end_edge in itertools.pairwise(edges):
        overlapping = [
            (status, claim) for s, e, status, claim in inside if s <= start_edge < e
        ]
        most_severe = max((s for s, _ in overlapping), key=MARKED.index, default=None)
        claims = tuple(dict.fromkeys(claim for _, claim in overlapping))
        pieces.append(TextPiece(text[start_edge:end_edge], most_severe, claims))
    return pieces


def clip(pieces: Sequence[TextPiece], limit: int) -> list[TextPiece]:
    """
    Shorten a text of more than so many characters, but for its titles, marks and some
    context on each side of marks; each omission becomes a piece that says how long it
    was.
    """
    if sum(len(piece.text) for piece in pieces) <= limit:
        return list(pieces)
    clipped: list[TextPiece] = []
    if not any(piece.status in MARKED for piece in pieces):
        for status, group in itertools.groupby(pieces, key=lambda piece: piece.status):
            text = ''.join(piece.text for piece in group)
            clipped += [TextPiece(text, status)] if status else _shorten(text, limit, 0)
            limit = max(0, limit - len(text))
        return clipped
    last = len(pieces) - 1
    for place, piece in enumerate(pieces):
        head, tail = _CONTEXT * (place > 0), _CONTEXT * (place < last)
        clipped += [piece] if piece.status else _shorten(piece.text, head, tail)
    return clipped


def _shorten(text: str, head: int, tail: int) -> list[TextPiece]:
    """The two ends of a text, cut at white space, with the omission between them."""
    beginning = text[:head].rpartition(' ')[0] or text[:head]
    ending = text[len(text) - tail :]
    ending = ending.partition(' ')[2] or ending
    omitted = len(text) - len(beginning) - len(ending)
    note = f' [... {omitted:,} characters ...] '
    if omitted <= len(note):
        return [TextPiece(text)] if text else []
    return [TextPiece(part) for part in (beginning, note, ending) if part]


def read_entry(record: Mapping[str, object], place: int = 1) -> Entry:
    """
    Convert one scored record to the page's data. A missing ``id`` becomes the record's
    place; an InputError names a field that cannot be shown.
    """
    judged = read_line(record)
    label = person_label(record) or judged.annotation
    return make_entry(replace(judged, annotation=label), place)


def person_label(record: Mapping[str, object], field: str = '') -> str:
    """
    What a person called a response; empty if nobody did.

    :param field: the record's field that says it. By default that is ``label``, which
        the score command writes as ``given_label``, or ``q2_label``, which tasks have.
    """
    if field == 'label' and find_kind(record) != Kind.RANKING:
        # Here, that is the scorer's.
        field = ''
    values = (record.get(name) for name in ([field] if field else PERSON_LABELS))
    return next((str(value) for value in values if value not in (None, '')), '')


def make_entry(judged: Judged, place: int = 1) -> Entry:
    """
    The page's data of one response: JSON-safe, with control characters as escapes.
    """
    example, score = judged.example, judged.score
    return {
        'id': one_line(example.id or str(place)),
        **score_entry(score, example.response, example.knowledge),
        'class': one_line(judged.annotation),
        'knowledge': _pieces(knowledge_pieces(example.knowledge, score)),
        'history': list(map(visible, example.history)),
        'signature': one_line(score.signature),
        'rerank': (
            ranking_entries(judged.ranking, judged.annotations)
            if judged.ranking
            else []
        ),
        'abstained': judged.abstained,
    }


def score_entry(
    score: Score | None, response: str, passages: Sequence[Passage]
) -> Entry:
    """The page's data of a text and its score, if it has one."""
    return {
        'response': _pieces(response_pieces(response, score)),
        'score': _unit(score.value) if score else None,
        'label': one_line(score.label) if score else '',
        'fallback': score.fallback if score else False,
        'claims': [_claim(claim, passages) for claim in score.claims] if score else [],
        'parts': {
            one_line(name): _number(value)
            for name, value in sorted((score.parts if score else {}).items())
        },
    }


def ranking_entries(
    ranking: Ranking, annotations: Sequence[str | None] = ()
) -> list[Entry]:
    """The page's data of the candidates of one turn, best first."""
    labels = [*annotations, *[None] * len(ranking.candidates)]
    return [
        {
            **score_entry(candidate.displayed_score, candidate.text, ranking.passages),
            'generator': _number(candidate.generator_score),
            'relevance': _number(candidate.relevance),
            'strategies': list(map(one_line, candidate.strategies)),
            # Evidence may have been looked for and be none.
            'explained': candidate.evidence is not None,
            'chosen': candidate is ranking.chosen,
            'first': candidate is ranking.first,
            'note': '; '.join(explain_place(candidate, ranking, label)),
        }
        for candidate, label in zip(ranking.candidates, labels, strict=False)
    ]


def chosen_knowledge(ranking: Ranking) -> list[list[Any]]:
    """The page's data of a turn's knowledge, marked for what was chosen."""
    return _pieces(knowledge_pieces(ranking.passages, ranking.chosen.displayed_score))


def list_sources(ranking: Ranking) -> list[str]:
    """
    Where what was chosen is from: the documents' passages that its evidence is in, or
    all that it was chosen by.
    """
    score = ranking.chosen.displayed_score
    claims = score.claims if score else ()
    evidence = itertools.chain.from_iterable(claim.evidence for claim in claims)
    cited = {sentence.passage for sentence in evidence}
    passages = ranking.passages
    cited_passages = [p for n, p in enumerate(passages) if n in cited] or passages
    lines = (source_line(passage.source) for passage in cited_passages)
    return [*dict.fromkeys(filter(None, lines))]


def _number(value: float | None) -> float | None:
    """A finite number, rounded for display; None for anything else."""
    if value is None or not is_number(value):
        return None
    return round(float(value), 4)


def _unit(value: float) -> float:
    if not 0 <= round(value, 4) <= 1:
        raise InputError(f"'score' must be in [0, 1], not {value!r}")
    return round(value, 4)


def _claim(claim: Claim, passages: Sequence[Passage]) -> JsonObject:
    return {
        'text': visible(claim.span.text),
        # Words without a question are told apart by their place.
        'at': list(claim.span[1:]),
        'support': _number(claim.support),
        'status': one_line(claim.status),
        'question': visible(claim.question),
        'comparison': one_line(claim.comparison or ''),
        'mistake': describe_mistake(claim),
        'evidence': [
            [one_line(passage_title(e.passage, passages)), visible(e.span.text)]
            for e in claim.evidence
        ],
    }


def _pieces(pieces: Sequence[TextPiece]) -> list[list[Any]]:
    """Pieces as ``[text]`` or ``[text, status, indices of its claims]``."""
    return [
        [visible(p.text), p.status, list(p.claims)] if p.status else [visible(p.text)]
        for p in pieces
    ]


def join_pieces(pieces: Sequence[Sequence[Any]]) -> str:
    """The text of an entry's pieces."""
    return ''.join(piece[0] for piece in pieces)


def explain_place(
    candidate: Candidate, ranking: Ranking, annotation: str | None = None
) -> list[str]:
    """Short notes, usually none or one, on why a candidate has its place."""
    notes = []
    if candidate is ranking.chosen and ranking.reason:
        notes.append(one_line(ranking.reason))
    if round(candidate.penalty, 2):
        names = ' and '.join(map(one_line, candidate.guards))
        notes.append(f'counted as {candidate.guarded_score:.2f}: {names}')
    for name, value in candidate.choice_values.items():
        shown = 'relevance to the turn' if name == 'relevance' else name
        notes.append(f'{shown} {value:.2f}')
    if candidate.answer is not None:
        notes.append(describe_answer(candidate.answer))
    unread = candidate.score.parts.get('unread') if candidate.score else None
    if unread:
        notes.append(f'{percent(unread, 0)} of a text not read')
    if annotation:
        notes.append(f'annotation {one_line(annotation)}')
    return notes


def describe_mistake(claim: Claim) -> str:
    """What is wrong with a claim, in one line; empty if no rule can tell."""
    mistake = claim.mistake
    if mistake is None or mistake.kind == MistakeKind.OTHER:
        return ''
    return one_line(str(mistake))


def describe_answer(claim: Claim) -> str:
    """How the knowledge and a reply answer the question of the turn, in one line."""
    expected = claim.evidence[0].span.text if claim.evidence else ''
    texts = [one_line(text) for text in (claim.question, expected, claim.span.text)]
    question, expected, reply = texts
    if not expected:
        return f'asked "{question}", which the knowledge does not answer'
    reply_clause = f'the reply "{reply}"' if reply else 'the reply nothing'
    comparison = f' ({one_line(claim.comparison or "")})' if reply else ''
    answers = f'the knowledge answers "{expected}", {reply_clause}'
    return f'asked "{question}", {answers}{comparison}'


def first_and_chosen(
    candidates: Sequence[Mapping[str, object]],
) -> tuple[JsonMapping | None, JsonMapping | None]:
    """The generator's first candidate and the chosen one, perhaps the same; or None."""
    first = next((c for c in candidates if c.get('first')), None)
    chosen = next((c for c in candidates if c.get('chosen')), None)
    return first, chosen


def read_turn(message: str, reply: Mapping[str, object]) -> JsonObject:
    """
    Convert one turn of a chat, perhaps with evidence, to the page's data: JSON-safe,
    with control characters as escapes. ``as_chosen`` is false where an agent abstained.
    """
    text = str(reply.get('text') or '')
    ranking = Ranking.from_dict(reply) if reply.get('rerank') else None
    as_chosen = ranking is not None and ranking.chosen.text == text
    return {
        'said': visible(message),
        'text': visible(text),
        'as_chosen': as_chosen,
        'candidates': ranking_entries(ranking) if ranking else [],
        'knowledge': chosen_knowledge(ranking) if ranking else [],
        'sources': list_sources(ranking) if ranking and as_chosen else [],
        'signature': one_line(ranking.signature) if ranking else '',
    }
