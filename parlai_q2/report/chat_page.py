"""
Makes the page of the browser chat, with the report's style, marks and evidence, and
converts turns to its data. The page connects only to the server that it came from.
"""

from collections.abc import Mapping
from typing import Any

from parlai_q2.report.entries import chosen_knowledge, list_sources, ranking_entries
from parlai_q2.report.page import render
from parlai_q2.rerank import Ranking
from parlai_q2.text.visible import one_line, visible

STYLES = ('page.css', 'chat.css')
# Each after those that it builds on.
SCRIPTS = ('marks.js', 'evidence.js', 'chat.js')


def render_chat(model: str) -> str:
    """Render the page of a chat with a model."""
    return render('chat.html', STYLES, SCRIPTS, title=one_line(f'Chat with {model}'))


def read_turn(message: str, reply: Mapping[str, Any]) -> dict[str, Any]:
    """
    Convert one turn of a chat to the page's data.

    :param reply: the model's message, perhaps with the reranking agent's evidence.
    :return: JSON-safe values without NaN; control characters are shown as escapes.
        ``as_chosen`` is false where an agent abstained, and says something else.
    :raises InputError: when the evidence cannot be shown.
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
