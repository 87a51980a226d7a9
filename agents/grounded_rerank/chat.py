"""
The chat commands ``/knowledge``, ``/search``, ``/why``, ``/candidates`` and ``/help``.

A command gets an answer instead of a reply, and stays out of the batch and the history.
Logs of the chat mark the answer. In a terminal, evidence goes to standard output, where
ParlAI's interactive chat shows its replies.
"""

import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from parlai.core.message import Message
from parlai.core.torch_agent import Batch

from parlai_q2.agents.grounded_rerank.knowledge_source import AgentKnowledge, read_typed
from parlai_q2.errors import UnknownNameError
from parlai_q2.io.world_logs import COMMAND
from parlai_q2.options import Word
from parlai_q2.report.entries import list_sources
from parlai_q2.report.terminal import (
    render_candidates,
    render_passages,
    render_score,
    use_colour,
)
from parlai_q2.rerank import Ranking
from parlai_q2.rerank.guards import find_guard
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
# The name of the command for a message without text, which cannot be typed.
BLANK = 'no text'
BLANK_ANSWER = 'Type a message, or /help for a list of commands.'
# "add" and a passage. Other texts, such as "Additions are free.", are passages.
_ADD = re.compile(r'add\s+(?=\S)', re.IGNORECASE)
_COMMAND = re.compile(r'\s*/([A-Za-z]+)(?:\s+(.*))?\s*$', re.DOTALL)


class Name(Word):
    """The commands."""

    KNOWLEDGE = 'knowledge'
    SEARCH = 'search'
    WHY = 'why'
    CANDIDATES = 'candidates'
    HELP = 'help'


class ChatCommand(NamedTuple):
    """A typed command: a name in lower case, which may be unknown, and a text."""

    name: str
    argument: str


def parse_command(text: object) -> ChatCommand | None:
    """
    Parse a text as a command; None if it is no command, such as ``/r/aww is nice``. A
    blank text is the command :data:`BLANK`, so that it gets no reply and stays out of
    the history.
    """
    if not isinstance(text, str):
        return None
    if not text.strip():
        return ChatCommand(BLANK, '')
    match = _COMMAND.match(text)
    if match is None:
        return None
    return ChatCommand(match[1].lower(), (match[2] or '').strip())


def answer_command(
    command: ChatCommand,
    knowledge: AgentKnowledge,
    last_reply: Mapping[str, object] | None,
    colour: bool = False,
    width: int = 80,
) -> str:
    """
    Carry out a command.

    :param knowledge: the knowledge of the chat; ``/knowledge`` changes it.
    :param last_reply: the agent's last reply with its evidence; None if there is none.
    :return: the text to answer with.
    """
    if command.name == BLANK:
        return BLANK_ANSWER
    if command.name == Name.HELP:
        return HELP
    if command.name == Name.KNOWLEDGE:
        return _answer_knowledge(command.argument, knowledge)
    if command.name not in tuple(Name):
        return f'{UnknownNameError("command", command.name, Name)} Type /help.'
    if command.name == Name.SEARCH:
        return _answer_search(command.argument, knowledge, width)
    if last_reply is None:
        return 'Nothing has been said yet.'
    ranking, text = Ranking.from_dict(last_reply), str(last_reply['text'])
    if command.name == Name.CANDIDATES:
        ranking = replace(ranking, abstain=text != ranking.chosen.text)
        return render_candidates(ranking, colour, width)
    return _answer_why(ranking, text, colour, width)


def _answer_knowledge(text: str, knowledge: AgentKnowledge) -> str:
    if not text:
        if not knowledge.typed:
            return 'No knowledge was typed.'
        return f'Knowledge: {_format_passages(knowledge.typed)}'
    if text.lower() == 'clear':
        knowledge.typed = ()
        return 'The typed knowledge is forgotten.'
    if text.lower() == 'add':
        return 'Type /knowledge add and a passage.'
    addition = _ADD.match(text)
    passages = read_typed(text[addition.end() :] if addition else text)
    knowledge.typed = (*knowledge.typed, *passages) if addition else passages
    instead = ''
    if knowledge.source.grounder is not None:
        instead = ' instead of the documents'
    elif knowledge.source.passages:
        instead = ' instead of the knowledge file'
    also = ' too' if addition else ''
    return f'Replies will stick to this{also}{instead}: {_format_passages(passages)}'


def _answer_search(words: str, knowledge: AgentKnowledge, width: int) -> str:
    grounder = knowledge.source.any_grounder
    if grounder is None:
        return (
            'There are no documents to search: give --knowledge-index, or a '
            '--knowledge-file of several passages.'
        )
    if not words:
        return 'Type /search and what to look for.'
    hits = grounder.search(words)
    passages = [hit.passage for hit in hits]
    return render_passages(passages, [hit.score for hit in hits], width)


def _format_passages(passages: Sequence[Passage]) -> str:
    # Blank lines separate passages, as in typed knowledge.
    return '\n\n'.join(f'{p.title}: {p.text}' if p.title else p.text for p in passages)


def _answer_why(ranking: Ranking, reply: str, colour: bool, width: int) -> str:
    chosen, lines = ranking.chosen, [f'Chosen for: {ranking.reason}.']
    if reply != chosen.text:
        return f'Said instead: {reply}\nThe best candidate was withheld: /candidates'
    if chosen.displayed_score is None:
        return lines[0]
    if chosen.penalty:
        guards = [(name, find_guard(name)) for name in chosen.guards]
        messages = [guard.message if guard else name for name, guard in guards]
        lines.append(
            f'Counted as {chosen.guarded_score:.2f}: it is {" and ".join(messages)}.'
        )
    lines += [f'From: {source}' for source in list_sources(ranking)]
    evidence = render_score(
        chosen.displayed_score,
        chosen.text,
        ranking.passages,
        colour=colour,
        width=width,
    )
    return '\n'.join([*lines, evidence])


if TYPE_CHECKING:
    from parlai.core.torch_generator_agent import TorchGeneratorAgent

    from parlai_q2.parlai.generator import CandidateAgent

    class _Generator(CandidateAgent, TorchGeneratorAgent):
        """The base of the combined classes."""

else:
    # In the combined classes, the generator's class comes next.
    _Generator = object

# The field of a command's message that carries its answer.
ANSWER = 'rerank_answer'
# An option of LocalHumanAgent, which only chats in a terminal have, and an option that
# only chats in a browser have.
TERMINAL_OPTION, BROWSER_OPTION = 'local_human_candidates_file', 'port'

# The agent's messages when it has printed the answer to a command.
PRINTED_ANSWERS = {
    'why': 'Above is the evidence for the last reply.',
    'candidates': 'Above are all candidates, best first.',
}


class ChatCommands(_Generator):
    """Handles chat commands; a mixin over a generator's class."""

    knowledge: AgentKnowledge
    explained: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    _interactive = False
    _last_reply: Mapping[str, Any] | None = None

    def set_interactive_mode(self, mode: bool, shared: object = None) -> None:
        """
        Accept commands in a chat only. Elsewhere, texts that look like them are plain
        text.
        """
        self._interactive = mode
        super().set_interactive_mode(mode, shared)

    def read_command(self, observation: Mapping[str, object]) -> ChatCommand | None:
        """Parse a message as a command; None if it is no command, or outside a chat."""
        text = observation.get('text') if self._interactive else None
        return parse_command(text)

    def observe_command(self, command: ChatCommand) -> Message:
        """Answer a command, and observe the answer instead of a message."""
        terminal = TERMINAL_OPTION in self.opt and BROWSER_OPTION not in self.opt
        asks_evidence = command.name in (Name.WHY, Name.CANDIDATES)
        shown = self._last_reply if asks_evidence else None
        if shown:
            self._last_reply = self.explained(shown)
        answer = answer_command(
            command,
            self.knowledge,
            self._last_reply,
            colour=terminal and use_colour(sys.stdout),
            width=shutil.get_terminal_size().columns,
        )
        if terminal and shown:
            # ParlAI would cut long replies and override colours.
            sys.stdout.write(f'{answer}\n')
            sys.stdout.flush()
            answer = PRINTED_ANSWERS[command.name]
        self.observation = Message(
            {
                'episode_done': False,
                'batch_padding': True,
                ANSWER: answer,
                COMMAND: command.name,
            }
        )
        return self.observation

    def self_observe(self, self_message: Message) -> None:
        """Remember the reply and its evidence; commands leave no trace."""
        observation = self.observation or {}
        if ANSWER in observation:
            self.observation = None
            return
        super().self_observe(self_message)
        if self_message and self_message.get('rerank'):
            self._last_reply = self_message
        if observation.get('episode_done'):
            self.knowledge.end_episode()

    def batch_act(self, observations: list[Message]) -> list[Message]:
        """Reply to a batch; the answers to commands are ready."""
        if isinstance(observations, Batch):
            replies: list[Message] = super().batch_act(observations)
            return replies
        if all(ANSWER in observation for observation in observations):
            # Some generators cannot batch padding alone.
            replies = [
                Message({'id': self.getID(), 'episode_done': False})
                for _ in observations
            ]
        else:
            replies = super().batch_act(observations)
        for observation, reply in zip(observations, replies, strict=True):
            if ANSWER in observation:
                reply['text'] = observation[ANSWER]
                # Mark the answer in a chat log, which has no separate field for it.
                reply[COMMAND] = observation[COMMAND]
        return replies

    def reset(self) -> None:
        """Start a new conversation without any trace of the last one."""
        super().reset()
        self.knowledge.reset()
        self._last_reply = None
