"""Scored records for the tests of the report."""

from typing import Any

from parlai_q2.claims import Claim, Comparison, Evidence, Label, Score, Status
from parlai_q2.turns import Span
from tests.evidence import asked

SIGNATURE = 'q2|preset:mini|version:0.1.0'
HOSTILE = (
    '<script>document.title="taken"</script></script><!-- "quotes" \'single\' & &lt; '
    '\u2028 \u202e reversed \x00 \x1b[31m \U0001f468\u200d\U0001f469\U0001f600 \ud800 '
    'مرحبا שלום {{data}} ${x}'
)


def answer(text: str, part: str) -> Span:
    """Where a part stands in a text."""
    start = text.index(part)
    return Span(part, start, start + len(part))


def scored(**fields: Any) -> dict[str, Any]:
    """A record with one claim of each status."""
    response = '\U0001f600 Madonna was born in 1985 in Canada.'
    knowledge = 'Madonna (born August 16, 1958) is an American singer.'
    claims = (
        asked(
            'Who was born in 1985?',
            answer(response, 'Madonna'),
            answer(knowledge, 'Madonna'),
            Comparison.EXACT,
            1.0,
            1.0,
        ),
        asked(
            'When was Madonna born?',
            answer(response, '1985'),
            answer(knowledge, 'August 16, 1958'),
            Comparison.CONTRADICTION,
        ),
        asked(
            'Where was Madonna born?',
            answer(response, 'Canada'),
            None,
            Comparison.NO_ANSWER,
        ),
    )
    score = Score(1 / 3, Label.INCONSISTENT, claims, signature=SIGNATURE)
    record = {
        'id': 'madonna',
        'knowledge': knowledge,
        'response': response,
        'history': ['Who is she?'],
        **score.to_dict(),
    }
    return {**record, **fields}


def marks(*words: str, **fields: Any) -> dict[str, Any]:
    """A record whose evidence are marked words that the knowledge does not have."""
    response, text = 'Madonna was born in 1985 in Canada.', 'Madonna sang. She danced.'
    claims = []
    for word in words:
        if word in text:
            evidence = (Evidence(0, answer(text, 'Madonna sang.')),)
            claims.append(
                Claim(answer(response, word), 0.9, Status.SUPPORTED, evidence)
            )
        else:
            claims.append(Claim(answer(response, word), 0.1, Status.UNSUPPORTED))
    score = Score(0.1, Label.INCONSISTENT, tuple(claims), signature='spans|a:1')
    knowledge = [{'title': 'Madonna', 'text': text}]
    texts = {'id': 'marks', 'knowledge': knowledge, 'response': response}
    return {**texts, **score.to_dict(), **fields}


def simple(number: int, score: float = 0.9, **fields: Any) -> dict[str, Any]:
    """A record without claims."""
    label = Label.CONSISTENT if score > 0.5 else Label.INCONSISTENT
    record = {'id': f'r{number}', 'knowledge': 'K.', 'response': f'Response {number}.'}
    return {**record, 'score': score, 'label': label, **fields}


def reranked(**fields: Any) -> dict[str, Any]:
    """A record whose first candidate was not chosen."""
    before = scored()
    first = {
        'text': before['response'],
        'strategies': ['beam', 'nucleus'],
        'generator_score': -0.5,
        'score': before['score'],
        'label': before['label'],
        'claims': before['claims'],
        'chosen': False,
        'first': True,
        'reason': '',
    }
    chosen = {
        **first,
        'text': 'Madonna was born in 1958.',
        'strategies': ['delayedbeam'],
        'generator_score': -1.25,
        'score': 1.0,
        'label': Label.CONSISTENT,
        'claims': [],
        'chosen': True,
        'first': False,
        'reason': 'highest score',
    }
    record = {
        'id': 'reranked',
        'knowledge': before['knowledge'],
        'response': chosen['text'],
        'score': 1.0,
        'label': Label.CONSISTENT,
        'rerank': [chosen, first],
    }
    return {**record, **fields}
