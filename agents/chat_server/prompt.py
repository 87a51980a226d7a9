"""
Writes a turn's knowledge and history as the messages of a chat: the template is the
system's message, and each turn is one of its own. With ``{history}`` in the template,
all is one message of the user, which models without a system's message read as well.
"""

from parlai_q2.agents.hf_seq2seq.history import GroundedHistory
from parlai_q2.models.prompts import REPLY, Prompt

DEFAULT_PROMPT = (
    'You are in a conversation. Reply to the last message in one or two sentences.\n'
    'What you say must agree with this knowledge: {knowledge}'
)
KNOWLEDGE = '{knowledge}'


class ChatHistory(GroundedHistory):
    """A history that also knows which of its turns the agent said."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._own: list[bool] = []
        self._replying = False

    def reset(self) -> None:
        super().reset()
        self._own = []

    def add_reply(self, text: str) -> None:
        self._replying = True
        super().add_reply(text)
        self._replying = False

    def _update_strings(self, text: str) -> None:
        super()._update_strings(text)
        self._own = [*self._own, self._replying][-len(self.history_strings) :]

    def messages(self) -> list[dict[str, str]]:
        """
        The turns without their knowledge, oldest first. What one side says in several
        turns is one message, since many models expect the sides to take turns.
        """
        found: list[dict[str, str]] = []
        last = len(self.history_strings) - 1
        for n, (own, text) in enumerate(zip(self._own, self.history_strings)):
            if n == last and self.temp_history is not None:
                text += self.temp_history
            role = 'assistant' if own else 'user'
            text = self._without_knowledge(text)
            if not text.strip():
                continue
            if found and found[-1]['role'] == role:
                found[-1]['content'] += '\n' + text
            else:
                found.append({'role': role, 'content': text})
        return found


def messages_of(
    prompt: Prompt, history: ChatHistory, knowledge: str
) -> list[dict[str, str]]:
    """
    The messages to send for a turn, the user's last.

    :param knowledge: where it is empty, the template's lines with ``{knowledge}`` are
        left out.
    """
    text = _text(prompt, history.turns(with_knowledge=False), knowledge).strip()
    turns = [] if prompt.has_history else history.messages()
    if not turns:
        return [{'role': 'user', 'content': text}]
    return [{'role': 'system', 'content': text}, *turns] if text else turns


def _text(prompt: Prompt, turns: list[str], knowledge: str) -> str:
    if knowledge or prompt.template == REPLY:
        return prompt.render(turns, knowledge)
    lines = [line for line in prompt.template.splitlines() if KNOWLEDGE not in line]
    said = prompt.delimiter.join(turns)
    return '\n'.join(lines).format(history=said, text=said)
