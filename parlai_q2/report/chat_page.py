"""
Makes the page of the browser chat, with the report's style, marks and evidence, and
converts turns to its data. The page connects only to the server that it came from.
"""

from typing import Any, Mapping

from parlai_q2.report.entries import before_and_after, read_candidates, read_knowledge
from parlai_q2.report.page import render
from parlai_q2.text.visible import one_line, visible
from parlai_q2.turns import passages_of

STYLES = ('page.css', 'chat.css')
# Each after those that it builds on.
SCRIPTS = ('marks.js', 'evidence.js', 'chat.js')


def render_chat(model: str) -> str:
    """Render the page of a chat with a model."""
    return render('chat.html', STYLES, SCRIPTS, title=one_line(f'Chat with {model}'))


def read_turn(said: str, reply: Mapping[str, Any]) -> dict[str, Any]:
    """
    Convert one turn of a chat to the page's data.

    :param reply: the model's message, perhaps with the reranking agent's evidence.
    :return: JSON-safe values without NaN; control characters are shown as escapes.
        ``as_chosen`` is false where an agent abstained, and says something else.
    :raises InputError: when the evidence cannot be shown.
    """
    text, rows = str(reply.get('text') or ''), reply.get('rerank') or []
    _, chosen = before_and_after(rows)
    knowledge = reply.get('rerank_knowledge') or ''
    return {
        'said': visible(said),
        'text': visible(text),
        'as_chosen': chosen is not None and chosen.get('text') == text,
        'candidates': read_candidates(rows, passages_of(knowledge)),
        'knowledge': read_knowledge(knowledge, chosen or {}),
        'signature': one_line(str(reply.get('rerank_signature') or '')),
    }
