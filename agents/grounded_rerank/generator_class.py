"""
Adds the agent's options, finds the generator to rerank, and makes the class that is
both this generator and the reranking agent
(:mod:`~parlai_q2.agents.grounded_rerank.grounded_rerank` shows its bases).
"""

import argparse
from typing import Any

from parlai.core.build_data import modelzoo_path
from parlai.core.loader import load_agent_module
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser, class2str
from parlai.core.torch_agent import TorchAgent
from parlai.core.torch_generator_agent import TorchGeneratorAgent
from parlai.utils.io import PathManager

from parlai_q2.agents.grounded_rerank.parlai_search import ParlaiSearchMixin
from parlai_q2.cli.knowledge_options import add_index_options, add_knowledge_options
from parlai_q2.cli.names import suggesting
from parlai_q2.cli.scorer_options import add_choice_options, add_scorer_options
from parlai_q2.errors import ConfigError
from parlai_q2.generate import strategies
from parlai_q2.options import Options, StoreAndCallAction, list_options
from parlai_q2.parlai.compat import bridge_hugging_face_dictionary
from parlai_q2.parlai.generator import CandidateAgent
from parlai_q2.parlai.model_files import saved_opt
from parlai_q2.scorers.roles import Role

DEFAULT_SEED = 0


def add_rerank_options(parser: ParlaiParser) -> ParlaiParser:
    """Add the options for candidates, choice, knowledge, chat and scorers."""
    group = parser.add_argument_group('Reranking: candidates')
    group.add_argument(
        '--candidate-strategies',
        type=_strategies,
        default=strategies.DEFAULT_STRATEGIES,
        help='searches, each with its number of candidates, such as '
        'beam:4,nucleus:3. Settings follow after slashes: the width of a beam '
        '(beam:3/10), nucleus:3/p=0.9, delayedbeam:3/k=10/delay=5. If candidates tie, '
        'the earlier search wins. Searches: ' + ', '.join(strategies.SearchMethod),
    )
    group.add_argument(
        '--candidate-seed',
        type=int,
        default=DEFAULT_SEED,
        help='seed of sampling: the same command gives the same candidates',
    )
    group.add_argument(
        '--candidates-until',
        type=float,
        help='run the first strategy (or request one reply from a server), and the '
        'rest only if none of its candidates is consistent with at least this score, '
        'in [0, 1]; default: run all',
    )
    add_choice_options(parser)
    group = parser.add_argument_group('Reranking: knowledge and chat')
    add_knowledge_options(group)
    add_index_options(group)
    return add_scorer_options(parser, Role.CHOOSE, Role.EXPLAIN)


def drop_options_of_other_commands(opt: dict[str, Any]) -> None:
    """
    Drop the scorer options that another command saved from a model file's options.

    If a generator was trained on a task or with a mutator of parlai_q2, its ``.opt``
    has that task's scorer, threshold, device and cache instead of the reranking
    defaults. Options that a reranking agent saved stay. So do options that ParlAI has
    overridden since it read the file, because the user set them now.
    """
    overridden = {name for name, *_ in getattr(opt, 'history', ())}
    if 'candidate_strategies' in opt.keys() - overridden:
        return
    parser = ParlaiParser(False, False)
    add_rerank_options(parser)
    for action in list_options(parser):
        if action.dest not in overridden:
            opt.pop(action.dest, None)


def _strategies(text: str) -> str:
    try:
        return ','.join(map(str, strategies.parse_strategies(text)))
    except ConfigError as e:
        # argparse names the option and ends the sentence.
        problem = str(e).removeprefix(f'{strategies.OPTION}: ').rstrip('.')
        raise argparse.ArgumentTypeError(problem) from e


DEFAULT_GENERATOR = 'parlai_q2.agents.ctranslate2.ctranslate2:Ctranslate2Agent'

_CLASSES: dict[tuple[type, type], type] = {}


def find_generator_name(opt: Options) -> str:
    """
    Find the generator's name: ``--generator``, else the agent that trained ``-mf`` (or
    ``--init-model``), else the shipped generator.

    :raises ConfigError: when there is no .opt file next to a model file.
    """
    if opt.get('generator'):
        return str(opt['generator'])
    for option in ('model_file', 'init_model'):
        if not opt.get(option):
            continue
        opt_path = saved_opt(opt, option)
        if opt_path:
            saved = Opt.load(opt_path)
            if _is_reranking_agent(saved['model']):
                return saved.get('generator') or DEFAULT_GENERATOR
            return str(saved['model'])
        path = modelzoo_path(opt.get('datapath'), opt[option])
        if PathManager.exists(path):
            raise ConfigError(
                f'There is no {path}.opt that names the agent of {path}. Name it: '
                '--generator transformer/generator'
            )
    return DEFAULT_GENERATOR


def load_generator_class(name: str) -> type[TorchAgent]:
    """
    Load the class of a generator.

    :param name: a name that ``-m`` accepts.
    :raises ConfigError: when there is no such agent (the error suggests the most
        similar name), or it is not a generator.
    """
    try:
        with suggesting([name]):
            generator = load_agent_module(name)
    except (ImportError, AttributeError, IndexError) as e:
        raise ConfigError(
            f'The generator {name!r} cannot be loaded ({e}). Give a name that -m '
            'accepts, e.g. --generator transformer/generator'
        ) from e
    bridge_hugging_face_dictionary()
    if getattr(generator, 'reranks', False):
        raise ConfigError('The generator of a reranking agent cannot itself rerank.')
    if not (
        isinstance(generator, type)
        and issubclass(generator, (TorchGeneratorAgent, CandidateAgent))
    ):
        raise ConfigError(
            f'{name!r} is not a generator: reranking needs a TorchGeneratorAgent, '
            'such as transformer/generator, bart, hugging_face/t5 or '
            'hugging_face/gpt2, or a CandidateAgent (parlai_q2.parlai.generator).'
        )
    return generator


def make_reranking_class(mixin: type, generator: type[TorchAgent]) -> type:
    """
    Make the class that is both the generator and the reranking agent.

    If ParlAI searches the generator, an adapter comes between the two. The same
    arguments always give the same class.
    """
    if (mixin, generator) not in _CLASSES:
        fields = {
            '__module__': mixin.__module__,
            '__doc__': f'{generator.__name__}, reranked.',
            'generator_class': generator,
        }
        name = f'GroundedRerank{generator.__name__}'
        needs_adapter = not issubclass(generator, CandidateAgent)
        adapters = (ParlaiSearchMixin,) if needs_adapter else ()
        bases = (mixin, *adapters, generator)
        _CLASSES[mixin, generator] = type(name, bases, fields)
    return _CLASSES[mixin, generator]


def add_generator_options(parser: ParlaiParser, opt: Opt | None) -> None:
    """
    Add ``--generator`` and the options of the generator it names.

    ParlAI first reads the command line without an agent's own options, so
    ``--generator`` may still be unknown. The generator's options are then added when
    the parser reaches it.
    """
    # argparse keeps defaults of options that are still to be added, too.
    parser_defaults = dict(parser._defaults)
    action_defaults = {action: action.default for action in list_options(parser)}
    added = find_generator_name(opt or {})
    _add_class_options(added, parser, opt)

    def replace_options(parser: ParlaiParser, options: Options) -> None:
        """Add the named generator's options; those of a wrong guess lose effect."""
        nonlocal added
        if options['generator'] == added:
            return
        added = options['generator']
        parser._defaults.clear()
        parser._defaults.update(parser_defaults)
        for action, default in action_defaults.items():
            action.default = default
        _add_class_options(added, parser, Opt(options))

    parser.add_argument_group('Reranking: generator').add_argument(
        '--generator',
        action=StoreAndCallAction,
        call=replace_options,
        type=str,
        default=None,
        help='the agent to rerank, by a name that -m accepts; default: the agent that '
        f'trained the model file, or {DEFAULT_GENERATOR}',
    )


def _add_class_options(name: str, parser: ParlaiParser, opt: Opt | None) -> None:
    generator = load_generator_class(name)
    generator.add_cmdline_args(parser, opt)
    # As in ParlAI for an agent named by -m.
    defaults: dict[str, Any] = {'dict_class': class2str(generator.dictionary_class())}
    parser.set_defaults(**defaults)


def _is_reranking_agent(name: str) -> bool:
    try:
        return bool(getattr(load_agent_module(name), 'reranks', False))
    except (ImportError, AttributeError, IndexError):
        # load_generator_class reports the error.
        return False
