"""
A ParlAI generator around any model that CTranslate2 runs: encoder-decoders and, with
their chat templates, the decoders that people chat with.

Alone it returns the first reply that ``--inference`` finds. Under the reranking agent
it finds the candidates of ``--candidate-strategies``.
"""

from collections.abc import Sequence
from pathlib import Path

from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.utils.misc import warn_once
from parlai.utils.typing import TShared

from parlai_q2.errors import ConfigError
from parlai_q2.generate.chat import SpokenTurn
from parlai_q2.generate.generator import (
    REPLY_MODEL,
    REPLY_OPTIONS,
    Generator,
    open_generator,
)
from parlai_q2.generate.model_place import COMPUTE_TYPES, ModelPlace
from parlai_q2.generate.strategies import (
    BEAMS,
    NAMED_CANDIDATES,
    Decoding,
    SearchMethod,
    Strategy,
    parse_strategies,
)
from parlai_q2.generate.writer import GeneratedReply
from parlai_q2.models.model_files import SHIPPED as SHIPPED_PREFIX
from parlai_q2.models.model_files import shipped_folder
from parlai_q2.models.prompts import REPLY
from parlai_q2.options import Options, StoreAndCallAction, add_options_of
from parlai_q2.parlai.generator import CandidateAgent, SearchPhase
from parlai_q2.rerank.candidate import Candidate, first_distinct

DEFAULT_INFERENCE = SearchMethod.NUCLEUS
# The widest beam and the most tokens to sample from for --inference.
MAX_WIDTH = 200
# If too few candidates are distinct, a second search asks for this many times as many.
SECOND_SEARCH = 2
SHIPPED_MODEL = f'{SHIPPED_PREFIX}{REPLY_MODEL}'
# Defaults that suit the shipped reply model, and the defaults for other models.
SHIPPED_DEFAULTS = {'prompt_template': REPLY, **REPLY_OPTIONS}
OTHER_DEFAULTS = {name: getattr(Decoding, name, None) for name in SHIPPED_DEFAULTS}


def defaults(model_path: str) -> Options:
    """Return the defaults of the options that depend on the model."""
    return SHIPPED_DEFAULTS if model_path == SHIPPED_MODEL else OTHER_DEFAULTS


def add_options(
    parser: ParlaiParser, partial_opt: Options | None = None
) -> ParlaiParser:
    """Add the options to a parser with those of TorchAgent."""
    group = parser.add_argument_group('CTranslate2 Agent')
    group.add_argument(
        '--model-path',
        action=StoreAndCallAction,
        call=lambda parser, opt: parser.set_defaults(**defaults(opt['model_path'])),
        type=str,
        default=SHIPPED_MODEL,
        help='a folder that ct2-transformers-converter wrote, with its tokenizer. The '
        'default, the shipped reply model, also sets the search and lengths that '
        'suit it',
    )
    group.add_argument(
        '--chat-template',
        type=str,
        default=None,
        help="a file with a Jinja chat template, instead of the tokenizer's",
    )
    group.add_argument(
        '--prompt-template',
        type=str,
        default=None,
        help='the system message of a chat model, or the whole prompt of another: a '
        'format string with {knowledge} and {history}',
    )
    group.add_argument('--device', type=str, default='cpu', help='cpu, cuda or cuda:1')
    group.add_argument(
        '--compute-type',
        type=str,
        default='default',
        help=f'one of {COMPUTE_TYPES}; default: the stored type',
    )
    group.add_argument(
        '--stop',
        type=str,
        nargs='+',
        default=None,
        help='texts or tokens that end a reply',
    )
    group = parser.add_argument_group('CTranslate2 Agent: search')
    group.add_argument(
        '--inference',
        choices=tuple(SearchMethod),
        default=None,
        help='the search for a reply without reranking; reranking uses '
        f'--candidate-strategies. Default for models of your own: {DEFAULT_INFERENCE}',
    )
    for name, kind, explanation in (
        ('--beam-size', int, 'width of beams for --inference'),
        ('--topk', int, 'for --inference topk or delayedbeam'),
        ('--topp', float, 'for --inference nucleus'),
        ('--beam-delay', int, 'for --inference delayedbeam'),
    ):
        group.add_argument(name, type=kind, default=None, help=explanation)
    add_options_of(group, Decoding)
    model_path = (partial_opt or {}).get('model_path', SHIPPED_MODEL)
    parser.set_defaults(**defaults(model_path))
    return parser


def strategy_from_opt(opt: Options) -> Strategy:
    """
    Return the search strategy of an agent that is not reranked.

    :raises ConfigError: if a number is out of range.
    """
    name = opt.get('inference') or DEFAULT_INFERENCE
    values = {
        'beam': opt.get('beam_size'),
        'k': opt.get('topk'),
        'delay': opt.get('beam_delay'),
        'p': opt.get('topp'),
    }
    for key, option in (('beam', 'beam-size'), ('k', 'topk'), ('delay', 'beam-delay')):
        value = values[key]
        if value is not None and not 1 <= value <= MAX_WIDTH:
            raise ConfigError(
                f'--{option} is {value}; it must be from 1 to {MAX_WIDTH}.'
            )
    if values['p'] is not None and not 0 < values['p'] <= 1:
        raise ConfigError(f'--topp is {values["p"]}; it must be above 0, at most 1.')
    if name not in BEAMS:
        del values['beam']
    settings = {key: value for key, value in values.items() if value is not None}
    return Strategy(name, 1, **settings)


def generator_from_opt(opt: Options, seed: int | None = None) -> Generator:
    """
    Open the generator that the options describe.

    :param seed: makes samples reproducible.
    :raises ConfigError: if an option is invalid.
    :raises ModelError: if the model cannot be read.
    """
    model_path = opt.get('model_path') or SHIPPED_MODEL
    if model_path.startswith(SHIPPED_PREFIX):
        folder = shipped_folder(model_path.removeprefix(SHIPPED_PREFIX))
    else:
        folder = Path(model_path).expanduser()
    # In ParlAI's options, a number below 1 means no limit.
    lengths = (opt.get('text_truncate'), opt.get('truncate'))
    max_context = next((n for n in lengths if n is not None and n >= 1), None)
    label_length = opt.get('label_truncate')
    if label_length is not None and label_length < 1:
        label_length = None
    return open_generator(
        ModelPlace(folder, opt['device'], opt['compute_type']),
        Decoding.from_opt({**opt, 'label_truncate': label_length}),
        prompt=opt.get('prompt_template'),
        chat_template=opt.get('chat_template'),
        stops=opt.get('stop') or (),
        max_context=max_context,
        seed=seed,
    )


class Ctranslate2Agent(CandidateAgent):
    """Replies with the text that a converted model generates."""

    what = 'A converted model'
    loaded: Generator

    @classmethod
    def add_cmdline_args(
        cls, parser: ParlaiParser, partial_opt: Opt | None = None
    ) -> ParlaiParser:
        super().add_cmdline_args(parser, partial_opt=partial_opt)
        return add_options(parser, partial_opt)

    def __init__(self, opt: Opt, shared: TShared | None = None):
        single = strategy_from_opt(opt)
        text = opt.get('candidate_strategies')
        self.searches = parse_strategies(text) if text else [single]
        super().__init__(opt, shared)

    @property
    def has_more_searches(self) -> bool:
        return len(self.searches) > 1

    def load(self, opt: Opt) -> Generator:
        seed = opt.get('candidate_seed') or 0
        is_sampling = any(strategy.is_sampling for strategy in self.searches)
        return generator_from_opt(opt, seed if is_sampling else None)

    def read(self, dialogue: Sequence[SpokenTurn], knowledge: str) -> list[str]:
        """Return the model's tokens for a turn; warn once if they were cut."""
        context, fitted = self.loaded.context(dialogue, knowledge)
        if fitted.length > len(context):
            warn_once(
                f'A context of {fitted.length} tokens was cut to the {len(context)} '
                'that the model reads, the oldest turns first.'
            )
        if fitted.knowledge_cut:
            warn_once(
                'Knowledge that alone is longer than the model can read was cut at its '
                'end. Give shorter knowledge, or a higher --text-truncate.'
            )
        return context

    def find(
        self, contexts: Sequence[list[str]], searches: Sequence[SearchPhase]
    ) -> list[list[Candidate]]:
        """Find candidates, in the order of the strategies."""
        strategies = [flags.select(self.searches) for flags in searches]
        pools = self._find_distinct(contexts, strategies)
        incomplete = [
            n
            for n, (pool, selected) in enumerate(zip(pools, strategies, strict=True))
            if len(pool) < sum(strategy.number for strategy in selected)
            and _widen(selected, SECOND_SEARCH) != _widen(selected)
        ]
        wider = self._find_distinct(
            [contexts[n] for n in incomplete],
            [strategies[n] for n in incomplete],
            SECOND_SEARCH,
        )
        for n, pool in zip(incomplete, wider, strict=True):
            pools[n] = max(pools[n], pool, key=len)
        return pools

    def _find_distinct(
        self,
        contexts: Sequence[list[str]],
        strategies: Sequence[Sequence[Strategy]],
        times: int = 1,
    ) -> list[list[Candidate]]:
        """Search for ``times`` times as many candidates, and keep the distinct ones."""
        searches = [_widen(selected, times) for selected in strategies]
        written = self.loaded.writer.write(contexts, searches)
        pools = self._make_candidates(written, contexts)
        return list(map(_select_distinct, strategies, pools))

    def complete(
        self, contexts: Sequence[list[str]], beginnings: Sequence[str]
    ) -> list[list[Candidate]]:
        """Find candidates that begin with given texts, with a beam."""
        pools = self.loaded.complete(contexts, beginnings, NAMED_CANDIDATES)
        return self._make_candidates(pools, contexts)

    def _make_candidates(
        self,
        pools: Sequence[Sequence[GeneratedReply]],
        contexts: Sequence[Sequence[str]],
    ) -> list[list[Candidate]]:
        candidates = []
        for pool, context in zip(pools, contexts, strict=True):
            of_context = []
            for reply in pool:
                text = self.loaded.text(reply.tokens, context)
                of_context.append(
                    Candidate(
                        text,
                        (reply.strategy,),
                        reply.score,
                        reply.logprob,
                        source=(text, reply.score),
                    )
                )
            candidates.append(of_context)
        return candidates


def _widen(strategies: Sequence[Strategy], times: int = 1) -> list[Strategy]:
    return [strategy.with_spares(times=times) for strategy in strategies]


def _select_distinct(
    strategies: Sequence[Strategy], pool: Sequence[Candidate]
) -> list[Candidate]:
    """Select as many distinct candidates of each strategy as it asks for, in order."""
    selected: list[Candidate] = []
    for strategy in strategies:
        matching = (c for c in pool if c.strategies == (strategy.name,))
        selected += first_distinct(matching, strategy.number)
    return selected
