"""
The chat commands of the agent.

A command gets an answer instead of a reply, and stays out of the batch and the history.
Logs of the chat mark the answer. In a terminal, evidence goes to standard output, where
ParlAI's interactive chat shows its replies.
"""

import shutil
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from parlai.core.message import Message
from parlai.core.torch_agent import Batch

from parlai_q2.agents.grounded_rerank import commands
from parlai_q2.agents.grounded_rerank.knowledge_source import AgentKnowledge
from parlai_q2.io.world_logs import COMMAND
from parlai_q2.report.terminal import use_colour

if TYPE_CHECKING:
    from parlai.core.torch_generator_agent import TorchGeneratorAgent

    from parlai_q2.parlai.generator.candidates import CandidateFinder

    class _Generator(CandidateFinder, TorchGeneratorAgent):
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

    def set_interactive_mode(self, mode: bool, shared: Any = None) -> None:
        """
        Accept commands in a chat only. Elsewhere, texts that look like them are plain
        text.
        """
        self._interactive = mode
        super().set_interactive_mode(mode, shared)

    def read_command(self, observation: Mapping[str, Any]) -> commands.Command | None:
        """Read a message as a command; None if it is none, or outside a chat."""
        text = observation.get('text') if self._interactive else None
        return commands.read_command(text)

    def observe_command(self, command: commands.Command) -> Message:
        """Answer a command, and observe the answer instead of a message."""
        terminal = TERMINAL_OPTION in self.opt and BROWSER_OPTION not in self.opt
        if self._last_reply and command.name in (
            commands.Name.WHY,
            commands.Name.CANDIDATES,
        ):
            self._last_reply = self.explained(self._last_reply)
        answer = commands.answer_command(
            command,
            self.knowledge,
            self._last_reply,
            colour=terminal and use_colour(sys.stdout),
            width=shutil.get_terminal_size().columns,
        )
        if terminal and command.name in (commands.Name.WHY, commands.Name.CANDIDATES):
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
