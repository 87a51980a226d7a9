"""
The agent's side of a chat: its commands.

A command gets an answer instead of a reply, and stays out of the batch and the history.
The answer is marked as such for readers of a log of the chat. In a terminal, evidence
goes to standard output, where ParlAI's interactive chat shows its replies.
"""

import shutil
import sys
from typing import TYPE_CHECKING, Any, Callable, Mapping, Optional

from parlai.core.message import Message
from parlai.core.torch_agent import Batch

from parlai_q2.agents.grounded_rerank import commands
from parlai_q2.agents.grounded_rerank.knowledge_source import AgentKnowledge
from parlai_q2.io.world_logs import COMMAND
from parlai_q2.report.terminal import use_colour

if TYPE_CHECKING:
    from parlai.core.torch_generator_agent import TorchGeneratorAgent

    from parlai_q2.parlai.generator.candidates import FindsCandidates

    class _Generator(FindsCandidates, TorchGeneratorAgent):
        """What the combined classes inherit."""

else:
    # In the combined classes, the generator's class comes next.
    _Generator = object

# The field of a command's message that carries its answer.
ANSWER = 'rerank_answer'
# LocalHumanAgent's own option, which only chats at a terminal have, and the option that
# a chat in a browser has.
TERMINAL_OPTION, BROWSER_OPTION = 'local_human_candidates_file', 'port'

# What the agent says where the answer to a command stands on standard output.
SHOWN = {
    'why': 'Above is the evidence for the last reply.',
    'candidates': 'Above are all candidates, best first.',
}


class ChatCommands(_Generator):
    """Handles chat commands; a mixin over a generator's class."""

    knowledge: AgentKnowledge
    explained: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    _interactive = False
    _said: Optional[Mapping[str, Any]] = None

    def set_interactive_mode(self, mode: bool, shared: Any = None) -> None:
        """
        Take commands in chat only: elsewhere, a text that looks like one is plain text.
        """
        self._interactive = mode
        super().set_interactive_mode(mode, shared)

    def read_command(
        self, observation: Mapping[str, Any]
    ) -> Optional[commands.Command]:
        text = observation.get('text') if self._interactive else None
        return commands.read_command(text)

    def observe_command(self, command: commands.Command) -> Message:
        terminal = TERMINAL_OPTION in self.opt and BROWSER_OPTION not in self.opt
        if self._said and command.name in (commands.Name.WHY, commands.Name.CANDIDATES):
            self._said = self.explained(self._said)
        answer = commands.answer(
            command,
            self.knowledge,
            self._said,
            colour=terminal and use_colour(sys.stdout),
            width=shutil.get_terminal_size().columns,
        )
        if terminal and command.name in (commands.Name.WHY, commands.Name.CANDIDATES):
            # ParlAI would cut long replies and override colours.
            sys.stdout.write(f'{answer}\n')
            sys.stdout.flush()
            answer = SHOWN[command.name]
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
        observed = self.observation or {}
        if ANSWER in observed:
            self.observation = None
            return
        super().self_observe(self_message)
        if self_message and self_message.get('rerank'):
            self._said = self_message
        if observed.get('episode_done'):
            self.knowledge.end_episode()

    def batch_act(self, observations: list[Message]) -> list[Message]:
        """Reply to a batch; for a command the answer is ready."""
        if isinstance(observations, Batch):
            return super().batch_act(observations)
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
                # Marks the answer in a chat log, which has no separate place for it.
                reply[COMMAND] = observation[COMMAND]
        return replies

    def reset(self) -> None:
        """Start a new conversation that knows nothing of the last one."""
        super().reset()
        self.knowledge.reset()
        self._said = None
