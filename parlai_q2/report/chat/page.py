"""
The browser chat as a page: the page itself, and turns as its data.

The page reuses the report's style and its scripts for marks and evidence. Like the
report it loads nothing; it talks to the server it came from and to nobody else.
"""

from html import escape
from typing import Any, Mapping, Optional

from parlai_q2.report.candidates import before_and_after
from parlai_q2.report.entries import read_candidates, read_knowledge
from parlai_q2.report.page import fill_page
from parlai_q2.report.visible import one_line, visible

STYLES = ('page.css', 'chat/chat.css')
# In the order in which they build on each other.
SCRIPTS = ('marks.js', 'evidence.js', 'chat/chat.js')


def render_chat(model: str) -> str:
    """
    The chat's page as a string.

    :param model: the name of what one talks with.
    """
    title = escape(one_line(f'Chat with {model}'))
    return fill_page(
        'chat/chat.html', 'chat', STYLES, SCRIPTS, {'title': title}, "'self'"
    )


def read_turn(said: str, reply: Mapping[str, Any]) -> dict[str, Any]:
    """
    One turn of a chat as the page's data.

    :param said: what the person said.
    :param reply: the model's message. ``text`` is shown; the reranking agent's
        ``rerank``, ``rerank_knowledge`` and ``rerank_signature`` may be missing.
    :return: JSON-safe values, acting characters made visible, no NaN. ``as_chosen``
        says whether the text is the chosen candidate's: an abstaining agent says
        something else.
    :raises InputError: when the evidence cannot be shown.
    """
    text, rows = str(reply.get('text') or ''), reply.get('rerank') or []
    _, chosen = before_and_after(rows)
    verdicts: Optional[Any] = chosen.get('verdicts') if chosen else None
    knowledge = str(reply.get('rerank_knowledge') or '')
    return {
        'said': visible(said),
        'text': visible(text),
        'as_chosen': chosen is not None and chosen.get('text') == text,
        'candidates': read_candidates(rows),
        'knowledge': read_knowledge(knowledge, verdicts),
        'signature': one_line(str(reply.get('rerank_signature') or '')),
    }
