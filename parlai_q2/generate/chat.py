"""
Writes a turn's knowledge and dialogue as the text of a chat model: its messages, put
into a chat template by transformers, which runs templates in Jinja's sandbox.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from parlai_q2.errors import ConfigError, ModelError
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
    The chat template of a model.

    :param folder: has the model's tokenizer.
    :param path: a file with a template, instead of the tokenizer's own; None for that.
    :raises ConfigError: if the file cannot be read.
    :raises ModelError: if transformers cannot load the tokenizer.
    """

    def __init__(self, folder: Path, path: str | None = None):
        from parlai_q2.models.loading import load_tokenizer

        self.name, self._source = f'the chat template of {folder}', None
        if path is not None:
            self.name = f'--chat-template {path}'
            try:
                self._source = Path(path).read_text(encoding='utf-8')
            except (OSError, UnicodeDecodeError) as e:
                raise ConfigError(f'{self.name} cannot be read: {e}') from e
        try:
            self._tokenizer = load_tokenizer(str(folder))
        except ModelError as e:
            reason = ' '.join(str(e).split())[:200]
            raise ModelError(
                f'{self.name} needs the tokenizer of {folder}, with its '
                f'tokenizer_config.json: {reason}'
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
        text: str = self._tokenizer.apply_chat_template(
            [dict(message) for message in messages],
            chat_template=self._source,
            tokenize=False,
            add_generation_prompt=True,
        )
        return text

    def _failed(self, e: Exception) -> ConfigError:
        reason = ' '.join(str(e).split())[:200]
        return ConfigError(
            f'{self.name} fails on a dialogue: {type(e).__name__}: {reason}. {REMEDY}'
        )


REMEDY = 'Give another: --chat-template FILE'


def build_messages(
    prompt: Prompt, dialogue: Sequence[SpokenTurn], knowledge: str
) -> list[dict[str, str]]:
    """
    Build the messages for a turn, the user's last. Consecutive turns of one speaker
    become one message, since many models expect the speakers to alternate.

    :param dialogue: the dialogue, oldest turn first, without its knowledge.
    :param knowledge: if it is empty, the template's lines with ``{knowledge}`` are left
        out, unless they have the dialogue.
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
    lines = [
        line
        for line in prompt.template.splitlines()
        if KNOWLEDGE not in line or '{history}' in line or '{text}' in line
    ]
    dialogue = prompt.delimiter.join(turns)
    return '\n'.join(lines).format(history=dialogue, text=dialogue, knowledge='')


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
