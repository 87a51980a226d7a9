"""
Finds the generator to rerank, and makes the agent class that reranks it.

The reranking agent is a mixin. An instance belongs to a class made of the mixin and the
generator's own class, so it is that generator, with its history, options and metrics.
"""

import argparse
from typing import Any, Mapping, Optional

from parlai.core.build_data import modelzoo_path
from parlai.core.loader import load_agent_module
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser, class2str
from parlai.core.torch_agent import TorchAgent
from parlai.core.torch_generator_agent import TorchGeneratorAgent
from parlai.utils.io import PathManager

from parlai_q2.agents.grounded_rerank.parlai_searches import ParlaiSearches
from parlai_q2.cli.names import suggesting
from parlai_q2.errors import ConfigError
from parlai_q2.parlai.compat import bridge_hugging_face_dictionary
from parlai_q2.parlai.generator.candidates import FindsCandidates
from parlai_q2.parlai.model_files import saved_opt

DEFAULT_GENERATOR = 'parlai_q2.agents.ctranslate2.ctranslate2:Ctranslate2Agent'

_CLASSES: dict[tuple[type, type], type] = {}


def generator_name(opt: Mapping[str, Any]) -> str:
    """
    The generator's name: ``--generator``, else the agent that ``-mf`` (or
    ``--init-model``) was trained with, else the shipped one.

    :raises ConfigError: when a model file has no .opt beside it.
    """
    if opt.get('generator'):
        return opt['generator']
    for option in ('model_file', 'init_model'):
        if not opt.get(option):
            continue
        beside = saved_opt(opt, option)
        if beside:
            saved = Opt.load(beside)
            if _reranks(saved['model']):
                return saved.get('generator') or DEFAULT_GENERATOR
            return saved['model']
        path = modelzoo_path(opt.get('datapath'), opt[option])
        if PathManager.exists(path):
            raise ConfigError(
                f'{path} has no {path}.opt beside it that names its agent. Name it: '
                '--generator transformer/generator'
            )
    return DEFAULT_GENERATOR


def generator_class(name: str) -> type[TorchAgent]:
    """
    The class of a generator, by a name that ``-m`` accepts.

    :raises ConfigError: when there is no such agent (the nearest is suggested), or it
        is not a generator.
    """
    try:
        with suggesting([name]):
            found = load_agent_module(name)
    except (ImportError, AttributeError, IndexError) as e:
        raise ConfigError(
            f'The generator {name!r} cannot be loaded ({e}). Give a name as -m takes '
            'it, e.g. --generator transformer/generator'
        ) from e
    bridge_hugging_face_dictionary()
    if getattr(found, 'reranks', False):
        raise ConfigError('The generator of a reranking agent cannot itself rerank.')
    if not (
        isinstance(found, type)
        and issubclass(found, (TorchGeneratorAgent, FindsCandidates))
    ):
        raise ConfigError(
            f'{name!r} is not a generator: reranking needs a TorchGeneratorAgent, '
            'such as transformer/generator, bart, hugging_face/t5 or '
            'hugging_face/gpt2, or a CandidateAgent (parlai_q2.parlai.generator.agent).'
        )
    return found


def reranking_class(mixin: type, generator: type[TorchAgent]) -> type:
    """
    The class that is both the generator and the reranking agent; around one of ParlAI's
    there is an adapter between them. The same two always give the same class.
    """
    if (mixin, generator) not in _CLASSES:
        fields = {
            '__module__': mixin.__module__,
            '__doc__': f'{generator.__name__}, reranked.',
            'generator_class': generator,
        }
        name = f'GroundedRerank{generator.__name__}'
        own = issubclass(generator, FindsCandidates)
        bases = (mixin, generator) if own else (mixin, ParlaiSearches, generator)
        _CLASSES[mixin, generator] = type(name, bases, fields)
    return _CLASSES[mixin, generator]


def add_generator_options(parser: ParlaiParser, opt: Optional[Opt]) -> None:
    """
    Add ``--generator`` and the options of the generator it names.

    ParlAI first reads the command line without knowing an agent's own options, so
    ``--generator`` may not be known yet; its options are then added when the parser
    reaches it.
    """
    defaults = dict(parser._defaults), {a: a.default for a in parser._actions}
    name = generator_name(opt or {})
    _add_options_of(name, parser, opt)
    action = parser.add_argument_group('Reranking: generator').add_argument(
        '--generator',
        action=_GeneratorAction,
        type=str,
        default=None,
        help='the agent to rerank, as -m takes it; default: what the model file was '
        f'trained with, or {DEFAULT_GENERATOR}',
    )
    action.added, action.defaults_before = name, defaults


class _GeneratorAction(argparse._StoreAction):
    """Stores ``--generator`` and adds its options, replacing those of a wrong guess."""

    added: str
    defaults_before: Any

    def __call__(self, parser, namespace, values, option_string=None):
        super().__call__(parser, namespace, values, option_string)
        if values == self.added:
            return
        parser_defaults, action_defaults = self.defaults_before
        parser._defaults.clear()
        parser._defaults.update(parser_defaults)
        for action, default in action_defaults.items():
            action.default = default
        self.added = values
        _add_options_of(values, parser, Opt(vars(namespace)))


def _add_options_of(name: str, parser: ParlaiParser, opt: Optional[Opt]) -> None:
    generator = generator_class(name)
    generator.add_cmdline_args(parser, opt)
    # As ParlAI does for an agent named by -m.
    defaults: dict[str, Any] = {'dict_class': class2str(generator.dictionary_class())}
    parser.set_defaults(**defaults)


def _reranks(name: str) -> bool:
    try:
        return bool(getattr(load_agent_module(name), 'reranks', False))
    except (ImportError, AttributeError, IndexError):
        # generator_class reports what is wrong with it.
        return False
