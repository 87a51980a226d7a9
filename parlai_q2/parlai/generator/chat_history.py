"""The dialogue of a chat model, with the speaker of each turn."""

from typing import Any

from parlai_q2.generate.chat import USER, SpokenTurn
from parlai_q2.parlai.generator.grounded_history import GroundedHistory

ASSISTANT = 'assistant'


class ChatHistory(GroundedHistory):
    """A history that also knows which of its turns are the agent's replies."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._is_reply: list[bool] = []
        self._adding_reply = False

    def reset(self) -> None:
        super().reset()
        self._is_reply = []

    def add_reply(self, text: str) -> None:
        self._adding_reply = True
        super().add_reply(text)
        self._adding_reply = False

    def _update_strings(self, text: str) -> None:
        super()._update_strings(text)
        flags = [*self._is_reply, self._adding_reply]
        self._is_reply = flags[-len(self.history_strings) :]

    def turns_with_roles(self) -> list[SpokenTurn]:
        """The turns without their knowledge, oldest first, each with its speaker."""
        dialogue: list[SpokenTurn] = []
        for is_reply, turn in zip(self._is_reply, self.turns(with_knowledge=True)):
            text = self._without_knowledge(turn)
            if text.strip():
                dialogue.append((ASSISTANT if is_reply else USER, text))
        return dialogue
