"""
Writes a turn's knowledge and dialogue as the text of a chat model: its messages, put
into a chat template as transformers does (``apply_chat_template``).

Templates come with models that others made, so they run in Jinja's sandbox.
"""

import datetime
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from parlai_q2.errors import ConfigError
from parlai_q2.models.prompts import REPLY, Prompt

# A turn with its speaker: ``role`` (system, user or assistant) and ``content``; and the
# same as a pair.
Message = Mapping[str, str]
SpokenTurn = tuple[str, str]
USER = 'user'
KNOWLEDGE = '{knowledge}'
DEFAULT_PROMPT = (
    'You are in a conversation. Reply to the last message in one or two sentences.\n'
    'What you say must agree with this knowledge: {knowledge}'
)


class ChatTemplate:
    """
    A chat template.

    :param source: the template's text.
    :param name: where it is from, for errors.
    :param special: special tokens by name, which templates may write.
    :raises ConfigError: if the text is not a valid template.
    """

    def __init__(self, source: str, name: str, special: Mapping[str, str]):
        from jinja2 import TemplateError

        self.name, self.special = name, special
        try:
            self._compiled = _environment().from_string(source)
        except TemplateError as e:
            line = getattr(e, 'lineno', None)
            where = f' in line {line}' if line else ''
            raise ConfigError(
                f'{name} is not a valid template: {_shorten(e)}{where}. {REMEDY}'
            ) from e

    def render(self, messages: Sequence[Message]) -> str:
        """
        Write the text that a model reads, up to the beginning of its reply.

        A model without system messages gets that text before the user's first message.

        :raises ConfigError: if the template fails, or gives no text.
        """
        try:
            text = self._render(messages)
        except Exception as e:  # a template's code may raise anything
            merged = _without_system(messages)
            if merged is None:
                raise self._failed(e) from e
            try:
                text = self._render(merged)
            except Exception:
                raise self._failed(e) from e
        if not text.strip():
            raise ConfigError(
                f'{self.name} makes an empty text of a dialogue. {REMEDY}'
            )
        return text

    def _render(self, messages: Sequence[Message]) -> str:
        return str(
            self._compiled.render(
                messages=[dict(message) for message in messages],
                add_generation_prompt=True,
                tools=None,
                documents=None,
                **self.special,
            )
        )

    def _failed(self, e: Exception) -> ConfigError:
        return ConfigError(
            f'{self.name} fails on a dialogue: {type(e).__name__}: {_shorten(e)}. '
            f'{REMEDY}'
        )


REMEDY = 'Give another: --chat-template FILE'


def read_template(path: str, special: Mapping[str, str]) -> ChatTemplate:
    """
    Read a template file.

    :raises ConfigError: if it cannot be read, or is not a valid template.
    """
    try:
        source = Path(path).read_text(encoding='utf-8')
    except (OSError, UnicodeDecodeError) as e:
        raise ConfigError(f'--chat-template {path!r} cannot be read: {e}') from e
    return ChatTemplate(source, f'--chat-template {path}', special)


def build_messages(
    prompt: Prompt, dialogue: Sequence[SpokenTurn], knowledge: str
) -> list[dict[str, str]]:
    """
    Build the messages for a turn, the user's last. Consecutive turns of one speaker
    become one message, since many models expect the speakers to alternate.

    :param dialogue: the dialogue, oldest turn first, without its knowledge.
    :param knowledge: if it is empty, the template's lines with ``{knowledge}`` are left
        out.
    """
    text = _text(prompt, [turn for _, turn in dialogue], knowledge).strip()
    turns: list[dict[str, str]] = []
    for role, turn in [] if prompt.has_history else dialogue:
        if not turn.strip():
            continue
        if turns and turns[-1]['role'] == role:
            turns[-1]['content'] += '\n' + turn
        else:
            turns.append({'role': role, 'content': turn})
    if not turns:
        return [{'role': USER, 'content': text}]
    return [{'role': 'system', 'content': text}, *turns] if text else turns


def _text(prompt: Prompt, turns: Sequence[str], knowledge: str) -> str:
    if knowledge or prompt.template == REPLY:
        return prompt.render(turns, knowledge)
    lines = [line for line in prompt.template.splitlines() if KNOWLEDGE not in line]
    dialogue = prompt.delimiter.join(turns)
    return '\n'.join(lines).format(history=dialogue, text=dialogue)


def _without_system(messages: Sequence[Message]) -> list[Message] | None:
    """
    Move the system's text into the user's first message; None without such a text.
    """
    if not messages or messages[0]['role'] != 'system':
        return None
    text, rest = messages[0]['content'], list(messages[1:])
    if rest and rest[0]['role'] == USER:
        text = f'{text}\n\n{rest.pop(0)["content"]}'
    return [{'role': USER, 'content': text}, *rest]


def _environment() -> Any:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=['jinja2.ext.loopcontrols']
    )
    environment.filters['tojson'] = _tojson
    environment.globals['raise_exception'] = _raise
    environment.globals['strftime_now'] = lambda f: datetime.datetime.now().strftime(f)
    return environment


def _tojson(value: object, indent: int | None = None, **_: object) -> str:
    # Jinja's own ``tojson`` escapes HTML.
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _raise(message: str) -> None:
    from jinja2 import TemplateError

    raise TemplateError(message)


def _shorten(e: Exception) -> str:
    return ' '.join(str(e).split())[:200]
