"""
parlai_q2 scores how well a response is supported by its knowledge, and reranks a
chatbot's candidate replies by that score.

    >>> from parlai_q2 import Example, load_scorer
    >>> scorer = load_scorer('precision')
    >>> example = Example(knowledge='It opened in 1969.', response='in 1969')
    >>> scorer.score([example])[0].label
    'consistent'
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parlai_q2.version import __version__

if TYPE_CHECKING:
    from parlai_q2.claims import (
        Claim,
        Comparison,
        Evidence,
        Label,
        Mistake,
        MistakeKind,
        Score,
        Stance,
        Status,
    )
    from parlai_q2.errors import (
        ConfigError,
        DocumentError,
        InputError,
        MissingPackageError,
        ModelError,
        ModelNotFoundError,
        Q2Error,
        RecordError,
        ServerError,
        TaskDataError,
        UnknownNameError,
        WorkerError,
    )
    from parlai_q2.presets import load_preset
    from parlai_q2.rerank import Candidate, Pool, Ranking, Reason, Reranker, Rule
    from parlai_q2.scorers import Scorer, load_scorer, release_models, scorer_names
    from parlai_q2.signature import Signature
    from parlai_q2.turns import Example, Passage, Source, Span, Turn

# In a checkout, the folders agents, tasks and zoo are beside this one, not in it.
_CHECKOUT = Path(__file__).resolve().parent.parent
if (_CHECKOUT / 'setup.py').is_file():
    __path__.append(str(_CHECKOUT))

# The public names of each module, which is imported on first use, to keep
# "import parlai_q2" fast.
_PUBLIC = {
    'claims': 'Claim Comparison Evidence Label Mistake MistakeKind Score Stance Status',
    'errors': 'ConfigError DocumentError InputError MissingPackageError ModelError '
    'ModelNotFoundError Q2Error RecordError ServerError TaskDataError '
    'UnknownNameError WorkerError',
    'presets': 'load_preset',
    'rerank': 'Candidate Pool Ranking Reason Reranker Rule',
    'scorers': 'Scorer load_scorer release_models scorer_names',
    'signature': 'Signature',
    'turns': 'Example Passage Source Span Turn',
}

__all__ = [
    'Candidate',
    'Claim',
    'Comparison',
    'ConfigError',
    'DocumentError',
    'Evidence',
    'Example',
    'InputError',
    'Label',
    'MissingPackageError',
    'Mistake',
    'MistakeKind',
    'ModelError',
    'ModelNotFoundError',
    'Passage',
    'Pool',
    'Q2Error',
    'Ranking',
    'Reason',
    'RecordError',
    'Reranker',
    'Rule',
    'Score',
    'Scorer',
    'ServerError',
    'Signature',
    'Source',
    'Span',
    'Stance',
    'Status',
    'TaskDataError',
    'Turn',
    'UnknownNameError',
    'WorkerError',
    '__version__',
    'load_preset',
    'load_scorer',
    'release_models',
    'scorer_names',
]


def __getattr__(name: str) -> Any:
    for module, names in _PUBLIC.items():
        if name in names.split():
            return getattr(import_module(f'parlai_q2.{module}'), name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__() -> list[str]:
    return sorted(__all__)
