"""
Opens a generator: its model, its tokenizer, and how a turn is written for it.

The shipped reply model is an adapter over a T5 that it shares, merged when it is
loaded. At each step, its output layer reads as much memory as all other layers of the
decoder. Therefore the model writes with a vocabulary map, like the candidate lists of
Jean et al. 2015: the tokens of its context, and the 6,000 most frequent ones of the
replies that it learnt from.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from parlai_q2.errors import ConfigError
from parlai_q2.generate.chat import (
    DEFAULT_PROMPT,
    USER,
    ChatTemplate,
    SpokenTurn,
    build_messages,
)
from parlai_q2.generate.model_place import (
    DECODER,
    VOCABULARY_MAP,
    ModelPlace,
    read_header,
)
from parlai_q2.generate.strategies import DEFAULT_BEAM, Decoding, SearchMethod
from parlai_q2.generate.tokenizer import decode, read_tokenizer
from parlai_q2.generate.writer import GeneratedReply, Writer
from parlai_q2.models.converted.binary import SEQ2SEQ
from parlai_q2.models.converted.reader import ADAPTER, read_model
from parlai_q2.models.model_files import as_model_error, has_file, shipped_folder
from parlai_q2.models.prompts import REPLY, FittedPrompt, Prompt, fit
from parlai_q2.models.tokens import Tokens
from parlai_q2.options import line_ends

# The default prompt of an encoder-decoder without a chat template.
PLAIN_PROMPT = '{knowledge}\n{history}'
# Tokens that end a turn of chat models, even if their settings name another end token.
TURN_ENDS = ('<|im_end|>', '<|eot_id|>', '<end_of_turn>', '<|end|>', '<|end_of_text|>')
# The shipped reply model, the searches that suit it, and the longest context that it
# was trained on.
REPLY_MODEL = 'q2_mini/reply'
REPLY_DECODING = Decoding(beam_min_length=8, beam_block_ngram=3, label_truncate=64)
REPLY_TOKENS = 512
# The same as options of ParlAI's generators.
REPLY_OPTIONS = {
    'inference': str(SearchMethod.BEAM),
    'beam_size': DEFAULT_BEAM,
    'beam_min_length': REPLY_DECODING.beam_min_length,
    'beam_block_ngram': REPLY_DECODING.beam_block_ngram,
    'text_truncate': REPLY_TOKENS,
    'label_truncate': REPLY_DECODING.label_truncate,
}
COMMON_TOKENS = 'common_tokens.json'
# Patterns in that model's replies that people do not write; see :func:`tidy`.
_APOSTROPHE = re.compile(r"(?<=\w) ' (?=(?:s|t|re|ve|ll|d|m)\b)")
_SPACE = re.compile(
    r"\s+(?=[.,!?;:%)\]]+[\"']?(?:\s|$))|(?<=[(\[])\s+|\s+(?=(?:n't|'(?:s|re|ve|ll|d|m))\b)"
)
_I = re.compile(r'\bi\b(?![.\w-])')
_SENTENCE_START = re.compile(r'(?:^|(?<=[.!?]\s))[a-z](?=[a-z]*\b)')


@dataclass(frozen=True)
class Generator:
    """
    A loaded generator.

    :param prompt: the text around a turn; for a chat model, the system's message.
    :param template: the chat template of a chat model.
    :param room: the longest context in tokens; None for any.
    :param stops: texts at which a reply is cut.
    :param added_tokens: tokens that CTranslate2 itself puts first (0) or last (-1).
    """

    writer: Writer
    tokens: Tokens
    prompt: Prompt
    template: ChatTemplate | None = None
    room: int | None = None
    stops: Sequence[str] = ()
    added_tokens: Mapping[int, str] = field(default_factory=dict)

    def context(
        self, dialogue: Sequence[SpokenTurn], knowledge: str
    ) -> tuple[list[str], FittedPrompt]:
        """
        Write what the model reads for a turn, cut if it is too long, the oldest turns
        first.

        :param dialogue: pairs of role and text, oldest first, without the knowledge.
        :return: the tokens; and the text with its length before it was cut.
        """
        turns = [text for _, text in dialogue]

        def render(turns: Sequence[str], knowledge: str) -> str:
            """The text that the model reads for the last turns, or for all."""
            if self.template is None:
                return self.prompt.render(turns, knowledge)
            roles = [role for role, _ in dialogue][len(dialogue) - len(turns) :]
            spoken = list(zip(roles, turns, strict=True))
            return self.template.render(build_messages(self.prompt, spoken, knowledge))

        fitted = fit(
            render, turns, knowledge, lambda text: len(self._encode(text)), self.room
        )
        return self._encode(fitted.text)[-self.room if self.room else 0 :], fitted

    def _encode(self, text: str) -> list[str]:
        # A chat template writes the special tokens itself.
        tokens = self.tokens.pieces(text, self.template is None)
        for place, token in self.added_tokens.items():
            if tokens and tokens[place] == token:
                tokens.pop(place)
        return tokens

    def complete(
        self, contexts: Sequence[Sequence[str]], beginnings: Sequence[str], number: int
    ) -> list[list[GeneratedReply]]:
        """
        Find candidates that begin with given texts.

        :param beginnings: a text for each of B contexts.
        :param number: how many candidates to find for each.
        """
        prefixes = []
        for text in beginnings:
            prefix = self.tokens.pieces(text, False)
            if not self.writer.is_decoder:
                # The tokens before a reply, such as BART's ``<s>``.
                framed = self.tokens.pieces(text, True)
                if prefix and prefix[0] in framed:
                    prefix = [*framed[: framed.index(prefix[0])], *prefix]
            prefixes.append(prefix)
        return self.writer.write_with_prefixes(contexts, prefixes, number)

    def text(self, tokens: Sequence[str], context: Sequence[str] = ()) -> str:
        """
        The text of a reply, cut at the first of ``stops``.

        :param context: the tokens that it replies to, with the texts of unknown tokens.
        """
        text = decode(self.tokens, tokens, context)
        for stop in self.stops:
            text = text.partition(stop)[0]
        return tidy(text) if self.prompt.template == REPLY else text.strip()


def tidy(text: str) -> str:
    """
    Write a reply of the shipped model as people do: half of the replies that it learnt
    from were in lower case, with spaces around punctuation.

    >>> tidy("no , i do n't . it ' s open ( on mondays ) until 5 : 30 .")
    "No, I don't. It's open (on mondays) until 5: 30."
    """
    text = text.strip()
    tidied = _SPACE.sub('', _APOSTROPHE.sub("'", text))
    if tidied == text:
        return text
    return _SENTENCE_START.sub(lambda match: match[0].upper(), _I.sub('I', tidied))


def open_generator(
    place: ModelPlace,
    decoding: Decoding,
    *,
    prompt: str | None = None,
    chat_template: str | None = None,
    stops: Sequence[str] = (),
    max_context: int | None = None,
    seed: int | None = None,
) -> Generator:
    """
    Open a generator.

    :param prompt: a format string with {knowledge} and {history}; None for the default.
    :param chat_template: a file with a chat template, instead of the model's own.
    :param stops: texts at which replies are cut.
    :param max_context: the longest context in tokens; None for what the model reads.
    :param seed: makes samples reproducible, on one worker thread; see
        :class:`~parlai_q2.generate.writer.Writer`.
    :raises ConfigError: if an option is invalid, before the model is loaded.
    :raises ModelError: if the model or its tokenizer cannot be read.
    """
    tokenizer_folder = place.folder
    if has_file(place.folder, ADAPTER):
        place, tokenizer_folder = merge_reply_model(place)
    kind, positions = read_header(place)
    is_decoder = kind == DECODER
    tokens, has_template, max_length = read_tokenizer(tokenizer_folder)
    template = None
    if chat_template or has_template:
        template = ChatTemplate(tokenizer_folder, chat_template or None)
    elif is_decoder and prompt is None:
        raise ConfigError(
            f'The tokenizer of {place.folder} has no chat template. Give a file with '
            "one: --chat-template FILE; or write the model's text yourself: "
            "--prompt-template '{knowledge}\\n{history}\\n'"
        )
    if prompt is None:
        prompt = DEFAULT_PROMPT if template else PLAIN_PROMPT
    written = Prompt(line_ends(prompt))
    if template is not None:
        # A template that fails must fail before the model is loaded.
        hello = build_messages(written, [(USER, 'Hello.')], 'Bees have five eyes.')
        template.render(hello)
    limits = (positions, max_length)
    room = min((limit for limit in limits if limit and limit > 0), default=None)
    if is_decoder and room is not None:
        # Context and reply of a decoder share its positions.
        room -= decoding.label_truncate
        if room < 1:
            raise ConfigError(
                f'--label-truncate {decoding.label_truncate} leaves no room: '
                f'{place.folder} reads at most {room + decoding.label_truncate} tokens.'
            )
    if max_context and max_context > 0:
        room = min(max_context, room or max_context)
    ends = dict.fromkeys([tokens.special.get('eos_token', ''), *TURN_ENDS, *stops])
    end_tokens = [token for token in ends if token and tokens.knows(token)]
    if not end_tokens:
        raise ConfigError(
            f'The tokenizer of {place.folder} names no eos_token. Copy its '
            'tokenizer_config.json beside the model, or name one: --stop TOKEN'
        )
    writer = Writer(
        place,
        kind,
        end_tokens,
        vocabulary_size=tokens.size,
        decoding=decoding,
        seed=seed,
    )
    config = place.read_config()
    return Generator(
        writer=writer,
        tokens=tokens,
        prompt=written,
        template=template,
        room=room,
        stops=tuple(stops),
        added_tokens={
            place: str(config.get(f'{name}_token'))
            for place, name in ((0, 'bos'), (-1, 'eos'))
            if config.get(f'add_source_{name}')
        },
    )


def open_shipped(seed: int | None = None) -> Generator:
    """The shipped reply model, with the searches that suit it."""
    place = ModelPlace(shipped_folder(REPLY_MODEL))
    return open_generator(
        place, REPLY_DECODING, prompt=REPLY, max_context=REPLY_TOKENS, seed=seed
    )


def merge_reply_model(place: ModelPlace) -> tuple[ModelPlace, Path]:
    """
    Merge an adapter and its base in memory.

    :param place: the adapter's.
    :return: the model's place, and the base's folder with the tokenizer.
    :raises ModelError: if a file was changed or is damaged, or the two do not fit.
    """
    merged = read_model(place.folder, SEQ2SEQ)
    path = place.folder / COMMON_TOKENS
    with as_model_error(path):
        common = json.loads(path.read_text(encoding='utf-8'))
        if not isinstance(common, list) or not all(type(t) is str for t in common):
            raise ValueError('it is no list of tokens')
    # CTranslate2's format: lines with tokens of a context, a tab, and the tokens that
    # may then be written. Nothing before the tab means any context.
    vocabulary, frequent = merged.source_words(), set(common)
    rare = [f'{token}\t{token}' for token in vocabulary if token not in frequent]
    vocabulary_map = '\n'.join(['\t' + ' '.join(common), *rare, '']).encode()
    files = {**merged.files(), VOCABULARY_MAP: vocabulary_map}
    return replace(place, files=files), merged.tokenizer
