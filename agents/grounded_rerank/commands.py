"""The chat commands ``/knowledge``, ``/why``, ``/candidates`` and ``/help``."""

import re
from typing import Any, Mapping, NamedTuple, Optional, Sequence

from parlai_q2.agents.grounded_rerank.knowledge_source import AgentKnowledge, read_typed
from parlai_q2.enums import Word
from parlai_q2.errors import UnknownNameError
from parlai_q2.report.entries import sources_of
from parlai_q2.report.terminal import render_candidates, render_score
from parlai_q2.rerank import Ranking
from parlai_q2.rerank.guards import find_guard
from parlai_q2.retrieve.show import render_passages
from parlai_q2.turns import Passage

HELP = """\
/knowledge <text>      set the knowledge replies must stick to
/knowledge add <text>  add a passage to it
/knowledge             show it
/knowledge clear       forget it
/search <words>        what is found in the documents
/why                   the evidence for the last reply
/candidates            all candidates of the last turn, best first
/help                  this list"""
# A passage that only begins with the word goes on otherwise than with white space.
_ADD = re.compile(r'add\s+(?=\S)', re.IGNORECASE)
_COMMAND = re.compile(r'\s*/([A-Za-z]+)(?:\s+(.*))?\s*$', re.DOTALL)


class Name(Word):
    """The commands."""

    KNOWLEDGE = 'knowledge'
    SEARCH = 'search'
    WHY = 'why'
    CANDIDATES = 'candidates'
    HELP = 'help'


class Command(NamedTuple):
    """What was typed: a name in lower case, which may be no command's, and a text."""

    name: str
    argument: str


def read_command(text: Any) -> Optional[Command]:
    """Read a text as a command, if it is one; ``/r/aww is nice`` is none."""
    match = _COMMAND.match(text) if isinstance(text, str) else None
    if match is None:
        return None
    return Command(match[1].lower(), (match[2] or '').strip())


def answer(
    command: Command,
    knowledge: AgentKnowledge,
    said: Optional[Mapping[str, Any]],
    colour: bool = False,
    width: int = 80,
) -> str:
    """
    Carry out a command, and give the text to answer with.

    :param knowledge: the knowledge of the chat; ``/knowledge`` changes it.
    :param said: the agent's last reply, with its evidence, or None.
    """
    if command.name == Name.HELP:
        return HELP
    if command.name == Name.KNOWLEDGE:
        return _knowledge(command.argument, knowledge)
    if command.name not in tuple(Name):
        return f'{UnknownNameError("command", command.name, Name)} Type /help.'
    if command.name == Name.SEARCH:
        return _search(command.argument, knowledge, width)
    if said is None:
        return 'Nothing has been said yet.'
    if command.name == Name.CANDIDATES:
        return render_candidates(Ranking.from_dict(said), colour, width)
    return _why(Ranking.from_dict(said), str(said['text']), colour, width)


def _knowledge(text: str, knowledge: AgentKnowledge) -> str:
    if not text:
        if not knowledge.typed:
            return 'No knowledge was typed.'
        return f'Knowledge: {_shown(knowledge.typed)}'
    if text.lower() == 'clear':
        knowledge.typed = ()
        return 'The typed knowledge is forgotten.'
    more = _ADD.match(text)
    passages = read_typed(text[more.end() :] if more else text)
    knowledge.typed = (*knowledge.typed, *passages) if more else passages
    source = knowledge.source
    instead = ' in place of the knowledge file' if source.passages else ''
    instead = ' in place of the documents' if source.index is not None else instead
    also = ' too' if more else ''
    return f'Replies will stick to this{also}{instead}: {_shown(passages)}'


def _search(words: str, knowledge: AgentKnowledge, width: int) -> str:
    searched = knowledge.source.searched
    if searched is None:
        return (
            'There are no documents to search: give --knowledge-index, or a '
            '--knowledge-file of several passages.'
        )
    if not words:
        return 'Type /search and what to look for.'
    found = searched.search(words)
    passages = [one.passage for one in found]
    return render_passages(passages, [one.score for one in found], width)


def _shown(passages: Sequence[Passage]) -> str:
    # With a blank line between them, as they are typed.
    return '\n\n'.join(f'{p.title}: {p.text}' if p.title else p.text for p in passages)


def _why(ranking: Ranking, said: str, colour: bool, width: int) -> str:
    chosen, lines = ranking.chosen, [f'Chosen for: {ranking.reason}.']
    if chosen.shown is None:
        return lines[0]
    if said != chosen.text:
        lines.append(f'Said instead: {said}')
    if chosen.guards:
        guards = [(name, find_guard(name)) for name in chosen.guards]
        messages = [guard.message if guard else name for name, guard in guards]
        lines.append(f'Counted as {chosen.value:.2f}: it is {" and ".join(messages)}.')
    if said == chosen.text:
        lines += [f'From: {source}' for source in sources_of(ranking)]
    shown = render_score(chosen.shown, chosen.text, ranking.passages, colour, width)
    return '\n'.join([*lines, shown])
