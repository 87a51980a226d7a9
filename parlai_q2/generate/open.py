"""Opens a generator: its model, its words, and how it writes a turn for the model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional

from parlai_q2.errors import ConfigError
from parlai_q2.generate.chat import (
    DEFAULT_PROMPT,
    USER,
    ChatPrompt,
    ChatTemplate,
    Said,
    read_template,
)
from parlai_q2.generate.decoding import Decoding
from parlai_q2.generate.library import Place, Searches, read_config, read_header
from parlai_q2.generate.shipped import (
    REPLY_DECODING,
    REPLY_MODEL,
    REPLY_TOKENS,
    adapted,
)
from parlai_q2.generate.words import Words, read_words
from parlai_q2.generate.writer import Writer, Written
from parlai_q2.models.converted.from_adapter import has_adapter
from parlai_q2.models.prompts import REPLY, Fitted, Prompt, Renders, fit
from parlai_q2.models.references import shipped_folder
from parlai_q2.options import line_ends
from parlai_q2.threads import cores

# What an encoder-decoder without a chat template reads.
PLAIN_PROMPT = '{knowledge}\n{history}'
# Tokens with which chat models end a turn, where their settings name another end.
TURN_ENDS = ('<|im_end|>', '<|eot_id|>', '<end_of_turn>', '<|end|>', '<|end_of_text|>')


@dataclass(frozen=True)
class Generator:
    """
    A generator that is ready to write.

    :param words: its tokenizer.
    :param prompt: the text around a turn; of a chat model, the system's message.
    :param template: its chat template, if it is a chat model.
    :param room: the longest context in tokens; None for any.
    :param stops: texts at which a reply is cut.
    :param added: tokens that the library itself puts first (0) or last (-1).
    """

    writer: Writer
    words: Words
    prompt: Prompt
    template: Optional[ChatTemplate] = None
    room: Optional[int] = None
    stops: Sequence[str] = ()
    added: Mapping[int, str] = field(default_factory=dict)

    def context(self, said: Sequence[Said], knowledge: str) -> tuple[list[str], Fitted]:
        """
        What the model reads for a turn, cut where it is too long, the oldest turns
        first.

        :param said: the dialogue, oldest turn first, without its knowledge.
        :return: its tokens; and the text with its length before.
        """
        turns = [turn for _, turn in said]
        prompt: Renders = self.prompt
        if self.template is not None:
            roles = [role for role, _ in said]
            prompt = ChatPrompt(self.template, self.prompt, roles)

        def count(text: str) -> int:
            return len(self._tokens(text))

        fitted = fit(prompt, turns, knowledge, count, self.room)
        return self._tokens(fitted.text)[-self.room if self.room else 0 :], fitted

    def _tokens(self, text: str) -> list[str]:
        # A chat template writes the tokens around a text itself.
        tokens = self.words.encode(text, frame=self.template is None)
        for place, token in self.added.items():
            if tokens and tokens[place] == token:
                tokens.pop(place)
        return tokens

    def begun(
        self, contexts: Sequence[Sequence[str]], beginnings: Sequence[str], number: int
    ) -> list[list[Written]]:
        """
        Candidates whose replies begin with given texts, as
        :meth:`~parlai_q2.generate.writer.Writer.begun` finds them.
        """
        alone = self.writer.searches.decoder_alone
        encoded = [
            self.words.encode(text, frame=False)
            if alone
            else self.words.beginning(text)
            for text in beginnings
        ]
        return self.writer.begun(contexts, encoded, number)

    def text(self, tokens: Sequence[str], context: Sequence[str] = ()) -> str:
        """
        The text of a reply, up to where it is to stop.

        :param context: the tokens that it replies to, which have the texts of those
            that the model does not know.
        """
        text = self.words.decode(tokens, context)
        for stop in self.stops:
            text = text.partition(stop)[0]
        return text.strip()


def open_generator(
    place: Place,
    decoding: Decoding,
    prompt: Optional[str] = None,
    chat_template: Optional[str] = None,
    stops: Sequence[str] = (),
    most_tokens: Optional[int] = None,
) -> Generator:
    """
    Open a generator.

    :param prompt: a format string with {knowledge}, {history}; None for the default of
        a chat model, or of one without a template.
    :param chat_template: a file with a chat template, in place of the model's own.
    :param stops: texts at which replies are cut.
    :param most_tokens: the longest context; None for what the model can read.
    :raises ConfigError: when an option cannot be right, before the model is loaded.
    :raises ModelError: when the model or its tokenizer cannot be read.
    """
    tokenizer = place.folder
    if has_adapter(place.folder):
        place, tokenizer = adapted(place.folder, place.device, place.compute_type)
    header = read_header(place)
    words = read_words(tokenizer)
    template = _template(
        place, words, prompt, chat_template, header.kind == 'Generator'
    )
    if prompt is None:
        prompt = DEFAULT_PROMPT if template else PLAIN_PROMPT
    written = Prompt(line_ends(prompt))
    if template is not None:
        # A template that fails is to fail before the model is loaded.
        ChatPrompt(template, written, [USER]).render(['Hello.'], 'Bees have five eyes.')
    room = _room(header.positions, words.most, most_tokens)
    if header.kind == 'Generator' and room is not None and not most_tokens:
        # Its replies stand in the same positions as what it read.
        room -= decoding.label_truncate
        if room < 1:
            raise ConfigError(
                f'--label-truncate {decoding.label_truncate} leaves no room: '
                f'{place.folder} reads at most {room + decoding.label_truncate} tokens.'
            )
    ends = [words.special.get('eos_token', ''), *TURN_ENDS, *stops]
    ends = [token for token in dict.fromkeys(ends) if token and words.knows(token)]
    if not ends:
        raise ConfigError(
            f'The tokenizer of {place.folder} names no eos_token. Copy its '
            'tokenizer_config.json beside the model, or name one: --stop TOKEN'
        )
    size = words.tokenizer.get_vocab_size()
    searches = Searches(place, header, ends, size)
    at_once = cores() if place.device == 'cpu' else 1
    searches.load()
    writer = Writer(searches, decoding, at_once)
    added = _added(read_config(place))
    return Generator(writer, words, written, template, room, tuple(stops), added)


def open_shipped(decoding: Optional[Decoding] = None) -> Generator:
    """The reply model that ships, with the searches that suit it."""
    place = Place(shipped_folder(REPLY_MODEL))
    return open_generator(
        place, decoding or REPLY_DECODING, prompt=REPLY, most_tokens=REPLY_TOKENS
    )


def _template(
    place: Place,
    words: Words,
    prompt: Optional[str],
    chat_template: Optional[str],
    decoder_alone: bool,
) -> Optional[ChatTemplate]:
    if chat_template:
        return read_template(chat_template, words.special)
    if words.template is not None:
        name = f'the chat template of {place.folder}'
        return ChatTemplate(words.template, name, words.special)
    if decoder_alone and prompt is None:
        raise ConfigError(
            f'The tokenizer of {place.folder} has no chat template. Give a file with '
            "one: --chat-template FILE; or write the model's text yourself: "
            "--prompt-template '{knowledge}\\n{history}\\n'"
        )
    return None


def _added(config: Mapping[str, Any]) -> dict[int, str]:
    names = {0: 'bos', -1: 'eos'}
    return {
        place: str(config.get(f'{name}_token'))
        for place, name in names.items()
        if config.get(f'add_source_{name}')
    }


def _room(*limits: Optional[int]) -> Optional[int]:
    return min((limit for limit in limits if limit and limit > 0), default=None)
