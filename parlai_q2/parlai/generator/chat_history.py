"""The dialogue of a chat model: who said which turn."""

from parlai_q2.generate.chat import USER, Said
from parlai_q2.parlai.generator.grounded_history import GroundedHistory


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

    def said(self) -> list[Said]:
        """The turns without their knowledge, oldest first, each with who said it."""
        texts = self.history_strings[:]
        if texts and self.temp_history is not None:
            texts[-1] += self.temp_history
        pairs = (
            ('assistant' if own else USER, self._without_knowledge(text))
            for own, text in zip(self._own, texts)
        )
        return [(role, text) for role, text in pairs if text.strip()]
