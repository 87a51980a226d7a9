"""
ParlAI's dialogue history, with access to the turns without their knowledge.

Tasks may write knowledge into a turn's text, between Wizard of Wikipedia's markers or
on separate lines. A prompt with a slot for the knowledge needs the turns without it.
"""

import re
from typing import Any

from parlai.core.message import Message
from parlai.core.torch_agent import History

from parlai_q2.io.knowledge import TOKEN_END_KNOWLEDGE, TOKEN_KNOWLEDGE, find_knowledge

MARKED = re.compile(f'{TOKEN_KNOWLEDGE}.*?({TOKEN_END_KNOWLEDGE}|$)', re.DOTALL)


class GroundedHistory(History):
    """A history that remembers the knowledge in its turns."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._knowledge_lines: set[str] = set()

    def reset(self) -> None:
        super().reset()
        self._knowledge_lines = set()

    def update_history(self, obs: Message, temp_history: str | None = None) -> None:
        for line in (find_knowledge(obs) or '').splitlines():
            self._knowledge_lines.add(line.strip())
        self._knowledge_lines.discard('')
        super().update_history(obs, temp_history)

    def turns(self, with_knowledge: bool) -> list[str]:
        """
        The turns, oldest first, with or without the knowledge that a task wrote into
        their texts. The newest turn ends with ParlAI's ``temp_history``.
        """
        turns: list[str] = self.history_strings[:]
        if turns and self.temp_history is not None:
            turns[-1] += self.temp_history
        if with_knowledge:
            return turns
        return list(filter(None, map(self._without_knowledge, turns)))

    def _without_knowledge(self, turn: str) -> str:
        if TOKEN_KNOWLEDGE in turn:
            turn = MARKED.sub('', turn).strip()
        lines = turn.splitlines()
        dialogue = [line for line in lines if line.strip() not in self._knowledge_lines]
        # A turn of nothing but knowledge is what the speaker said, so it stays.
        has_dialogue = 0 < len(dialogue) < len(lines)
        return '\n'.join(dialogue) if has_dialogue else turn
