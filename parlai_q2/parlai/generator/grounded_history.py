"""
ParlAI's dialogue history, which can also give its turns without their knowledge.

Tasks may write knowledge into a turn's text, between Wizard of Wikipedia's markers or
on lines of its own. A prompt with a place for the knowledge needs the turns without it.
"""

import re

from parlai.core.message import Message
from parlai.core.torch_agent import History

from parlai_q2.io.knowledge import TOKEN_END_KNOWLEDGE, TOKEN_KNOWLEDGE, find_knowledge

MARKED = re.compile(f'{TOKEN_KNOWLEDGE}.*?({TOKEN_END_KNOWLEDGE}|$)', re.DOTALL)


class GroundedHistory(History):
    """A history that remembers the knowledge shown in its turns."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._shown: set[str] = set()

    def reset(self) -> None:
        super().reset()
        self._shown = set()

    def update_history(self, obs: Message, temp_history: str | None = None) -> None:
        for line in (find_knowledge(obs) or '').splitlines():
            self._shown.add(line.strip())
        self._shown.discard('')
        super().update_history(obs, temp_history)

    def turns(self, with_knowledge: bool) -> list[str]:
        """
        The turns, oldest first, with or without the knowledge that a task put into
        their texts; the newest ends with ParlAI's ``temp_history``.
        """
        turns = self.history_strings[:]
        if turns and self.temp_history is not None:
            turns[-1] += self.temp_history
        if with_knowledge:
            return turns
        return list(filter(None, map(self._without_knowledge, turns)))

    def _without_knowledge(self, turn: str) -> str:
        if TOKEN_KNOWLEDGE in turn:
            turn = MARKED.sub('', turn).strip()
        lines = turn.splitlines()
        others = [line for line in lines if line.strip() not in self._shown]
        # A turn that consists of knowledge alone is what somebody said, so it stays.
        return '\n'.join(others) if others and len(others) < len(lines) else turn
